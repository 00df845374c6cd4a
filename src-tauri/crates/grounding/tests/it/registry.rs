//! The registry of tools.

use std::sync::Arc;

use async_trait::async_trait;
use openspace_grounding::{
    Action, CallContext, Effect, Output, Permit, RegistryError, Tool, ToolError, ToolRegistry,
    ToolSpec, mcp_tool_name,
};
use serde_json::{Value, json};

struct Named(ToolSpec);

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn actions(&self, _: &Value, _: &CallContext) -> Result<Vec<Action>, ToolError> {
        Ok(Vec::new())
    }

    async fn call(&self, _: Value, _: Permit, _: &CallContext) -> Result<Output, ToolError> {
        Ok(Output::text("done"))
    }
}

fn tool(name: &str, backend: &'static str) -> Arc<dyn Tool> {
    Arc::new(Named(ToolSpec {
        name: name.to_owned(),
        description: "A tool.".to_owned(),
        schema: json!({ "type": "object" }),
        effect: Effect::Read,
        exclusive: false,
        open_world: false,
        backend,
        hosted: None,
    }))
}

/// Tools keep their order, are found by name and filtered by back end.
#[test]
fn tools_keep_their_order() {
    let mut registry = ToolRegistry::default();
    registry
        .register_all([
            tool("zebra", "shell"),
            tool("apple", "gui"),
            tool("mango", "shell"),
        ])
        .expect("register");
    let names = |registry: &ToolRegistry| {
        registry
            .definitions()
            .into_iter()
            .map(|tool| tool.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&registry), ["zebra", "apple", "mango"]);
    let shell = registry.of_backends(&["shell"]);
    assert_eq!(names(&shell), ["zebra", "mango"]);
    assert!(shell.get("mango").is_some() && shell.get("apple").is_none());
    assert_eq!((shell.len(), ToolRegistry::default().is_empty()), (2, true));
}

/// Two tools of one name, and names no model accepts, are errors.
#[test]
fn bad_names_are_refused() {
    let mut registry = ToolRegistry::default();
    registry.register(tool("look", "gui")).expect("register");
    assert_eq!(
        registry.register(tool("look", "web")),
        Err(RegistryError::Taken {
            name: "look".to_owned(),
            first: "gui",
            second: "web"
        })
    );
    for name in ["", "Look", "a-b", "a b", "ä", &"a".repeat(65)] {
        assert_eq!(
            registry.register(tool(name, "gui")),
            Err(RegistryError::Name(name.to_owned()))
        );
    }
    registry
        .register(tool(&"a".repeat(64), "gui"))
        .expect("64 letters fit");
}

/// MCP names stay readable, fit, and differ when the originals do.
#[test]
fn mcp_names_fit_and_differ() {
    assert_eq!(mcp_tool_name("files", "read_file"), "files__read_file");
    let long = "x".repeat(80);
    let names = [
        mcp_tool_name("Files", "read"),
        mcp_tool_name("files", "read"),
        mcp_tool_name("files", "re-ad"),
        mcp_tool_name("files", "re.ad"),
        mcp_tool_name("a__b", "c"),
        mcp_tool_name("a", "b__c"),
        mcp_tool_name("a_", "b"),
        mcp_tool_name("a", "_b"),
        mcp_tool_name(&long, "a"),
        mcp_tool_name(&long, "b"),
        mcp_tool_name("文件", "读"),
        mcp_tool_name("文件", "写"),
    ];
    for (position, name) in names.iter().enumerate() {
        let fits = (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        assert!(fits, "{name}");
        assert!(!names[..position].contains(name), "{name} twice");
    }
}
