//! The same tasks for clients that know the tasks extension: a handle at once, and the state when
//! they ask. Nothing is kept here; the store is what remembers.

use openspace_app::{App, Failure, HostCaller, RunStatus, TaskReport, TaskState};
use rmcp::{
    ErrorData,
    model::{
        CreateTaskResult, DetailedTask, GetTaskResult, InputRequests, Task, TaskPayload, TaskStatus,
    },
};
use serde_json::Value;

use super::{asking, progress, reply};

/// How often clients are asked to look.
const POLL_MS: u64 = 2_000;

/// The handle of a task that was just handed over.
pub(super) fn handle(app: &App, state: &TaskState) -> CreateTaskResult {
    CreateTaskResult::new(task(app, state, TaskStatus::Working))
}

/// Where a task stands. `ask` says that the client can put the run's questions to the person.
pub(super) fn detail(
    app: &App,
    report: &TaskReport,
    host: &HostCaller,
    ask: bool,
) -> GetTaskResult {
    let state = &report.state;
    let payload = match state.run.status {
        RunStatus::Queued
        | RunStatus::Planning
        | RunStatus::Running
        | RunStatus::Paused
        | RunStatus::Stopping => TaskPayload::Working,
        RunStatus::NeedsApproval => {
            let input_requests = if ask {
                asking::forms(app, &asking::askable(app, host, state))
            } else {
                InputRequests::new()
            };
            if input_requests.is_empty() {
                TaskPayload::Working
            } else {
                TaskPayload::InputRequired { input_requests }
            }
        }
        RunStatus::Stopped => TaskPayload::Cancelled,
        RunStatus::NeedsYou
        | RunStatus::Done
        | RunStatus::Failed
        | RunStatus::LimitReached
        | RunStatus::Interrupted => {
            let result = reply::report(app, report, true, &[]);
            match serde_json::to_value(result) {
                Ok(Value::Object(result)) => TaskPayload::Completed { result },
                _ => TaskPayload::Working,
            }
        }
    };
    GetTaskResult::new(DetailedTask::new(
        task(app, state, payload.status()),
        payload,
    ))
}

fn task(app: &App, state: &TaskState, status: TaskStatus) -> Task {
    let run = &state.run;
    let changed = run.ended_at.or(run.started_at).unwrap_or(run.created_at);
    Task::new(
        state.task.as_str(),
        status,
        timestamp(run.created_at),
        timestamp(changed),
    )
    .with_poll_interval_ms(POLL_MS)
    .with_status_message(progress::sentence(app, state))
}

/// ISO 8601, of Unix milliseconds.
fn timestamp(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at)
        .map(|time| time.to_string())
        .unwrap_or_default()
}

/// A failure where the protocol has no place for one of ours.
pub(super) fn error(failure: &Failure) -> ErrorData {
    let data = serde_json::to_value(failure).ok();
    match failure.code {
        openspace_app::Code::NotFound | openspace_app::Code::InvalidRequest => {
            ErrorData::invalid_params(failure.message.clone(), data)
        }
        _ => ErrorData::internal_error(failure.message.clone(), data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_clients_read_them() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(1_764_500_000_123), "2025-11-30T10:53:20.123Z");
    }
}
