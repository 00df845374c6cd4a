//! Forgetting a run for good.

use std::fs;

use crate::{Db, Error, NewEvent, Result, RunId, RunStatus, Store, files, sql};

impl Store {
    /// Deletes a run with everything that is known of it, its pictures and files, and the task and
    /// the conversation when nothing else is left of them. What it did to the person's files stays,
    /// and cannot be undone any more; what it cost stays in the sums. Blocks.
    ///
    /// # Errors
    /// [`Error::WrongStatus`] for a run that waits, goes or asks.
    pub fn delete_run(&self, run: &RunId) -> Result<()> {
        let kept = self.call_blocking(|db| db.forget(run))?;
        let folder = &self.inner.folder;
        // What is left of it here, because it cannot be removed or we are killed, has no row any more
        // and goes with the next pruning.
        let _gone = fs::remove_dir_all(folder.frames().join(run.as_str()));
        for id in kept.artefacts {
            files::remove(&folder.artefacts().join(id));
        }
        for id in kept.changes {
            files::remove(&folder.changes().join(id));
        }
        Ok(())
    }
}

/// Files that belonged to deleted rows.
struct Kept {
    artefacts: Vec<String>,
    changes: Vec<String>,
}

impl Db<'_> {
    fn forget(&self, run: &RunId) -> Result<Kept> {
        let row = self.runs().get(run)?;
        let ended = row.status.is_final() || row.status == RunStatus::Interrupted;
        if !ended || row.owner.is_some() {
            return Err(Error::WrongStatus {
                run: run.clone(),
                status: row.status,
                what: "be deleted",
            });
        }
        let ids = |table: &str| {
            sql::all(
                self.connection,
                &format!("SELECT id FROM {table} WHERE run = ?1"),
                [run],
                |row| row.get(0),
            )
        };
        let kept = Kept {
            artefacts: ids("artefacts")?,
            changes: ids("changes")?,
        };
        sql::execute(
            self.connection,
            "DELETE FROM events WHERE topic = 'run' AND key = ?1",
            [run],
        )?;
        for statement in [
            "DELETE FROM commands WHERE run = ?1",
            "DELETE FROM approvals WHERE run = ?1",
            "DELETE FROM frames WHERE run = ?1",
            "DELETE FROM artefacts WHERE run = ?1",
            "DELETE FROM changes WHERE run = ?1",
            "DELETE FROM messages WHERE run = ?1",
            "UPDATE model_calls SET run = NULL WHERE run = ?1",
            "UPDATE runs SET parent = NULL WHERE parent = ?1",
            "DELETE FROM runs WHERE id = ?1",
        ] {
            sql::execute(self.connection, statement, [run])?;
        }
        sql::execute(
            self.connection,
            "DELETE FROM tasks WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE task = ?1)",
            [&row.task],
        )?;
        let left = "NOT EXISTS (SELECT 1 FROM runs WHERE session = ?1)
             AND NOT EXISTS (SELECT 1 FROM tasks WHERE session = ?1)";
        sql::execute(
            self.connection,
            &format!("DELETE FROM messages WHERE session = ?1 AND {left}"),
            [&row.session],
        )?;
        sql::execute(
            self.connection,
            &format!("DELETE FROM sessions WHERE id = ?1 AND {left}"),
            [&row.session],
        )?;
        self.events()
            .append(NewEvent::of_run(run, "run.deleted", serde_json::json!({})))?;
        Ok(kept)
    }
}
