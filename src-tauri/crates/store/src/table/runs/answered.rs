//! Between the final answer of a run and its end: nobody is heard any more, and nobody may think so.

use crate::{Fence, Result, RunId, Runs, sql};

impl Runs<'_> {
    /// Says that the run has its final answer, so that nobody tells it anything more. False, and
    /// nothing is said, while there are words that it has not heard: it goes on with them instead.
    pub fn answer(&self, fence: &Fence) -> Result<bool> {
        self.db.check(fence)?;
        let unheard = self.db.commands().open(&fence.run)?;
        if unheard.iter().any(|command| command.kind.is_said()) {
            return Ok(false);
        }
        sql::execute(
            self.db.connection,
            "UPDATE runs SET answered = claims WHERE id = ?1",
            [&fence.run],
        )?;
        Ok(true)
    }

    /// Whoever executes it has its final answer and hears nothing more.
    pub(crate) fn has_answered(&self, id: &RunId) -> Result<bool> {
        let found = sql::first(
            self.db.connection,
            "SELECT 1 FROM runs WHERE id = ?1 AND owner IS NOT NULL AND answered = claims",
            [id],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}
