//! `read_file`: text by lines, pictures as pictures.

use std::{
    fmt::Write,
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek},
    path::Path,
    sync::Arc,
};

use async_trait::async_trait;
use openspace_grounding::{
    Action, Block, CallContext, Effect, Output, Permit, Tool, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::image_file;
use crate::{
    arguments, path,
    place::{Facts, Place, describe},
    shell::Shared,
};

const LINES: usize = 2000;
/// Bytes of text in one answer.
const TEXT: usize = 32 * 1024;
/// Characters of one line.
const LINE: usize = 2000;
/// Bytes that decide whether a file is text.
const SNIFFED: usize = 8 * 1024;
/// Largest file in UTF-16 that is converted.
const WIDE: u64 = 8 * 1024 * 1024;

pub(crate) struct ReadFile {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    #[serde(default = "one")]
    offset: usize,
    #[serde(default = "most")]
    limit: usize,
}

fn one() -> usize {
    1
}

fn most() -> usize {
    LINES
}

impl ReadFile {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "read_file",
            include_str!("../../prompts/read_file.md"),
            Effect::Read,
            &["path"],
            &json!({
                "path": {"type": "string", "description": "The file; relative to the workspace, or absolute, or from ~."},
                "offset": {"type": "integer", "minimum": 1, "description": "First line; 1 if absent."},
                "limit": {"type": "integer", "minimum": 1, "maximum": LINES, "description": format!("Number of lines; {LINES} if absent.")},
            }),
        );
        Self { spec, shared }
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        let arguments: Arguments = arguments::parse(arguments)?;
        let path = self.shared.resolve(&arguments.path, &context.folders)?;
        let actions = vec![Action::Read { path }];
        self.shared.remember(context, &actions);
        Ok(actions)
    }

    async fn call(
        &self,
        arguments: Value,
        _permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let arguments: Arguments = arguments::parse(&arguments)?;
        let path = self.shared.resolve(&arguments.path, &context.folders)?;
        let action = Action::Read { path: path.clone() };
        self.shared.confirm(context, &[action]).await?;
        let shown = path::shown(&path, &context.folders);
        tokio::task::spawn_blocking(move || read(&path, &shown, arguments.offset, arguments.limit))
            .await
            .map_err(|_| ToolError::Cancelled)?
    }
}

fn read(path: &Path, shown: &str, offset: usize, limit: usize) -> Result<Output, ToolError> {
    let (mut file, facts) = Place::open(path, false)
        .and_then(|place| place.read())
        .map_err(|error| describe(path, &error))?;
    let mut start = Vec::new();
    let sniff = |file: &mut File, start: &mut Vec<u8>| -> io::Result<()> {
        file.take(SNIFFED as u64).read_to_end(start)?;
        file.rewind()
    };
    sniff(&mut file, &mut start).map_err(|error| describe(path, &error))?;

    if image_file::is_image(&start) {
        return image_file::read(&mut file, facts.size, shown);
    }
    if let Some(big_endian) = wide(&start) {
        let text = decode_wide(file, facts, big_endian)
            .map_err(|error| describe(path, &error))?
            .ok_or_else(|| binary(shown, facts))?;
        return number(BufReader::new(text.as_bytes()), shown, facts, offset, limit)
            .map_err(|error| describe(path, &error));
    }
    if start.contains(&0) {
        return Err(binary(shown, facts));
    }
    number(BufReader::new(file), shown, facts, offset, limit)
        .map_err(|error| describe(path, &error))
}

fn binary(shown: &str, facts: Facts) -> ToolError {
    ToolError::Failed(format!(
        "`{shown}` is a binary file of {} bytes; look into it with a command such as `file` or `xxd`",
        facts.size
    ))
}

/// Lines `offset..offset + limit`, numbered, as many as fit.
fn number(
    mut reader: impl BufRead,
    shown: &str,
    facts: Facts,
    offset: usize,
    limit: usize,
) -> io::Result<Output> {
    let offset = offset.max(1);
    let limit = limit.clamp(1, LINES);
    let mut text = String::new();
    let mut line = Vec::new();
    let mut current = 0;
    let mut more = false;
    loop {
        line.clear();
        if read_line(&mut reader, &mut line)? == 0 {
            break;
        }
        current += 1;
        if current < offset {
            continue;
        }
        if current >= offset + limit || text.len() > TEXT - 4 * LINE {
            more = true;
            break;
        }
        let content = String::from_utf8_lossy(&line);
        let content = content.trim_end_matches(['\n', '\r']);
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let _ = write!(text, "{current:>6}\t");
        match content.char_indices().nth(LINE) {
            Some((end, _)) => {
                text.push_str(&content[..end]);
                text.push_str(" [… line cut]");
            }
            None => text.push_str(content),
        }
        text.push('\n');
    }
    if facts.size == 0 {
        return Ok(Output::text(format!("`{shown}` is empty")));
    }
    if text.is_empty() {
        return Ok(Output {
            is_error: true,
            ..Output::text(format!("`{shown}` has only {current} lines"))
        });
    }
    if more {
        let _ = write!(
            text,
            "[… more lines follow; continue with offset {current}]"
        );
    }
    Ok(Output {
        blocks: vec![Block::Text(text)],
        ..Output::default()
    })
}

/// One line; of a line longer than anybody wants to see only the beginning is kept in memory.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut count = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(count);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        let room = (8 * LINE).saturating_sub(line.len());
        line.extend_from_slice(&buffer[..used.min(room)]);
        reader.consume(used);
        count += used;
        if end.is_some() {
            return Ok(count);
        }
    }
}

/// Starts with the byte order mark of UTF-16; true for big endian.
fn wide(start: &[u8]) -> Option<bool> {
    match start {
        [0xFF, 0xFE, ..] => Some(false),
        [0xFE, 0xFF, ..] => Some(true),
        _ => None,
    }
}

fn decode_wide(file: File, facts: Facts, big_endian: bool) -> io::Result<Option<String>> {
    if facts.size > WIDE {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(WIDE).read_to_end(&mut bytes)?;
    let units = bytes.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if big_endian {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        }
    });
    let text: String = char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Ok(Some(text))
}
