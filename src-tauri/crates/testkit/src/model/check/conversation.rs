//! Roles, and calls with their results.

use std::collections::BTreeSet;

use crate::model::refusal::Refusal;
use crate::model::seen::{Dialect, Part, Said, SeenRequest, Speaker};

pub(super) fn check(seen: &SeenRequest) -> Vec<Refusal> {
    let mut refusals = roles(seen);
    refusals.extend(unique_calls(seen));
    refusals.extend(pairs(seen));
    refusals
}

fn roles(seen: &SeenRequest) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut refuse = |message: String| refusals.push(Refusal::new("roles", message));
    let spoken: Vec<&Said> = seen
        .messages
        .iter()
        .filter(|said| said.speaker != Speaker::System)
        .collect();
    match spoken.first() {
        Some(first) if first.speaker == Speaker::User => {}
        Some(_) => refuse("messages: first message must use the \"user\" role".to_owned()),
        None => refuse("messages: at least one message is required".to_owned()),
    }
    if spoken
        .last()
        .is_some_and(|last| last.speaker == Speaker::Assistant)
    {
        refuse("messages: the last message must not be the model's own".to_owned());
    }
    for (index, pair) in spoken.windows(2).enumerate() {
        let same = pair[0].speaker == pair[1].speaker;
        // The OpenAI formats have user messages for pictures beside the person's own.
        let allowed = seen.dialect != Dialect::Messages && pair[0].speaker == Speaker::User;
        if same && !allowed {
            refuse(format!(
                "messages.{}: roles must alternate between \"user\" and \"assistant\", but found multiple {:?} roles in a row",
                index + 1,
                pair[0].speaker
            ));
        }
    }
    if seen.messages.iter().enumerate().any(|(index, said)| {
        said.speaker == Speaker::System && !system_fits(seen.dialect, &seen.messages, index)
    }) {
        refuse("messages: a system message is where none may be".to_owned());
    }
    refusals
}

/// System messages come first. Anthropic takes one after what the person said as well, if the model
/// speaks next.
fn system_fits(dialect: Dialect, messages: &[Said], index: usize) -> bool {
    let speaker = |index: usize| messages.get(index).map(|said| said.speaker);
    let first = messages[..index]
        .iter()
        .all(|said| said.speaker == Speaker::System);
    if first {
        return dialect != Dialect::Messages || index == 0;
    }
    dialect == Dialect::Messages
        && speaker(index - 1) == Some(Speaker::User)
        && matches!(speaker(index + 1), None | Some(Speaker::Assistant))
}

fn unique_calls(seen: &SeenRequest) -> Vec<Refusal> {
    let mut known = BTreeSet::new();
    seen.parts()
        .filter_map(|part| match part {
            Part::Call { id, .. } => Some(id),
            _ => None,
        })
        .filter(|id| id.is_empty() || !known.insert(id.as_str()))
        .map(|id| {
            Refusal::new(
                "pairs",
                format!("messages: `tool_use` ids must be unique (`{id}`)"),
            )
        })
        .collect()
}

/// Every message with calls is followed at once by exactly their results, and results are nowhere
/// else. The order among results of one turn is free, as it is with the services.
fn pairs(seen: &SeenRequest) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut expected: BTreeSet<&str> = BTreeSet::new();
    for (index, said) in seen.messages.iter().enumerate() {
        let mut missing = std::mem::take(&mut expected);
        let mut other_before = false;
        for part in &said.parts {
            match part {
                Part::Result(result) => {
                    if !missing.remove(result.id.as_str()) {
                        refusals.push(Refusal::new(
                            "pairs",
                            unexpected(seen.dialect, index, &result.id),
                        ));
                    }
                    if other_before {
                        refusals.push(Refusal::new(
                            "pairs",
                            format!("messages.{index}: `tool_result` blocks must come before other content"),
                        ));
                    }
                }
                Part::Call { id, .. } if said.speaker == Speaker::Assistant => {
                    expected.insert(id);
                }
                Part::Call { .. } | Part::Text(_) | Part::Image(_) | Part::Reasoning => {
                    other_before = true;
                }
            }
        }
        if !missing.is_empty() {
            refusals.push(Refusal::new(
                "pairs",
                unanswered(seen.dialect, index, &missing),
            ));
        }
    }
    if !expected.is_empty() {
        let index = seen.messages.len();
        refusals.push(Refusal::new(
            "pairs",
            unanswered(seen.dialect, index, &expected),
        ));
    }
    refusals
}

fn unexpected(dialect: Dialect, index: usize, id: &str) -> String {
    match dialect {
        Dialect::Messages => format!(
            "messages.{index}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        ),
        Dialect::Chat => format!(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls' ({id})."
        ),
        Dialect::Responses => {
            format!("No tool call found for function call output with call_id {id}.")
        }
    }
}

fn unanswered(dialect: Dialect, index: usize, ids: &BTreeSet<&str>) -> String {
    let ids = ids.iter().copied().collect::<Vec<_>>().join(", ");
    match dialect {
        Dialect::Messages => format!(
            "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            index.saturating_sub(1)
        ),
        Dialect::Chat => format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
        ),
        Dialect::Responses => format!("No tool output found for function call {ids}."),
    }
}
