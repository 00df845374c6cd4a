//! Programs that connected to our MCP server.

use rusqlite::Row;

use crate::{Db, NewEvent, Result, sql};

/// How many are kept; those that were here last.
const MOST: u32 = 100;

/// A program that connected. All of it is what others say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The host whose entry started the server, as the entry says; empty where none does.
    pub mark: String,
    /// What it calls itself.
    pub name: String,
    /// The version it says it is.
    pub version: String,
    /// The version of the protocol it asked for.
    pub protocol: String,
}

/// The table of programs that connected.
pub struct Clients<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<(Client, i64)> {
    let client = Client {
        mark: row.get("mark")?,
        name: row.get("name")?,
        version: row.get("version")?,
        protocol: row.get("protocol")?,
    };
    Ok((client, row.get("at")?))
}

impl Clients<'_> {
    /// Those that connected, with when that was last in Unix milliseconds; the last one first.
    pub fn list(&self) -> Result<Vec<(Client, i64)>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM clients ORDER BY at DESC, mark, name",
            [],
            read,
        )
    }

    /// Keeps that one connected now, and tells it.
    pub fn connected(&self, client: &Client) -> Result<()> {
        sql::execute(
            self.db.connection,
            "INSERT INTO clients (mark, name, version, protocol, at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (mark, name) DO UPDATE SET version = ?3, protocol = ?4, at = ?5",
            (
                &client.mark,
                &client.name,
                &client.version,
                &client.protocol,
                self.db.now,
            ),
        )?;
        sql::execute(
            self.db.connection,
            "DELETE FROM clients WHERE rowid NOT IN
               (SELECT rowid FROM clients ORDER BY at DESC, rowid DESC LIMIT ?1)",
            [MOST],
        )?;
        self.db
            .events()
            .append(NewEvent {
                topic: "hosts".to_owned(),
                key: client.mark.clone(),
                kind: "hosts.connected".to_owned(),
                v: 1,
                payload: serde_json::json!({ "name": client.name, "version": client.version }),
            })
            .map(drop)
    }
}
