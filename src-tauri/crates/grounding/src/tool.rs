//! Tools and the back ends that bring them.

use std::sync::Arc;

use async_trait::async_trait;
use openspace_llm::Hosted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Action, CallContext, Output, Permit, ToolError};

/// What a tool does to the world, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks only.
    Read,
    /// Changes something that can be brought back.
    Write,
    /// May change something that cannot be brought back.
    Destructive,
    /// Moves the person's mouse and keyboard.
    Control,
}

/// A tool as everybody else sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// `[a-z0-9_]{1,64}`, unique among the tools of a run.
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// JSON Schema of the arguments (an object schema).
    pub schema: Value,
    /// What it does at most.
    pub effect: Effect,
    /// Runs alone: calls of one turn wait for each other.
    pub exclusive: bool,
    /// Reaches beyond this machine.
    pub open_world: bool,
    /// Back end it belongs to: `shell`, `gui`, `mcp`, `web`, `system`.
    pub backend: &'static str,
    /// A vendor's built-in tool with the same arguments, where there is one.
    pub hosted: Option<Hosted>,
}

/// One thing that can be done.
///
/// The caller validates nothing: a tool checks its own arguments and answers
/// [`ToolError::InvalidArguments`] in words the model can act on.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Name, description, schema and effect.
    fn spec(&self) -> &ToolSpec;

    /// What the call would do, found out without doing it. The policy judges every action before
    /// [`Tool::call`] runs; an empty list means nothing worth judging (a pure look at own state).
    async fn actions(
        &self,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Vec<Action>, ToolError>;

    /// The arguments of the same call with another command line, which a person wrote instead; none
    /// where the call is not a command line.
    fn with_command(&self, _arguments: &Value, _line: &str) -> Option<Value> {
        None
    }

    /// Does it. `permit` tells whether somebody was asked and waited for meanwhile. Whatever the
    /// call turns out to do beyond the actions it declared, it must ask [`CallContext::gate`] for first.
    async fn call(
        &self,
        arguments: Value,
        permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError>;
}

/// A family of tools that share a life.
#[async_trait]
pub trait Backend: Send + Sync {
    /// `shell`, `gui`, `mcp`, `web` or `system`.
    fn name(&self) -> &'static str;

    /// The tools on offer now.
    async fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Lets go of every key and button at once, while calls may still be running; the back end stays
    /// usable. For a pause.
    async fn halt(&self) {}

    /// The run ended by itself: lets go of everything except what the person expects to find
    /// afterwards, such as a program that was opened for them.
    async fn leave(&self) {
        self.close().await;
    }

    /// Lets go of everything at once: keys, buttons, processes. Safe to call twice, and while a
    /// call is still running.
    async fn close(&self);
}
