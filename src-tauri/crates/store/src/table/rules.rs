//! Standing permissions and prohibitions. Only a person makes them.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::{
    Db, Error, Result, RuleId,
    sql::{self, text_enum},
};

text_enum! {
    /// What a rule says.
    RuleDecision {
        /// Yes, without asking.
        Allow = "allow",
        /// No, without asking.
        Deny = "deny",
    }
}

/// A standing permission or prohibition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// What the pattern is about, such as `command` or `host`.
    pub kind: String,
    /// What it covers, as the policy reads it.
    pub pattern: String,
    /// What it says.
    pub decision: RuleDecision,
    /// Who made it, such as `app` or `terminal`.
    pub created_by: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// The table of rules.
pub struct Rules<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Rule> {
    Ok(Rule {
        id: row.get("id")?,
        kind: row.get("kind")?,
        pattern: row.get("pattern")?,
        decision: row.get("decision")?,
        created_by: row.get("created_by")?,
        created_at: row.get("created_at")?,
    })
}

impl Rules<'_> {
    /// Every rule, oldest first.
    pub fn list(&self) -> Result<Vec<Rule>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM rules ORDER BY number",
            [],
            read,
        )
    }

    /// The rule whose id begins like this.
    pub fn find(&self, prefix: &str) -> Result<Rule> {
        let id = sql::unique_id(self.db.connection, "rules", "rule", prefix)?;
        sql::first(
            self.db.connection,
            "SELECT * FROM rules WHERE id = ?1",
            [&id],
            read,
        )?
        .ok_or_else(|| Error::not_found("rule", prefix))
    }

    /// Makes a rule.
    pub fn insert(
        &self,
        kind: &str,
        pattern: &str,
        decision: RuleDecision,
        by: &str,
    ) -> Result<RuleId> {
        let id = RuleId::random();
        sql::execute(
            self.db.connection,
            "INSERT INTO rules (id, number, kind, pattern, decision, created_by, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                &id,
                self.db.next_number("rules")?,
                kind,
                pattern,
                decision,
                by,
                self.db.now,
            ),
        )?;
        Ok(id)
    }

    /// Removes a rule.
    pub fn remove(&self, id: &RuleId) -> Result<()> {
        let rows = sql::execute(self.db.connection, "DELETE FROM rules WHERE id = ?1", [id])?;
        sql::found("rule", id, rows)
    }
}
