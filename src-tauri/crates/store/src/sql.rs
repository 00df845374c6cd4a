//! How values of this crate become columns and come back.

use std::fmt::Display;

use rusqlite::{
    Connection, OptionalExtension, Params, Row, ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// A column that holds JSON text.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        Ok(text.into())
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// Reads a JSON column.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    row.get::<_, Json<T>>(column).map(|json| json.0)
}

/// An enum stored, sent and shown as its snake-case name.
macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {$(
            $(#[$variant_doc])*
            #[serde(rename = $text)]
            $variant,
        )*}

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name as stored and sent.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                let text = value.as_str()?;
                Self::ALL.iter().copied().find(|known| known.as_str() == text).ok_or_else(|| {
                    rusqlite::types::FromSqlError::Other(
                        format!("`{text}` is not a {}", stringify!($name)).into(),
                    )
                })
            }
        }
    };
}
pub(crate) use text_enum;

/// Runs a statement, prepared once per connection; returns the number of changed rows.
pub(crate) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    Ok(connection.prepare_cached(sql)?.execute(params)?)
}

/// Turns a change of no row into [`Error::NotFound`].
pub(crate) fn found(what: &'static str, id: &impl Display, rows: usize) -> Result<()> {
    if rows == 0 {
        Err(Error::not_found(what, id))
    } else {
        Ok(())
    }
}

/// The first row, if there is one.
pub(crate) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    Ok(connection
        .prepare_cached(sql)?
        .query_row(params, read)
        .optional()?)
}

/// All rows.
pub(crate) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The one id of a table that begins with `prefix`.
pub(crate) fn unique_id(
    connection: &Connection,
    table: &'static str,
    what: &'static str,
    prefix: &str,
) -> Result<String> {
    let not_found = || Error::not_found(what, prefix);
    if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(not_found());
    }
    let prefix = prefix.to_ascii_lowercase();
    // `{` follows `z`: the range holds exactly the ids that begin with the prefix, by the primary key.
    let mut ids: Vec<String> = all(
        connection,
        &format!("SELECT id FROM {table} WHERE id >= ?1 AND id < ?1 || '{{' ORDER BY id LIMIT 5"),
        [&prefix],
        |row| row.get(0),
    )?;
    match ids.len() {
        0 => Err(not_found()),
        1 => Ok(ids.remove(0)),
        _ => Err(Error::Ambiguous {
            what,
            prefix,
            candidates: ids,
        }),
    }
}
