//! The tools of a run, gathered from its back ends.

use std::{collections::HashMap, sync::Arc};

use openspace_llm::ToolDefinition;

use crate::{Tool, ToolSpec};

/// Longest name of a tool that every model's interface accepts.
pub const LONGEST_NAME: usize = 64;
/// Hexadecimal digits of the hash that keeps shortened names apart.
const HASH: usize = 8;

/// Tools by name, in the order they were registered: the order is part of what models cache.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Vec<Arc<dyn Tool>>,
    positions: HashMap<String, usize>,
}

/// A tool that cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name does not fit what models accept.
    #[error("`{0}` is not a name for a tool: use 1 to 64 of the letters a-z, digits and `_`")]
    Name(String),
    /// The name is taken.
    #[error("the tool `{name}` of `{second}` has the name of one of `{first}`: rename one of them")]
    Taken {
        /// The name.
        name: String,
        /// Back end that has it.
        first: &'static str,
        /// Back end that wants it.
        second: &'static str,
    },
    /// The arguments are not described by an object schema.
    #[error("the tool `{0}` has no object schema for its arguments")]
    Schema(String),
}

impl ToolRegistry {
    /// Takes a tool in.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        let spec = tool.spec();
        if !is_name(&spec.name) {
            return Err(RegistryError::Name(spec.name.clone()));
        }
        if spec.schema.get("type").and_then(|kind| kind.as_str()) != Some("object") {
            return Err(RegistryError::Schema(spec.name.clone()));
        }
        if let Some(taken) = self.get(&spec.name) {
            return Err(RegistryError::Taken {
                name: spec.name.clone(),
                first: taken.spec().backend,
                second: spec.backend,
            });
        }
        self.positions.insert(spec.name.clone(), self.tools.len());
        self.tools.push(tool);
        Ok(())
    }

    /// Takes several in, stopping at the first that does not fit.
    pub fn register_all(
        &mut self,
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
    ) -> Result<(), RegistryError> {
        tools.into_iter().try_for_each(|tool| self.register(tool))
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.positions
            .get(name)
            .and_then(|&position| self.tools.get(position))
    }

    /// All tools in order.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tools of these back ends only, in the same order.
    #[must_use]
    pub fn of_backends(&self, backends: &[&str]) -> Self {
        let tools: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| backends.contains(&tool.spec().backend))
            .cloned()
            .collect();
        let positions = tools
            .iter()
            .enumerate()
            .map(|(position, tool)| (tool.spec().name.clone(), position))
            .collect();
        Self { tools, positions }
    }

    /// What a model is told about them.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools
            .iter()
            .map(|tool| definition(tool.spec()))
            .collect()
    }
}

fn definition(spec: &ToolSpec) -> ToolDefinition {
    ToolDefinition {
        name: spec.name.clone(),
        description: spec.description.clone(),
        schema: spec.schema.clone(),
        hosted: spec.hosted.clone(),
    }
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Name of an MCP server's tool here: `<server>__<tool>`. Where letters have to be replaced or the
/// name cut, a hash of the original is appended, so that different tools keep different names.
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    let whole = format!("{server}__{tool}");
    // A server's own `__` would make `a__b` + `c` and `a` + `b__c` the same.
    if is_name(&whole) && !server.contains("__") && !server.ends_with('_') && !tool.starts_with('_')
    {
        return whole;
    }
    let plain = |text: &str| -> String {
        text.chars()
            .map(|letter| letter.to_ascii_lowercase())
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '_'
                }
            })
            .collect()
    };
    let hash = blake3::hash(format!("{server}\0{tool}").as_bytes()).to_hex();
    let room = LONGEST_NAME - HASH - 1;
    let mut name = format!("{}__{}", plain(server), plain(tool));
    name.truncate(room);
    format!("{name}_{}", &hash[..HASH])
}
