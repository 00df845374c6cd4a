//! Calls of models and what they cost.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::{Db, Result, RunId, sql};

/// What calls consumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
    /// Pictures sent.
    pub images: u64,
    /// Price in millionths of a US dollar, as far as it is known.
    pub microdollars: u64,
}

impl Usage {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        // SQLite's integers are signed; nothing here is ever negative or near the limit.
        let count = |column| row.get::<_, i64>(column).map(|value| value.max(0) as u64);
        Ok(Self {
            input: count("input")?,
            output: count("output")?,
            cache_read: count("cache_read")?,
            cache_write: count("cache_write")?,
            images: count("images")?,
            microdollars: count("microdollars")?,
        })
    }

    fn columns(self) -> [i64; 6] {
        [
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.images,
            self.microdollars,
        ]
        .map(|value| i64::try_from(value).unwrap_or(i64::MAX))
    }
}

/// A call to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModelCall {
    /// The run it was for; none for work of the program itself.
    pub run: Option<RunId>,
    /// Number of the step, 0 outside of steps.
    pub step: u32,
    /// What the model was used for, such as `plan` or `gui`.
    pub role: String,
    /// The model's name.
    pub model: String,
    /// What it consumed.
    pub usage: Usage,
    /// How long it took.
    pub milliseconds: u32,
    /// Kind of the error when it failed.
    pub error: Option<String>,
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Rises with every call.
    pub id: i64,
    /// The run it was for.
    pub run: Option<RunId>,
    /// Number of the step, 0 outside of steps.
    pub step: u32,
    /// What the model was used for.
    pub role: String,
    /// The model's name.
    pub model: String,
    /// What it consumed.
    pub usage: Usage,
    /// How long it took.
    pub milliseconds: u32,
    /// Kind of the error when it failed.
    pub error: Option<String>,
    /// When it ended, Unix milliseconds.
    pub at: i64,
}

/// The table of model calls.
pub struct ModelCalls<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<ModelCall> {
    Ok(ModelCall {
        id: row.get("id")?,
        run: row.get("run")?,
        step: row.get("step")?,
        role: row.get("role")?,
        model: row.get("model")?,
        usage: Usage::read(row)?,
        milliseconds: row.get("milliseconds")?,
        error: row.get("error")?,
        at: row.get("at")?,
    })
}

impl ModelCalls<'_> {
    /// Records a call and adds it to the run's totals. Not fenced: what was spent was spent, also when
    /// the run was lost meanwhile.
    pub fn record(&self, new: &NewModelCall) -> Result<i64> {
        let db = self.db;
        let [input, output, cache_read, cache_write, images, microdollars] = new.usage.columns();
        sql::execute(
            db.connection,
            "INSERT INTO model_calls (run, step, role, model, input, output, cache_read, cache_write,
               images, microdollars, milliseconds, error, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            (
                &new.run,
                new.step,
                &new.role,
                &new.model,
                input,
                output,
                cache_read,
                cache_write,
                images,
                microdollars,
                new.milliseconds,
                &new.error,
                db.now,
            ),
        )?;
        let id = db.connection.last_insert_rowid();
        if let Some(run) = &new.run {
            sql::execute(
                db.connection,
                "UPDATE runs SET input = input + ?2, output = output + ?3,
                   cache_read = cache_read + ?4, cache_write = cache_write + ?5,
                   images = images + ?6, microdollars = microdollars + ?7
                 WHERE id = ?1",
                (
                    run,
                    input,
                    output,
                    cache_read,
                    cache_write,
                    images,
                    microdollars,
                ),
            )?;
        }
        Ok(id)
    }

    /// Calls of a run, oldest first. Their sum is [`crate::Run::usage`].
    pub fn of_run(&self, run: &RunId) -> Result<Vec<ModelCall>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM model_calls WHERE run = ?1 ORDER BY id",
            [run],
            read,
        )
    }

    /// What all calls since a time consumed, of all runs and of none.
    pub fn total_since(&self, at: i64) -> Result<Usage> {
        let total = sql::first(
            self.db.connection,
            "SELECT coalesce(sum(input), 0) AS input, coalesce(sum(output), 0) AS output,
               coalesce(sum(cache_read), 0) AS cache_read,
               coalesce(sum(cache_write), 0) AS cache_write,
               coalesce(sum(images), 0) AS images,
               coalesce(sum(microdollars), 0) AS microdollars
             FROM model_calls WHERE at >= ?1",
            [at],
            Usage::read,
        )?;
        Ok(total.unwrap_or_default())
    }
}
