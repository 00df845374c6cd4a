//! Files that runs produced or kept whole. Written by [`crate::Store::keep_artefact`].

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::{ArtefactId, Db, Error, Fence, Result, RunId, sql};

/// A file that a run produced or kept whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artefact {
    /// Its id.
    pub id: ArtefactId,
    /// The run.
    pub run: RunId,
    /// Number of the step.
    pub step: u32,
    /// A name a person can read; never used as a path.
    pub name: String,
    /// MIME name.
    pub media_type: String,
    /// Size of the file.
    pub bytes: u64,
    /// BLAKE3 of the content, hexadecimal.
    pub hash: String,
    /// Unix milliseconds.
    pub at: i64,
}

/// A file to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtefact {
    /// Number of the step.
    pub step: u32,
    /// A name a person can read.
    pub name: String,
    /// MIME name.
    pub media_type: String,
    /// The content.
    pub data: bytes::Bytes,
}

/// The table of artefacts.
pub struct Artefacts<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Artefact> {
    Ok(Artefact {
        id: row.get("id")?,
        run: row.get("run")?,
        step: row.get("step")?,
        name: row.get("name")?,
        media_type: row.get("media_type")?,
        bytes: row.get::<_, i64>("bytes")?.max(0) as u64,
        hash: row.get("hash")?,
        at: row.get("at")?,
    })
}

impl Artefacts<'_> {
    /// One artefact's row.
    pub fn get(&self, id: &ArtefactId) -> Result<Artefact> {
        sql::first(
            self.db.connection,
            "SELECT * FROM artefacts WHERE id = ?1 AND state = 'active'",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("artefact", id))
    }

    /// Artefacts of a run, oldest first.
    pub fn of_run(&self, run: &RunId) -> Result<Vec<Artefact>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM artefacts WHERE run = ?1 AND state = 'active' ORDER BY step, rowid",
            [run],
            read,
        )
    }

    pub(crate) fn insert(&self, fence: &Fence, id: &ArtefactId, new: &NewArtefact) -> Result<()> {
        let db = self.db;
        db.check(fence)?;
        sql::execute(
            db.connection,
            "INSERT INTO artefacts (id, run, step, name, media_type, bytes, hash, state, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8)",
            (
                id,
                &fence.run,
                new.step,
                &new.name,
                &new.media_type,
                new.data.len() as i64,
                blake3::hash(&new.data).to_hex().as_str(),
                db.now,
            ),
        )
        .map(drop)
    }
}
