//! The contract between the agent and what it can act with.
//!
//! [`Tool`] is one thing that can be done, [`Backend`] a family of tools, [`Action`] what a call is
//! about to do in terms a policy can judge, [`Gate`] where that judgement is asked for,
//! [`policy::Policy`] the judgement, [`registry::ToolRegistry`] the tools a run has, and
//! [`untrusted`] how what they bring back goes into a prompt.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod action;
pub mod context;
pub mod error;
pub mod keep;
pub mod output;
pub mod policy;
pub mod registry;
pub mod tool;
pub mod untrusted;

pub use action::{Access, Action, ProgramLaunch, ScreenApp, ShellCommand};
pub use context::{CallContext, Denied, Folders, Gate, Keep, NewChange, NewFrame, Permit};
pub use error::ToolError;
pub use keep::{GuardLink, StoreKeep};
pub use openspace_llm::{Coordinates, Hosted, Image, ImageLimits, MediaType};
pub use openspace_store::{ArtefactId, ChangeId, FrameId, RunId};
pub use output::{Block, ChangeKind, Evidence, Output};
pub use policy::{Decision, Grant, Grants, Origin, Policy, PolicyInputs, Preset, Question, Rule};
pub use registry::{RegistryError, ToolRegistry, mcp_tool_name};
pub use tool::{Backend, Effect, Tool, ToolSpec};
