//! The one table of what a window or a page may ask of the program.
//!
//! [`Rpc`] answers calls by name: JSON in, JSON out, [`Failure`] for everything that goes wrong. The
//! desktop reaches it by one command of its web view, a browser over loopback HTTP; neither knows a
//! single call. The TypeScript types are generated from the same table (`cargo xtask bindings`).

use std::sync::Arc;

use openspace_store::Approval;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{App, Code, Failure, GuardSeat, failure::Result};

pub mod agents;
pub mod answers;
pub mod attachments;
#[cfg(test)]
mod bindings;
pub mod demo;
pub mod desktop;
pub mod diagnostics;
pub mod edits;
pub mod exports;
mod files;
pub mod hosts;
pub mod insights;
pub mod keys;
pub mod logs;
pub mod models;
pub mod paths;
pub mod preflight;
pub mod run_detail;
pub mod runs;
pub mod sentence;
pub mod settings;
pub mod starts;
pub mod stream;
pub mod surface;

pub use answers::ApprovalView;
pub use files::{Picture, thumbnail};
pub use sentence::Sentence;
pub use stream::StoredEvent;

/// Derives what every type that crosses needs: fields in camel case, and its TypeScript when the
/// bindings are generated.
macro_rules! payload {
    ($($(#[$meta:meta])* pub struct $name:ident { $($body:tt)* })*) => {$(
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(rename_all = "camelCase")]
        $(#[$meta])*
        pub struct $name { $($body)* }
    )*};
}
pub(crate) use payload;

/// The same for enums of names.
macro_rules! choice {
    ($($(#[$meta:meta])* pub enum $name:ident { $($body:tt)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($body)* }
    )*};
}
pub(crate) use choice;

payload! {
    /// Nothing to say.
    pub struct Nothing {}
}

/// Where a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A window of this process.
    Window,
    /// The same, while no hand of a person was at it: it may do what a page may.
    Untouched,
    /// A page that holds the token.
    Page,
}

impl Caller {
    /// How it is named where the store keeps who did something.
    fn name(self) -> &'static str {
        match self {
            Self::Window | Self::Untouched => "app",
            Self::Page => "page",
        }
    }
}

/// Answers calls.
#[derive(Clone)]
pub struct Rpc {
    app: Arc<App>,
    guards: Arc<GuardSeat>,
}

/// One call being answered.
struct Call<'a> {
    app: &'a Arc<App>,
    guards: &'a Arc<GuardSeat>,
    caller: Caller,
}

impl Rpc {
    /// For an opened program. `guards` is shared with whatever executes runs in this process.
    pub fn new(app: Arc<App>, guards: Arc<GuardSeat>) -> Self {
        Self { app, guards }
    }

    /// The program behind it.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Answers one call.
    ///
    /// # Errors
    /// Whatever the call says; [`Code::InvalidRequest`] for a name or a request that does not exist.
    pub async fn call(&self, caller: Caller, name: &str, request: Value) -> Result<Value> {
        let call = Call {
            app: &self.app,
            guards: &self.guards,
            caller,
        };
        call.answer(name, request).await
    }
}

impl Call<'_> {
    /// Refuses what only a person may do while a run has control, unless it comes from a window of
    /// ours, which no run can click or type into.
    async fn refuse_while_controlled(&self, approval: Option<&Approval>) -> Result<()> {
        match self.caller {
            Caller::Window => Ok(()),
            Caller::Untouched | Caller::Page => self.app.refuse_while_controlled(approval).await,
        }
    }
}

fn parse<T: DeserializeOwned>(name: &str, request: Value) -> Result<T> {
    serde_json::from_value(request).map_err(|error| {
        Failure::new(
            Code::InvalidRequest,
            format!("the request for `{name}` does not fit: {error}"),
        )
    })
}

fn answer<T: Serialize>(response: T) -> Result<Value> {
    serde_json::to_value(response).map_err(|error| Failure::new(Code::Internal, error.to_string()))
}

macro_rules! rpc {
    ($($(#[doc = $doc:literal])* $name:ident($request:ty) -> $response:ty;)*) => {
        /// The names of all calls.
        pub const CALLS: &[&str] = &[$(stringify!($name)),*];

        impl Call<'_> {
            async fn answer(&self, name: &str, request: Value) -> Result<Value> {
                match name {
                    $(stringify!($name) => {
                        let request: $request = parse(name, request)?;
                        answer(self.$name(request).await?)
                    })*
                    _ => Err(Failure::new(
                        Code::InvalidRequest,
                        format!("there is no call `{name}`"),
                    )),
                }
            }
        }

        #[cfg(test)]
        fn describe(types: &mut bindings::Types) {
            $(types.call::<$request, $response>(
                stringify!($name),
                concat!($($doc, "\n"),*),
            );)*
        }
    };
}

rpc! {
    /// What the program is and where it stands: the first call of every window.
    app_state(Nothing) -> surface::AppState;
    /// Starts the app anew, for what takes effect only then; where runs go on, the person is asked first.
    app_restart(Nothing) -> Nothing;
    /// A value a window wants to find again: drafts, positions, which help was seen.
    ui_state_get(surface::UiStateGetRequest) -> surface::UiStateGetResponse;
    /// Keeps such a value.
    ui_state_set(surface::UiStateSetRequest) -> Nothing;

    /// Runs, newest first.
    runs_list(runs::RunsListRequest) -> runs::RunsListResponse;
    /// Some runs as they are now.
    runs_get(runs::RunsGetRequest) -> runs::RunsListResponse;
    /// One run with everything that is known of it.
    run_detail(runs::RunRequestById) -> run_detail::RunDetail;
    /// What would keep a run from starting, and how to mend it.
    run_preflight(starts::RunStartRequest) -> preflight::RunPreflightResponse;
    /// Files and folders of the folder that a task would work in.
    paths_find(paths::PathsFindRequest) -> paths::PathsFindResponse;
    /// Keeps a picture that is no file yet, to be attached to a task.
    attachment_add(attachments::AttachmentAddRequest) -> attachments::AttachmentAdded;
    /// Removes such a picture, which is not attached after all.
    attachment_remove(attachments::AttachmentRemoveRequest) -> Nothing;
    /// Queues a run.
    run_start(starts::RunStartRequest) -> starts::RunStarted;
    /// Queues another run of the same task.
    run_retry(runs::RunRequestById) -> starts::RunStarted;
    /// Goes on with a run that ended without being done.
    run_continue(starts::RunContinueRequest) -> Nothing;
    /// Pauses, resumes, takes over, hands back, or says something.
    run_command(starts::RunCommandRequest) -> Nothing;
    /// Deletes a run that ended, with its pictures and files.
    run_delete(runs::RunRequestById) -> Nothing;
    /// Takes back words that the run has not heard yet.
    run_message_withdraw(starts::MessageWithdrawRequest) -> starts::MessageWithdrawn;
    /// Stops a run; returns once it has ended.
    run_stop(runs::RunRequestById) -> Nothing;
    /// Stops everything that is going.
    runs_stop_all(Nothing) -> starts::StoppedRuns;
    /// What an export would hold and what would be blacked out in it.
    run_export_preview(runs::RunRequestById) -> exports::ExportPreview;
    /// Writes a run into a new folder.
    run_export(exports::RunExportRequest) -> exports::RunExported;
    /// What a call of a tool answered, as the model was told.
    call_output(run_detail::CallOutputRequest) -> run_detail::CallOutput;
    /// Which calls of a run answered with some words.
    calls_find(run_detail::CallsFindRequest) -> run_detail::CallsFound;
    /// Brings back what a file held before a run changed it.
    change_undo(run_detail::ChangeUndoRequest) -> Nothing;

    /// Open questions, oldest first.
    approvals_list(Nothing) -> answers::ApprovalsListResponse;
    /// One question as it is now.
    approval_get(answers::ApprovalGetRequest) -> answers::ApprovalView;
    /// What a question would be with another command.
    approval_preview(edits::ApprovalPreviewRequest) -> edits::ApprovalPreview;
    /// Answers a question.
    approval_answer(answers::ApprovalAnswerRequest) -> answers::ApprovalAnswerResponse;
    /// Rules that a person made.
    rules_list(Nothing) -> answers::RulesListResponse;
    /// What a rule would mean, before it is made.
    rule_preview(answers::RulePreviewRequest) -> answers::RulePreview;
    /// Makes a rule.
    rule_add(answers::RuleAddRequest) -> answers::RuleView;
    /// Removes a rule.
    rule_remove(answers::RuleRemoveRequest) -> Nothing;

    /// Every setting with its value and where that comes from.
    settings_list(Nothing) -> settings::SettingsListResponse;
    /// Writes a setting into the file; without a value it goes back to the default.
    setting_set(settings::SettingSetRequest) -> settings::SettingView;

    /// Providers and models that are known.
    models_list(Nothing) -> models::ModelsListResponse;
    /// Asks a model for a sign of life.
    model_test(models::ModelTestRequest) -> models::ModelTestResponse;
    /// Providers and where their keys are; never a key.
    keys_list(Nothing) -> keys::KeysListResponse;
    /// Keeps a key.
    key_set(keys::KeySetRequest) -> keys::KeyView;
    /// Removes a kept key.
    key_remove(keys::KeyRemoveRequest) -> Nothing;
    /// Sends the cheapest request that proves a key.
    key_test(keys::KeyTestRequest) -> keys::KeyTestResponse;
    /// Protects the file of keys in another way.
    keys_protect(keys::KeysProtectRequest) -> Nothing;
    /// Opens the file of keys with a passphrase, until this process ends.
    keys_unlock(keys::KeysUnlockRequest) -> Nothing;
    /// Monitors of the person's display.
    monitors_list(Nothing) -> models::MonitorsListResponse;

    /// The hotkeys of the app, and whether each works.
    hotkeys_list(Nothing) -> desktop::HotkeysListResponse;

    /// How the server stands through which other agents reach the app over HTTP.
    mcp_server(Nothing) -> agents::McpServerView;
    /// Puts what another agent needs to connect on the clipboard; no page sees it.
    mcp_copy(Nothing) -> Nothing;

    /// The checks there are.
    checks_list(Nothing) -> diagnostics::ChecksListResponse;
    /// Performs one check.
    check_run(diagnostics::CheckRunRequest) -> diagnostics::CheckRunResponse;
    /// The newest entries of our logs.
    logs_read(logs::LogsReadRequest) -> logs::LogsReadResponse;
    /// Opens the practice window and clicks once in it. It takes the mouse for a moment.
    click_test(Nothing) -> diagnostics::CheckRunResponse;
    /// What a report for the developers would hold, file by file.
    report_preview(Nothing) -> diagnostics::ReportPreview;
    /// Writes the report into a new folder.
    report_create(diagnostics::ReportCreateRequest) -> exports::RunExported;

    /// Agent programs on this machine that can use us, and how each stands.
    hosts_list(Nothing) -> hosts::HostsListResponse;
    /// Everything about one of them, with the entry it would get.
    host_detail(hosts::HostPlace) -> hosts::HostDetailView;
    /// What a change would do to the file of a host. Writes nothing.
    host_preview(hosts::HostChangeRequest) -> hosts::HostPreviewView;
    /// Makes a change that was shown, if it is still the same; else shows what it would be now.
    host_change(hosts::HostApplyRequest) -> hosts::HostApplied;
    /// Starts what a host's file says, as the host would, and tells what was seen.
    host_verify(hosts::HostPlace) -> hosts::HostSeenView;
    /// Gives up what goes on with a file of a host and takes long; the file is as it was.
    host_give_up(hosts::HostPlace) -> Nothing;
    /// Makes a host of an agent that a person names. Writes nothing into its file.
    host_add(hosts::HostAddRequest) -> hosts::HostAdded;
    /// Forgets such an agent.
    host_forget(hosts::HostForgetRequest) -> Nothing;
    /// Whether the program that entries start is missing or out of date; copies it anew.
    host_program(hosts::HostProgramRequest) -> hosts::HostProgram;

    /// What runs took and how they came out, by day.
    insights_get(insights::InsightsRequest) -> insights::Insights;

    /// Starts the recorded demo.
    demo_start(demo::DemoStartRequest) -> starts::RunStarted;
    /// Removes what the demo made.
    demo_reset(Nothing) -> Nothing;
}
