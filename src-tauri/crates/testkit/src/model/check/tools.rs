//! Tools on offer: names, schemas, hosted types.

use std::collections::BTreeSet;

use super::schema;
use crate::model::refusal::Refusal;
use crate::model::rules::{Rules, TOOLSET};
use crate::model::seen::{Dialect, SeenRequest, SeenTool};

pub(super) fn check(seen: &SeenRequest, rules: &Rules) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut names = BTreeSet::new();
    for (index, tool) in seen.tools.iter().enumerate() {
        let mut refuse = |message: String| {
            refusals.push(Refusal::new("tools", format!("tools.{index}: {message}")));
        };
        let longest = longest_name(seen.dialect);
        if !well_named(&tool.name, longest) {
            refuse(format!(
                "name `{}` does not match [a-zA-Z0-9_-]{{1,{longest}}}",
                tool.name
            ));
        }
        if !names.insert(tool.name.as_str()) {
            refuse("Tool names must be unique.".to_owned());
        }
        if let Some(kind) = &tool.hosted {
            if let Some(refusal) = hosted(seen, tool, kind, rules) {
                refusals.push(refusal);
            }
            continue;
        }
        if tool.description.trim().is_empty() {
            refuse(format!("`{}` has no description", tool.name));
        }
        for fault in schema::faults(&tool.schema) {
            refusals.push(Refusal::new(
                "schema",
                format!("tools.{index}.custom.input_schema: {fault}"),
            ));
        }
    }
    refusals
}

/// Letters of a tool's name, by the reference of each service.
fn longest_name(dialect: Dialect) -> usize {
    match dialect {
        Dialect::Messages => 128,
        Dialect::Chat | Dialect::Responses => 64,
    }
}

fn well_named(name: &str, longest: usize) -> bool {
    (1..=longest).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn hosted(seen: &SeenRequest, tool: &SeenTool, kind: &str, rules: &Rules) -> Option<Refusal> {
    if seen.dialect != Dialect::Messages {
        return None;
    }
    let Some((_, beta)) = rules.hosted.iter().find(|(known, _)| known == kind) else {
        return Some(Refusal::new(
            "tools",
            format!(
                "tools: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            ),
        ));
    };
    if kind != TOOLSET && seen.model.contains("-5-5") {
        return Some(Refusal::new(
            "tools",
            format!("'{}' does not support tool types: {kind}.", seen.model),
        ));
    }
    let sent = seen
        .headers
        .get("anthropic-beta")
        .map_or("", String::as_str);
    if !beta.is_empty() && !sent.split(',').any(|part| part.trim() == beta) {
        return Some(Refusal::new(
            "beta",
            format!(
                "tools: Input tag '{kind}' needs the header `anthropic-beta: {beta}`, got `{sent}`"
            ),
        ));
    }
    (tool.name != "computer").then(|| {
        Refusal::new(
            "tools",
            format!("tools.{kind}.name: Input should be 'computer'"),
        )
    })
}
