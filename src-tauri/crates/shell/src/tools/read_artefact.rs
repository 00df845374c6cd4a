//! `read_artefact`: pages through an output that was too long to show.

use async_trait::async_trait;
use openspace_grounding::{
    Action, ArtefactId, CallContext, Effect, Output, Permit, Tool, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{arguments, render};

/// Bytes of one page.
const PAGE: u64 = 24 * 1024;

pub(crate) struct ReadArtefact {
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
    #[serde(default)]
    offset: u64,
    #[serde(default = "page")]
    limit: u64,
}

fn page() -> u64 {
    PAGE
}

impl ReadArtefact {
    pub(crate) fn new() -> Self {
        let spec = arguments::spec(
            "read_artefact",
            include_str!("../../prompts/read_artefact.md"),
            Effect::Read,
            &["id"],
            &json!({
                "id": {"type": "string", "description": "As the cut output named it."},
                "offset": {"type": "integer", "minimum": 0, "description": "First byte; 0 if absent."},
                "limit": {"type": "integer", "minimum": 1, "maximum": PAGE, "description": format!("Bytes; {PAGE} if absent.")},
            }),
        );
        Self { spec }
    }
}

#[async_trait]
impl Tool for ReadArtefact {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        _context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        arguments::parse::<Arguments>(arguments)?;
        Ok(Vec::new())
    }

    async fn call(
        &self,
        arguments: Value,
        _permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let arguments: Arguments = arguments::parse(&arguments)?;
        let id: ArtefactId = arguments
            .id
            .parse()
            .map_err(|error| ToolError::InvalidArguments(format!("id: {error}")))?;
        let limit = arguments.limit.clamp(1, PAGE);
        let bytes = context
            .keep
            .read_artefact(&id, arguments.offset, limit)
            .await?;
        let end = arguments.offset + bytes.len() as u64;
        let mut text = render::clean(&bytes);
        let note = match (bytes.len() as u64).cmp(&limit) {
            _ if bytes.is_empty() => format!("[nothing at byte {end}: that is the end]"),
            std::cmp::Ordering::Less => format!("\n[bytes {}-{end}: the end]", arguments.offset),
            _ => format!(
                "\n[bytes {}-{end}: continue with offset {end}]",
                arguments.offset
            ),
        };
        text.push_str(&note);
        Ok(Output::text(text))
    }
}
