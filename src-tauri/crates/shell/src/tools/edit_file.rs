//! `edit_file`: replaces text that must be there exactly once.

use std::sync::Arc;

use async_trait::async_trait;
use diffy::{DiffOptions, PatchFormatter};
use openspace_grounding::{Action, CallContext, Effect, Output, Permit, Tool, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::write::{Before, KEPT, action};
use crate::{arguments, path, shell::Shared};

/// Bytes of the difference that is shown.
const DIFF: usize = 4096;
/// Lines that are compared with a text that was not found, and characters of each.
const COMPARED: usize = 5000;
const COMPARED_CHARACTERS: usize = 160;
/// How alike a line has to be to be shown as what was meant.
const ALIKE: f64 = 0.5;

pub(crate) struct EditFile {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
}

impl EditFile {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "edit_file",
            include_str!("../../prompts/edit_file.md"),
            Effect::Write,
            &["path", "old", "new"],
            &json!({
                "path": {"type": "string", "description": "The file; relative to the workspace, or absolute, or from ~."},
                "old": {"type": "string", "description": "The text to be replaced, exactly as in the file."},
                "new": {"type": "string", "description": "The text that takes its place."},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence."},
            }),
        );
        Self { spec, shared }
    }
}

#[async_trait]
impl Tool for EditFile {
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
        let actions = vec![action(&path)];
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
        self.shared.confirm(context, &[action(&path)]).await?;
        let before = Before::read(path, false).await?;
        let shown = path::shown(&before.path, &context.folders);
        let Some((facts, bytes)) = &before.old else {
            return Err(ToolError::NotFound(format!("`{shown}` does not exist")));
        };
        if facts.size > KEPT {
            return Err(ToolError::Failed(format!(
                "`{shown}` has {} bytes; files up to {KEPT} can be edited here",
                facts.size
            )));
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(ToolError::Failed(format!("`{shown}` is no text in UTF-8")));
        };
        let result = edit(text, &arguments.old, &arguments.new, arguments.replace_all)
            .map_err(|problem| ToolError::InvalidArguments(format!("`{shown}`: {problem}")))?;
        let summary = format!(
            "Edited `{shown}`, {} replaced:\n{}",
            places(result.count),
            difference(text, &result.text)
        );
        let path = before.path.clone();
        let written = before.write(result.text.into_bytes(), summary, context);
        self.shared.watch.while_changing(&path, written).await
    }
}

struct Edited {
    text: String,
    count: usize,
}

/// Replaces `old` by `new`; the error says what to do about it.
fn edit(text: &str, old: &str, new: &str, replace_all: bool) -> Result<Edited, String> {
    if old.is_empty() {
        return Err("`old` is empty; use write_file to write a whole file".to_owned());
    }
    if old == new {
        return Err("`old` and `new` are the same".to_owned());
    }
    // A model writes plain line ends; the file's own are put in before searching and replacing.
    let carriage = text.contains("\r\n");
    let only_carriage = carriage && !text.replace("\r\n", "").contains('\n');
    let exact = text.matches(old).count();
    let (old, new) = if (exact == 0 && carriage) || only_carriage {
        (with_carriage(old), with_carriage(new))
    } else {
        (old.to_owned(), new.to_owned())
    };
    let count = text.matches(&old).count();
    match count {
        0 => Err(not_found(text, &old)),
        1 => Ok(Edited {
            text: text.replacen(&old, &new, 1),
            count,
        }),
        _ if replace_all => Ok(Edited {
            text: text.replace(&old, &new),
            count,
        }),
        _ => {
            let lines: Vec<String> = text
                .match_indices(&old)
                .take(10)
                .map(|(position, _)| (text[..position].matches('\n').count() + 1).to_string())
                .collect();
            Err(format!(
                "`old` occurs {count} times (lines {}); add lines around the one that is meant, or \
                 set replace_all",
                lines.join(", ")
            ))
        }
    }
}

fn with_carriage(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Shows the lines most like the first line that was looked for.
fn not_found(text: &str, old: &str) -> String {
    let wanted = old.lines().find(|line| !line.trim().is_empty());
    let Some(wanted) = wanted else {
        return "`old` was not found".to_owned();
    };
    let lines: Vec<&str> = text.lines().collect();
    let short = |line: &str| -> String { line.trim().chars().take(COMPARED_CHARACTERS).collect() };
    let wanted = short(wanted);
    let nearest = lines
        .iter()
        .take(COMPARED)
        .enumerate()
        .map(|(number, line)| {
            let line = short(line);
            let alike = if line == wanted {
                1.0
            } else if line.len().abs_diff(wanted.len()) > wanted.len() {
                0.0
            } else {
                strsim::normalized_levenshtein(&line, &wanted)
            };
            (number, alike)
        })
        .max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))
        .filter(|(_, alike)| *alike >= ALIKE);
    let Some((number, alike)) = nearest else {
        return "`old` was not found, nor anything like it; read the file again".to_owned();
    };
    let why = if alike >= 1.0 {
        "the spaces or the lines around it differ"
    } else {
        "the nearest lines are"
    };
    let from = number.saturating_sub(1);
    let to = (number + old.lines().count().min(8) + 1).min(lines.len());
    let near: Vec<String> = (from..to)
        .map(|line| format!("\n{:>6}\t{}", line + 1, lines[line]))
        .collect();
    format!("`old` was not found; {why}:{}", near.concat())
}

fn places(count: usize) -> String {
    if count == 1 {
        "one place".to_owned()
    } else {
        format!("{count} places")
    }
}

fn difference(before: &str, after: &str) -> String {
    let patch = DiffOptions::new()
        .set_context_len(2)
        .create_patch(before, after);
    let formatter = PatchFormatter::new().suppress_blank_empty(false);
    let whole = formatter.fmt_patch(&patch).to_string();
    // Behind the two lines with names, which the model knows.
    let mut text = whole.splitn(3, '\n').nth(2).unwrap_or_default().to_owned();
    if text.len() > DIFF {
        let mut end = DIFF;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("\n[… cut]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, old: &str, new: &str) -> String {
        edit(text, old, new, false).map_or_else(|error| error, |edited| edited.text)
    }

    /// Line ends stay what they were, whatever the model writes.
    #[test]
    fn line_ends_are_kept() {
        assert_eq!(edited("a\r\nb\r\nc\r\n", "a\nb", "x\ny"), "x\r\ny\r\nc\r\n");
        assert_eq!(edited("a\r\nb\r\n", "b", "b\nc"), "a\r\nb\r\nc\r\n");
        assert_eq!(edited("a\nb\n", "b", "b\nc"), "a\nb\nc\n");
        assert_eq!(
            edited("a\r\nb\nc\n", "c", "d\ne"),
            "a\r\nb\nd\ne\n",
            "mixed stays as written"
        );
        assert_eq!(
            edited("\u{feff}a\n", "a", "b"),
            "\u{feff}b\n",
            "the mark stays"
        );
    }

    /// What is not unique or not there is an error that helps.
    #[test]
    fn mismatches_are_explained() {
        assert!(edited("x = 1\ny = 1\n", "= 1", "= 2").contains("2 times (lines 1, 2)"));
        let near = edited("fn main() {\n    print(1);\n}\n", "print(2);", "x");
        assert!(near.contains("     2\t    print(1);"), "{near}");
        let spaces = edited("if a:\n\tb()\n", "    b()", "c()");
        assert!(spaces.contains("spaces"), "{spaces}");
        assert!(edited("abc\n", "zzzzzz", "x").contains("nor anything like it"));
        assert!(edited("abc\n", "", "x").contains("empty"));
        assert!(edited("abc\n", "a", "a").contains("the same"));
    }

    /// Every occurrence, when asked.
    #[test]
    fn all_can_be_replaced() {
        let result = edit("a b a", "a", "c", true).map(|edited| (edited.text, edited.count));
        assert_eq!(result, Ok(("c b c".to_owned(), 2)));
    }
}
