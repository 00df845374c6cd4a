//! Screenshots: rows here, pictures in files. Written by [`crate::Store::keep_frame`].

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Db, Error, Fence, FrameId, Result, RunId,
    sql::{self, Json, json},
};

/// A screenshot tied to a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Its id.
    pub id: FrameId,
    /// The run that saw it.
    pub run: RunId,
    /// Number of the step.
    pub step: u32,
    /// MIME name of the encoding.
    pub media_type: String,
    /// Size of the file.
    pub bytes: u64,
    /// Width in pixels of the picture as sent.
    pub width: u32,
    /// Height in pixels of the picture as sent.
    pub height: u32,
    /// Name of the display or monitor.
    pub display: String,
    /// The pixel spaces, as the gui back end writes them.
    pub geometry: Value,
    /// Hash of the unscaled pixels, as the gui back end writes it.
    pub hash: String,
    /// The picture was removed to save space.
    pub pruned: bool,
    /// Unix milliseconds.
    pub at: i64,
}

/// A screenshot to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFrame {
    /// Number of the step.
    pub step: u32,
    /// MIME name of the encoding.
    pub media_type: String,
    /// The encoded picture.
    pub data: bytes::Bytes,
    /// Width in pixels of the picture as sent.
    pub width: u32,
    /// Height in pixels of the picture as sent.
    pub height: u32,
    /// Name of the display or monitor.
    pub display: String,
    /// The pixel spaces, as the gui back end writes them.
    pub geometry: Value,
    /// Hash of the unscaled pixels, as the gui back end writes it.
    pub hash: String,
}

/// The table of frames.
pub struct Frames<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Frame> {
    Ok(Frame {
        id: row.get("id")?,
        run: row.get("run")?,
        step: row.get("step")?,
        media_type: row.get("media_type")?,
        bytes: row.get::<_, i64>("bytes")?.max(0) as u64,
        width: row.get("width")?,
        height: row.get("height")?,
        display: row.get("display")?,
        geometry: json(row, "geometry")?,
        hash: row.get("hash")?,
        pruned: row.get::<_, String>("state")? == "pruned",
        at: row.get("at")?,
    })
}

impl Frames<'_> {
    /// One frame's row.
    pub fn get(&self, id: &FrameId) -> Result<Frame> {
        sql::first(
            self.db.connection,
            "SELECT * FROM frames WHERE id = ?1",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("frame", id))
    }

    /// Frames of a run in the order they were seen.
    pub fn of_run(&self, run: &RunId) -> Result<Vec<Frame>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM frames WHERE run = ?1 ORDER BY step, rowid",
            [run],
            read,
        )
    }

    /// The newest frame of a run.
    pub fn latest(&self, run: &RunId) -> Result<Option<Frame>> {
        sql::first(
            self.db.connection,
            "SELECT * FROM frames WHERE run = ?1 ORDER BY step DESC, rowid DESC LIMIT 1",
            [run],
            read,
        )
    }

    pub(crate) fn insert(&self, fence: &Fence, id: &FrameId, new: &NewFrame) -> Result<()> {
        let db = self.db;
        db.check(fence)?;
        sql::execute(
            db.connection,
            "INSERT INTO frames (id, run, step, media_type, bytes, width, height, display, geometry,
               hash, state, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'active', ?11)",
            (
                id,
                &fence.run,
                new.step,
                &new.media_type,
                new.data.len() as i64,
                new.width,
                new.height,
                &new.display,
                Json(&new.geometry),
                &new.hash,
                db.now,
            ),
        )
        .map(drop)
    }

    /// Size of all pictures, pinned ones included.
    pub fn total_bytes(&self) -> Result<u64> {
        let total = sql::first(
            self.db.connection,
            "SELECT coalesce(sum(bytes), 0) FROM frames WHERE state = 'active'",
            [],
            |row| row.get::<_, i64>(0),
        )?;
        Ok(total.unwrap_or(0).max(0) as u64)
    }

    /// The oldest pictures that may be removed.
    pub(crate) fn prunable(&self, limit: u32) -> Result<Vec<Frame>> {
        sql::all(
            self.db.connection,
            "SELECT frames.* FROM frames JOIN runs ON runs.id = frames.run
             WHERE frames.state = 'active' AND NOT runs.pinned AND runs.owner IS NULL
             ORDER BY frames.at, frames.rowid LIMIT ?1",
            [limit],
            read,
        )
    }

    pub(crate) fn mark_pruned(&self, id: &FrameId) -> Result<()> {
        sql::execute(
            self.db.connection,
            "UPDATE frames SET state = 'pruned' WHERE id = ?1",
            [id],
        )
        .map(drop)
    }

    pub(crate) fn has_picture(&self, id: &FrameId) -> Result<bool> {
        let found = sql::first(
            self.db.connection,
            "SELECT 1 FROM frames WHERE id = ?1 AND state = 'active'",
            [id],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}
