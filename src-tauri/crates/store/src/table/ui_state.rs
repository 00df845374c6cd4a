//! What windows want to find again.

use serde_json::Value;

use crate::{
    Db, Result,
    sql::{self, Json},
};

/// The table of what windows keep.
pub struct UiState<'a> {
    pub(crate) db: &'a Db<'a>,
}

impl UiState<'_> {
    /// The value kept under a key.
    pub fn get(&self, key: &str) -> Result<Option<Value>> {
        sql::first(
            self.db.connection,
            "SELECT value FROM ui_state WHERE key = ?1",
            [key],
            |row| sql::json(row, "value"),
        )
    }

    /// Keeps a value; none forgets it.
    pub fn set(&self, key: &str, value: Option<&Value>) -> Result<()> {
        match value {
            Some(value) => sql::execute(
                self.db.connection,
                "INSERT INTO ui_state (key, value, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (key) DO UPDATE SET value = ?2, at = ?3",
                (key, Json(value), self.db.now),
            ),
            None => sql::execute(
                self.db.connection,
                "DELETE FROM ui_state WHERE key = ?1",
                [key],
            ),
        }
        .map(drop)
    }
}
