//! What hosts are told about us: the tools and how to use them. The words are part of the product,
//! so they are files of their own.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};

/// What a host gives its model when it connects.
pub(super) const INSTRUCTIONS: &str = include_str!("instructions.md");
const TOOLS: &str = include_str!("tools.json");

/// The tools, in the order they are listed.
#[derive(Clone)]
pub(super) struct Tools(Arc<[Tool]>);

impl Tools {
    /// The built-in ones.
    pub(super) fn standard() -> Self {
        let tools: Vec<Tool> = serde_json::from_str(TOOLS).unwrap_or_else(|error| {
            // A test reads the same text, so no build has this.
            tracing::error!(%error, "the built-in list of tools cannot be read");
            Vec::new()
        });
        Self(tools.into())
    }

    pub(super) fn all(&self) -> Vec<Tool> {
        self.0.to_vec()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.0.iter().find(|tool| tool.name == name)
    }

    pub(super) fn schema(&self, name: &str) -> Option<&JsonObject> {
        self.get(name).map(|tool| tool.input_schema.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list can be read, and says of each tool what it may do.
    #[test]
    fn every_tool_is_described() {
        let tools = Tools::standard().all();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(
            names,
            [
                "execute_task",
                "task_wait",
                "task_status",
                "task_cancel",
                "search_skills",
                "fix_skill",
                "upload_skill"
            ]
        );
        for tool in &tools {
            let annotations = tool.annotations.as_ref().expect("annotations");
            assert!(annotations.read_only_hint.is_some(), "{}", tool.name);
            assert!(annotations.open_world_hint.is_some(), "{}", tool.name);
            let changes = annotations.read_only_hint == Some(false);
            assert_eq!(
                changes,
                annotations.destructive_hint.is_some(),
                "{}",
                tool.name
            );
            assert!(tool.description.as_ref().is_some_and(|it| it.len() > 40));
            let schema = &tool.input_schema;
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            let properties = schema["properties"].as_object().expect("properties");
            for required in schema["required"].as_array().expect("required") {
                assert!(properties.contains_key(required.as_str().expect("a name")));
            }
        }
    }
}
