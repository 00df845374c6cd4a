//! What `fixtures.json` holds.

use std::collections::BTreeMap;

use rmcp::model::{
    CallToolResult, InputRequest, InputRequests, JsonObject, PromptMessage, ResourceContents,
};
use serde::Deserialize;
use serde_json::Value;

/// The smallest picture: one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// The smallest sound: none.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

#[derive(Deserialize)]
pub(crate) struct Words {
    pub(crate) tools: Vec<Fixed>,
    requests: BTreeMap<String, InputRequest>,
    pub(crate) prompts: Vec<Said>,
    pub(crate) resources: Vec<Value>,
}

/// A tool.
#[derive(Clone, Deserialize)]
pub(crate) struct Fixed {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) schema: Option<JsonObject>,
    pub(crate) result: Option<CallToolResult>,
    /// The form a legacy client is asked to fill in.
    pub(crate) asks: Option<Value>,
    /// What is asked, one round after another.
    #[serde(default)]
    pub(crate) rounds: Vec<Round>,
    pub(crate) done: Option<String>,
    #[serde(default)]
    pub(crate) task: TaskSupport,
    /// What the task asks, all at once.
    #[serde(default)]
    pub(crate) requests: Vec<String>,
}

/// Whether a tool is done as a task.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TaskSupport {
    #[default]
    Never,
    /// For clients that know tasks; others wait.
    Optional,
    /// Clients that do not know tasks are refused.
    Required,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Round {
    pub(crate) requests: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) sealed: bool,
}

/// A prompt.
#[derive(Deserialize)]
pub(crate) struct Said {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    pub(crate) messages: Value,
    #[serde(default)]
    pub(crate) asks: BTreeMap<String, String>,
}

impl Words {
    pub(crate) fn read() -> serde_json::Result<Self> {
        let text = include_str!("fixtures.json")
            .replace("\"PNG\"", &format!("\"{PNG}\""))
            .replace("\"WAV\"", &format!("\"{WAV}\""));
        serde_json::from_str(&text)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Fixed> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn request(&self, name: &str) -> Option<InputRequest> {
        self.requests.get(name).cloned()
    }

    /// Requests by the keys they are answered under.
    pub(crate) fn requests(&self, named: &BTreeMap<String, String>) -> InputRequests {
        let found = named
            .iter()
            .filter_map(|(key, name)| Some((key.clone(), self.request(name)?)));
        found.collect()
    }

    pub(crate) fn resource(&self, uri: &str) -> Option<ResourceContents> {
        let known = self.resources.iter().find(|it| it["uri"] == uri);
        if let Some(known) = known {
            return serde_json::from_value(known.clone()).ok();
        }
        let id = uri
            .strip_prefix("test://template/")?
            .strip_suffix("/data")?;
        let text = format!(r#"{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}"#);
        Some(ResourceContents::text(text, uri).with_mime_type("application/json"))
    }
}

impl Said {
    /// The messages with `{name}` replaced.
    pub(crate) fn filled(&self, given: Option<&JsonObject>) -> Option<Vec<PromptMessage>> {
        let mut text = self.messages.to_string();
        for name in &self.arguments {
            let value = given.and_then(|given| given.get(name)?.as_str());
            text = text.replace(&format!("{{{name}}}"), value.unwrap_or_default());
        }
        serde_json::from_str(&text).ok()
    }
}
