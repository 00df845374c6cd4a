//! `search`: a regular expression over the files of a folder, with ripgrep's own libraries.

use std::{
    fmt::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::Lossy};
use ignore::{WalkBuilder, overrides::OverrideBuilder};
use openspace_grounding::{
    Action, CallContext, Effect, Folders, Output, Permit, Tool, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{arguments, path, shell::Shared};

const MATCHES: usize = 200;
/// Characters of a line.
const LINE: usize = 300;
/// Bytes of text in one answer.
const TEXT: usize = 24 * 1024;
const TIME: Duration = Duration::from_secs(20);

pub(crate) struct Search {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum Case {
    /// Capital letters in the pattern mean themselves, small ones both.
    #[default]
    Smart,
    Sensitive,
    Insensitive,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    case: Case,
}

impl Search {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "search",
            include_str!("../../prompts/search.md"),
            Effect::Read,
            &["pattern"],
            &json!({
                "pattern": {"type": "string", "description": "The regular expression."},
                "path": {"type": "string", "description": "A folder or file; the workspace if absent."},
                "glob": {"type": "string", "description": "Only files it matches; with ! in front, only others."},
                "case": {"type": "string", "enum": ["smart", "sensitive", "insensitive"], "description": "smart, if absent: capital letters in the pattern mean themselves, small ones both."},
            }),
        );
        Self { spec, shared }
    }
}

#[async_trait]
impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        let arguments: Arguments = arguments::parse(arguments)?;
        let path = arguments.path.as_deref().unwrap_or(".");
        let path = self.shared.resolve(path, &context.folders)?;
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
        let root = arguments.path.as_deref().unwrap_or(".");
        let root = self.shared.resolve(root, &context.folders)?;
        let action = Action::Read { path: root.clone() };
        self.shared.confirm(context, &[action]).await?;
        if !root.exists() {
            return Err(ToolError::NotFound(format!("`{}`", root.display())));
        }
        let matcher = matcher(&arguments)?;
        let glob = arguments.glob.clone();
        let folders = Arc::clone(&context.folders);
        // Dropping this call must end the thread, too.
        let stop = context.cancel.child_token();
        let guard = stop.clone().drop_guard();
        let found = tokio::task::spawn_blocking(move || {
            search(&root, &matcher, glob.as_deref(), &folders, &stop)
        })
        .await
        .map_err(|_| ToolError::Cancelled)?;
        drop(guard);
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        found
    }
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_smart(matches!(arguments.case, Case::Smart))
        .case_insensitive(matches!(arguments.case, Case::Insensitive))
        .line_terminator(Some(b'\n'))
        .build(&arguments.pattern)
        .map_err(|error| ToolError::InvalidArguments(format!("pattern: {error}")))
}

struct Found {
    text: String,
    matches: usize,
    files: usize,
    /// Why not everything was looked at.
    cut: Option<&'static str>,
}

fn search(
    root: &Path,
    matcher: &RegexMatcher,
    glob: Option<&str>,
    folders: &Arc<Folders>,
    stop: &CancellationToken,
) -> Result<Output, ToolError> {
    let mut overrides = OverrideBuilder::new(root);
    if let Some(glob) = glob {
        overrides
            .add(glob)
            .map_err(|error| ToolError::InvalidArguments(format!("glob: {error}")))?;
    }
    let overrides = overrides
        .build()
        .map_err(|error| ToolError::InvalidArguments(format!("glob: {error}")))?;
    let hidden = Arc::clone(folders);
    let walk = WalkBuilder::new(root)
        .follow_links(false)
        // A workspace need not be a repository for its .gitignore to count; the person's global
        // one belongs to the home folder and is not ours to read.
        .require_git(false)
        .git_global(false)
        .overrides(overrides)
        .sort_by_file_path(Ord::cmp)
        .filter_entry(move |entry| !path::is_protected(entry.path(), &hidden))
        .build();
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .build();
    let begin = Instant::now();
    let mut found = Found {
        text: String::new(),
        matches: 0,
        files: 0,
        cut: None,
    };
    for entry in walk.flatten() {
        if stop.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        if begin.elapsed() > TIME {
            found.cut = Some("it took too long");
        }
        if found.cut.is_some() {
            break;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            search_file(&mut searcher, matcher, entry.path(), folders, &mut found);
        }
    }
    if found.matches == 0 && found.cut.is_none() {
        return Ok(Output::text("no matches"));
    }
    let Found { mut text, .. } = found;
    let _ = write!(text, "[{} matches in {} files", found.matches, found.files);
    if let Some(cut) = found.cut {
        let _ = write!(text, "; {cut}: narrow the pattern, the path or the glob");
    }
    text.push(']');
    Ok(Output::text(text))
}

fn search_file(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    file: &Path,
    folders: &Folders,
    found: &mut Found,
) {
    let shown = path::shown(file, folders);
    let before = found.matches;
    let result = searcher.search_path(
        matcher,
        file,
        Lossy(|number, line| {
            if found.matches == MATCHES || found.text.len() > TEXT {
                found.cut = Some("there are more");
                return Ok(false);
            }
            found.matches += 1;
            let line: String = line.trim_end().chars().take(LINE).collect();
            let _ = writeln!(found.text, "{shown}:{number}:{line}");
            Ok(true)
        }),
    );
    if let Err(error) = result {
        // Files vanish and may be unreadable; the others still count.
        tracing::debug!(%error, file = %file.display(), "searching");
    }
    if found.matches > before {
        found.files += 1;
    }
}
