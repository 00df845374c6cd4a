//! `list_dir`: names, sizes, folders.

use std::{fmt::Write, path::Path, sync::Arc};

use async_trait::async_trait;
use ignore::WalkBuilder;
use openspace_grounding::{
    Action, CallContext, Effect, Folders, Output, Permit, Tool, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{arguments, path, place::describe, shell::Shared};

const ENTRIES: usize = 1000;
const DEPTH: usize = 8;

pub(crate) struct ListDir {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
    depth: Option<usize>,
}

impl ListDir {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "list_dir",
            include_str!("../../prompts/list_dir.md"),
            Effect::Read,
            &[],
            &json!({
                "path": {"type": "string", "description": "The folder; the workspace if absent."},
                "depth": {"type": "integer", "minimum": 1, "maximum": DEPTH, "description": "1 lists the folder alone, and is what an absent value means."},
            }),
        );
        Self { spec, shared }
    }
}

#[async_trait]
impl Tool for ListDir {
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
        let path = arguments.path.as_deref().unwrap_or(".");
        let path = self.shared.resolve(path, &context.folders)?;
        let action = Action::Read { path: path.clone() };
        self.shared.confirm(context, &[action]).await?;
        let depth = arguments.depth.unwrap_or(1).clamp(1, DEPTH);
        let folders = Arc::clone(&context.folders);
        tokio::task::spawn_blocking(move || list(&path, depth, folders))
            .await
            .map_err(|_| ToolError::Cancelled)?
    }
}

fn list(folder: &Path, depth: usize, folders: Arc<Folders>) -> Result<Output, ToolError> {
    // The walk below swallows what it cannot read; the folder itself must not be swallowed.
    std::fs::read_dir(folder).map_err(|error| describe(folder, &error))?;
    let shown = path::shown(folder, &folders);
    let mut text = String::new();
    let walk = WalkBuilder::new(folder)
        .standard_filters(false)
        .follow_links(false)
        .max_depth(Some(depth))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| !path::is_protected(entry.path(), &folders))
        .build();
    for (count, entry) in walk.skip(1).enumerate() {
        if count == ENTRIES {
            text.push_str("[… more entries are left out; list a folder further down]\n");
            break;
        }
        let Ok(entry) = entry else {
            text.push_str("[an entry that cannot be read]\n");
            continue;
        };
        let name = entry
            .path()
            .strip_prefix(folder)
            .unwrap_or(entry.path())
            .display()
            .to_string();
        let kind = entry.file_type();
        if kind.is_some_and(|kind| kind.is_dir()) {
            let _ = writeln!(text, "{name}/");
        } else if kind.is_some_and(|kind| kind.is_symlink()) {
            let target = std::fs::read_link(entry.path()).unwrap_or_default();
            let _ = writeln!(text, "{name} -> {}", target.display());
        } else {
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            let _ = writeln!(text, "{name}  {size}");
        }
    }
    if text.is_empty() {
        return Ok(Output::text(format!("`{shown}` is empty")));
    }
    Ok(Output::text(text))
}
