//! What a host is told: one JSON object, as text for models and as it is for programs.

use openspace_app::{
    App, Approval, Failure, Outcome, Question, Reason, RunStatus, TaskReport, changed_files,
    rpc::Sentence,
};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Map, Value, json};

use super::progress;

/// Letters of an error of a call.
const ERROR: usize = 200;
/// Bytes of the model's last words; widespread clients take no event above a mebibyte.
const RESPONSE: usize = 200_000;
/// Files that are named.
const FILES: usize = 100;

/// A result with its JSON.
pub(super) fn result(object: JsonObject, is_error: bool) -> CallToolResult {
    let value = Value::Object(object);
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    let content = vec![ContentBlock::text(text)];
    let mut result = if is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = Some(value);
    result
}

/// What went wrong, and what to do about it.
pub(super) fn failed(failure: &Failure) -> CallToolResult {
    let mut object = Map::new();
    object.insert("status".to_owned(), json!("error"));
    object.insert("error".to_owned(), json!(failure.message));
    object.insert("code".to_owned(), json!(failure.code));
    if let Some(hint) = &failure.hint {
        object.insert("hint".to_owned(), json!(hint));
    }
    if !failure.params.is_empty() {
        object.insert("params".to_owned(), json!(failure.params));
    }
    object.insert("retryable".to_owned(), json!(failure.retryable));
    result(object, true)
}

/// Where a task stands, and its result if it has one. While it goes on, `status` says `running` to
/// whoever waited and otherwise exactly where it is.
pub(super) fn report(
    app: &App,
    report: &TaskReport,
    waited: bool,
    notes: &[String],
) -> CallToolResult {
    let state = &report.state;
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("status", json!(status(state.run.status, waited)));
    put("task_id", json!(state.task));
    match state.run.status {
        RunStatus::Queued
        | RunStatus::Planning
        | RunStatus::Running
        | RunStatus::Paused
        | RunStatus::Stopping => {
            put("progress", json!(progress::sentence(app, state)));
            put("message", json!(GOES_ON));
            put("next", next_wait(state.task.as_str()));
        }
        RunStatus::NeedsApproval => {
            let questions: Vec<_> = state.questions.iter().map(|it| question(app, it)).collect();
            put("approvals", json!(questions));
            put("message", json!(NEEDS_APPROVAL));
            put("next", next_wait(state.task.as_str()));
        }
        RunStatus::NeedsYou => {
            if let Some(Reason::Question { text }) = &report.reason {
                put("question", json!(text));
            }
            put("message", json!(NEEDS_YOU));
            put(
                "next",
                json!({ "tool": "execute_task", "arguments": { "task": "<the answer>", "task_id": state.task } }),
            );
            ended(app, report, &mut object);
        }
        RunStatus::Stopped
        | RunStatus::Done
        | RunStatus::Failed
        | RunStatus::LimitReached
        | RunStatus::Interrupted => ended(app, report, &mut object),
    }
    if !notes.is_empty() {
        object.insert("notes".to_owned(), json!(notes));
    }
    let is_error = matches!(state.run.status, RunStatus::Failed | RunStatus::Interrupted);
    result(object, is_error)
}

/// Of a task that was handed over, when nothing else can be told.
pub(super) fn handle(task: &str, notes: &[String]) -> CallToolResult {
    let mut object = Map::new();
    object.insert("status".to_owned(), json!("running"));
    object.insert("task_id".to_owned(), json!(task));
    object.insert("message".to_owned(), json!(GOES_ON));
    object.insert("next".to_owned(), next_wait(task));
    if !notes.is_empty() {
        object.insert("notes".to_owned(), json!(notes));
    }
    result(object, false)
}

const GOES_ON: &str =
    "The task goes on by itself. Call task_wait with this task_id; do not start it again.";
const NEEDS_APPROVAL: &str = "The task waits for the user's permission, which only the user can give: in the OpenSpace window, or in a terminal with `openspace approve ID`. Tell the user what is asked, then call task_wait.";
const NEEDS_YOU: &str =
    "The task asks a question. Answer it yourself if you know the answer, else ask the user.";

/// The words of the old system where it had some, else ours.
fn status(status: RunStatus, waited: bool) -> &'static str {
    match status {
        RunStatus::Done => "success",
        RunStatus::LimitReached => "incomplete",
        RunStatus::Failed | RunStatus::Interrupted => "error",
        RunStatus::Stopped => "cancelled",
        RunStatus::Queued | RunStatus::Planning | RunStatus::Running if waited => "running",
        RunStatus::Queued => "queued",
        RunStatus::Planning => "planning",
        RunStatus::Running => "running",
        RunStatus::NeedsApproval => "needs_approval",
        RunStatus::NeedsYou => "needs_you",
        RunStatus::Paused => "paused",
        RunStatus::Stopping => "stopping",
    }
}

fn next_wait(task: &str) -> Value {
    json!({ "tool": "task_wait", "arguments": { "task_id": task } })
}

/// What a task came to.
fn ended(app: &App, report: &TaskReport, object: &mut JsonObject) {
    let run = &report.state.run;
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    let outcome = report.outcome.as_ref();
    let answer = outcome.map_or("", |outcome| outcome.answer.trim());
    put("response", json!(cut(answer, RESPONSE)));
    let seconds = outcome.map_or(0.0, |outcome| outcome.used.active_ms as f64 / 1_000.0);
    put("execution_time", json!((seconds * 100.0).round() / 100.0));
    put(
        "iterations",
        json!(outcome.map_or(run.step, |it| it.used.steps)),
    );
    put("skills_used", json!([]));
    put("tool_call_count", json!(report.call_count));
    let calls: Vec<_> = report
        .calls
        .iter()
        .map(|call| {
            let error = call.error.as_ref();
            json!({
                "tool": call.tool,
                "status": if error.is_some() { "error" } else { "success" },
                "error": error.map(|text| text.chars().take(ERROR).collect::<String>()),
            })
        })
        .collect();
    put("tool_summary", json!(calls));
    let files = outcome.map(files).unwrap_or_default();
    if !files.is_empty() {
        put("files_changed", json!(files));
    }
    let why = why(app, report);
    match run.status {
        RunStatus::LimitReached => put("warning", json!(why)),
        RunStatus::Failed | RunStatus::Interrupted | RunStatus::Stopped => put("error", json!(why)),
        _ => None,
    };
    put("imported_skills", json!([]));
}

fn files(outcome: &Outcome) -> Vec<String> {
    let mut files: Vec<_> = changed_files(&outcome.evidence)
        .map(|path| path.display().to_string())
        .collect();
    files.sort();
    files.dedup();
    files.truncate(FILES);
    files
}

/// Why a task ended as it did.
fn why(app: &App, report: &TaskReport) -> String {
    let used = report.outcome.as_ref().map(|outcome| outcome.used);
    if let Some(reason) = &report.reason {
        return Sentence::of_run_reason(reason, &used.unwrap_or_default()).render(&app.catalogue);
    }
    let key = match report.state.run.status {
        RunStatus::Interrupted => "mcp.interrupted",
        RunStatus::Stopped => "mcp.stopped",
        _ => "mcp.failed",
    };
    app.catalogue.render(key, &[])
}

/// A question with what a person has to know about it.
fn question(app: &App, approval: &Approval) -> Value {
    json!({
        "id": approval.id,
        "asks": asks(app, approval),
        "risk": approval.risk,
        "reversible": !approval.irreversible,
    })
}

/// A question in words: exactly what would be done, and why it is asked.
pub(super) fn asks(app: &App, approval: &Approval) -> Option<String> {
    let question: Question = serde_json::from_value(approval.question.clone()).ok()?;
    let actions = question.actions.iter().map(Sentence::of_action);
    let reasons = question
        .parts
        .iter()
        .map(|part| Sentence::of_reason(part.reason));
    let mut lines: Vec<_> = actions.map(|it| it.render(&app.catalogue)).collect();
    lines.extend(reasons.map(|it| {
        let reason = it.render(&app.catalogue);
        app.catalogue.render("approval.why", &[("reason", &reason)])
    }));
    lines.dedup();
    Some(lines.join("\n"))
}

/// At most so many bytes, ending at a whole letter.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{} … [{} bytes left out]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statuses go out in the old system's words where it had them.
    #[test]
    fn statuses_have_their_outward_names() {
        let told: Vec<_> = RunStatus::ALL
            .iter()
            .map(|it| (it.to_string(), status(*it, false), status(*it, true)))
            .collect();
        let named = |name: &str| {
            let (_, looked, waited) = told.iter().find(|it| it.0 == name).expect("a status");
            (*looked, *waited)
        };
        assert_eq!(named("done"), ("success", "success"));
        assert_eq!(named("limit_reached"), ("incomplete", "incomplete"));
        assert_eq!(named("failed"), ("error", "error"));
        assert_eq!(named("interrupted"), ("error", "error"));
        assert_eq!(named("stopped"), ("cancelled", "cancelled"));
        assert_eq!(named("queued"), ("queued", "running"));
        assert_eq!(named("planning"), ("planning", "running"));
        assert_eq!(named("running"), ("running", "running"));
        for own in ["needs_approval", "needs_you", "paused", "stopping"] {
            assert_eq!(named(own), (own, own));
        }
    }

    /// Long words are cut between letters, and that is said.
    #[test]
    fn long_words_are_cut_between_letters() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("天天天", 4), "天 … [6 bytes left out]");
    }
}
