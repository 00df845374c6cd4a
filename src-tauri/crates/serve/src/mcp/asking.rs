//! A run's question, put to the person through the host that handed the task over.
//!
//! Only where a person switched that on for the host, only for what is harmless and can be undone, and
//! for this once: nothing that a host says makes a rule. The core checks all of that once more.

use openspace_app::{App, Approval, ApprovalState, Decision, Failure, HostCaller, TaskState};
use rmcp::{
    RoleServer,
    model::{ElicitRequest, ElicitRequestParams, InputRequest, InputRequests, InputResponses},
    service::{Peer, RequestContext},
};
use serde_json::{Value, json};

use super::reply;

/// How a client is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// In the middle of a call.
    During,
    /// By asking it to call again with the answer.
    Again,
}

/// How this client can be asked, if it can be at all.
pub(super) fn dialect(context: &RequestContext<RoleServer>) -> Option<Dialect> {
    let forms = context
        .client_capabilities()?
        .elicitation
        .is_some_and(|can| can.form.is_some() || can.url.is_none());
    let legacy = context
        .protocol_version()
        .is_none_or(|version| version.has_initialize());
    forms.then_some(if legacy {
        Dialect::During
    } else {
        Dialect::Again
    })
}

/// The open questions of a task that may be put through this host.
pub(super) fn askable<'a>(app: &App, host: &HostCaller, state: &'a TaskState) -> Vec<&'a Approval> {
    let open = state.questions.iter();
    open.filter(|question| app.may_answer_through(host, &state.run, question))
        .collect()
}

/// A question as a form with one choice.
fn form(app: &App, question: &Approval) -> Option<ElicitRequestParams> {
    let text = |key: &str| app.catalogue.render(key, &[]);
    let params = json!({
        "mode": "form",
        "message": format!("{}\n\n{}", text("approval.title"), reply::asks(app, question)?),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "answer": {
                    "type": "string",
                    "title": text("mcp.answer"),
                    "oneOf": [
                        { "const": "deny", "title": text("ui.approval.deny") },
                        { "const": "allow", "title": text("ui.approval.once") },
                    ],
                },
            },
            "required": ["answer"],
        },
    });
    serde_json::from_value(params).ok()
}

/// The forms for some questions, by the questions' ids.
pub(super) fn forms(app: &App, questions: &[&Approval]) -> InputRequests {
    let form = |question: &&Approval| {
        let request = InputRequest::Elicitation(ElicitRequest::new(form(app, question)?));
        Some((question.id.to_string(), request))
    };
    questions.iter().filter_map(form).collect()
}

/// What a filled-in form says: nothing where the person closed it.
fn decision(answer: &Value) -> Option<Decision> {
    match answer.get("action")?.as_str()? {
        "decline" => Some(Decision::Deny),
        "accept" => match answer.get("content")?.get("answer")?.as_str()? {
            "allow" => Some(Decision::AllowOnce),
            "deny" => Some(Decision::Deny),
            _ => None,
        },
        _ => None,
    }
}

/// Puts a question to the client during a call, and takes its answer.
pub(super) async fn ask(
    app: &App,
    peer: &Peer<RoleServer>,
    host: &HostCaller,
    question: &Approval,
) {
    let Some(form) = form(app, question) else {
        return;
    };
    // Whoever looked at the run before the answer to an earlier form came does not know of it.
    let id = question.id.clone();
    let now = app.store.read(move |db| db.approvals().get(&id)).await;
    if now.is_ok_and(|now| now.state != ApprovalState::Open) {
        return;
    }
    let answer = match peer.create_elicitation(form).await {
        Ok(answer) => serde_json::to_value(answer).unwrap_or_default(),
        Err(error) => {
            tracing::info!(%error, "a question could not be put through the host");
            return;
        }
    };
    let Some(decision) = decision(&answer) else {
        return;
    };
    if let Err(failure) = app.answer_through_host(question, decision, host).await {
        tracing::warn!(%failure, "an answer through the host does not count");
    }
}

/// Takes the answers that a client sends along. What answers no open question of the task is passed
/// over.
pub(super) async fn take(
    app: &App,
    host: &HostCaller,
    state: &TaskState,
    answers: &InputResponses,
) -> Result<(), Failure> {
    for question in &state.questions {
        let answer = answers.get(question.id.as_str());
        if let Some(decision) = answer.and_then(decision) {
            app.answer_through_host(question, decision, host).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a clear yes allows.
    #[test]
    fn only_a_clear_yes_allows() {
        let accept = |content: Value| json!({ "action": "accept", "content": content });
        for (answer, said) in [
            (
                accept(json!({ "answer": "allow" })),
                Some(Decision::AllowOnce),
            ),
            (accept(json!({ "answer": "deny" })), Some(Decision::Deny)),
            (json!({ "action": "decline" }), Some(Decision::Deny)),
            (json!({ "action": "cancel" }), None),
            (accept(json!({})), None),
            (accept(json!({ "answer": true })), None),
            (accept(json!({ "answer": "ALLOW" })), None),
            (accept(json!({ "answer": "allow_for_run" })), None),
            (json!({ "content": { "answer": "allow" } }), None),
            (json!("allow"), None),
        ] {
            assert_eq!(decision(&answer), said, "{answer}");
        }
    }
}
