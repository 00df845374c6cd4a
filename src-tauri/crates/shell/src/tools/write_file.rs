//! `write_file`: the whole content of a file.

use std::sync::Arc;

use async_trait::async_trait;
use openspace_grounding::{Action, CallContext, Effect, Output, Permit, Tool, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::write::{Before, action};
use crate::{arguments, path, shell::Shared};

pub(crate) struct WriteFile {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl WriteFile {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "write_file",
            include_str!("../../prompts/write_file.md"),
            Effect::Write,
            &["path", "content"],
            &json!({
                "path": {"type": "string", "description": "The file; relative to the workspace, or absolute, or from ~."},
                "content": {"type": "string", "description": "All of its content."},
            }),
        );
        Self { spec, shared }
    }
}

#[async_trait]
impl Tool for WriteFile {
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
        let before = Before::read(path, true).await?;
        let shown = path::shown(&before.path, &context.folders);
        let verb = if before.old.is_some() {
            "Replaced"
        } else {
            "Created"
        };
        let text = format!("{verb} `{shown}` ({} bytes)", arguments.content.len());
        let path = before.path.clone();
        let written = before.write(arguments.content.into_bytes(), text, context);
        self.shared.watch.while_changing(&path, written).await
    }
}
