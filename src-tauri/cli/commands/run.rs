//! `openspace run`

use std::{io::Read as _, path::PathBuf, sync::Arc};

use openspace_app::{
    App, Catalogue, Code, Display, Environment, Failure, Fence, GuardSeat, Limits, Outcome, Reason,
    RunId, RunRequest, RunStatus, SpecAttendance,
};
use serde_json::json;

use crate::{
    args::RunArgs,
    exit::Exit,
    live::{self, Beginning, Show},
    output,
    signals::EndRequests,
    terminal::Terminal,
};

pub(crate) async fn run(arguments: RunArgs, environment: Environment) -> Result<Exit, Failure> {
    let attended = Terminal::open().is_some() && !arguments.json;
    let app = super::open(environment, attended, &[])?;
    app.refuse_runs("start runs of its own")?;
    let request = request(&arguments, attended)?;
    if arguments.detach {
        let queued = app.enqueue(&request).await?;
        app.ensure_runner().await?;
        output::note(
            &app.catalogue
                .render("run.queued", &[("run", queued.run.as_str())]),
        );
        output::line(queued.run.as_str());
        return Ok(Exit::Done);
    }
    super::keys::unlock_for_run(&app, arguments.model.as_deref(), attended).await?;
    let show = if arguments.json {
        Show::Json
    } else {
        Show::Lines
    };
    let beginning = Beginning::now(&app).await?;
    let (_, fence) = app.enqueue_claimed(&request).await?;
    execute(&app, fence, beginning, show, attended).await
}

fn request(arguments: &RunArgs, attended: bool) -> Result<RunRequest, Failure> {
    let mut task = arguments.task.clone();
    if task == "-" {
        task.clear();
        std::io::stdin()
            .read_to_string(&mut task)
            .map_err(|error| {
                Failure::new(
                    Code::InvalidRequest,
                    format!("the task cannot be read from standard input: {error}"),
                )
            })?;
    }
    Ok(RunRequest {
        task,
        session: arguments.session.clone(),
        origin: "cli".to_owned(),
        idempotency_key: None,
        model: arguments.model.clone(),
        backends: arguments.backends.clone(),
        workspace: arguments.workspace.clone(),
        folder: current_folder()?,
        limits: Limits {
            steps: arguments.max_steps,
            active_ms: arguments
                .max_minutes
                .map(|minutes| (minutes * 60_000.0) as u64),
            tokens: arguments.max_tokens,
            cost: arguments.max_cost,
        },
        preset: arguments.preset.clone(),
        allow: arguments.allow.clone(),
        display: Display::parse(arguments.display.as_deref()),
        monitor: arguments.monitor.clone(),
        attendance: attendance(attended, arguments.wait_approval),
        attachments: arguments.attach.clone(),
    })
}

pub(crate) fn attendance(attended: bool, wait: Option<std::time::Duration>) -> SpecAttendance {
    match wait {
        Some(wait) => {
            SpecAttendance::WaitsForMs(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
        }
        None if attended => SpecAttendance::Waits,
        None => SpecAttendance::Absent,
    }
}

pub(crate) fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::new(
            Code::InvalidRequest,
            format!("there is no current folder: {error}"),
        )
    })
}

/// Executes a claimed run here and shows what happens in it.
pub(crate) async fn execute(
    app: &Arc<App>,
    fence: Fence,
    beginning: Beginning,
    show: Show,
    attended: bool,
) -> Result<Exit, Failure> {
    super::adopt_orphans();
    let run = &fence.run().clone();
    let watching = tokio::spawn(live::watch(
        Arc::clone(app),
        run.clone(),
        beginning.cursor,
        show,
        attended,
    ));
    let stopping = tokio::spawn(stop_on_signals(
        Arc::clone(app),
        run.clone(),
        beginning.requests,
    ));
    let result = app.execute(fence, &GuardSeat::default()).await;
    stopping.abort();
    // The end has been stored; the lines about it follow within a moment.
    let shown = tokio::time::timeout(std::time::Duration::from_secs(2), watching).await;
    if let Ok(Ok(Err(failure))) = shown {
        output::failure(&failure);
    }
    let outcome = result?;
    report(&app.catalogue, run, &outcome, show);
    app.prune().await;
    Ok(Exit::of_status(outcome.status))
}

/// The first Ctrl-C (or a request to end) stops the run; a second one leaves at once, and the guard
/// cleans up. A closed terminal stops nothing: the run goes on.
async fn stop_on_signals(app: Arc<App>, run: RunId, mut requests: EndRequests) {
    let mut asked = false;
    loop {
        requests.next().await;
        if std::mem::replace(&mut asked, true) {
            leave();
        }
        output::note(&app.catalogue.render("run.stopping", &[]));
        if let Err(failure) = app.begin_stop(&run, "terminal").await {
            output::failure(&failure);
            leave();
        }
    }
}

#[expect(
    clippy::exit,
    reason = "a second Ctrl-C means now; the guard releases input and ends processes"
)]
fn leave() -> ! {
    std::process::exit(i32::from(Exit::Stopped.code()))
}

/// The answer on standard output, the rest on standard error.
pub(crate) fn report(catalogue: &Catalogue, run: &RunId, outcome: &Outcome, show: Show) {
    if show == Show::Json {
        output::json(
            &json!({ "kind": "result", "run": run, "outcome": outcome, "exitCode": Exit::of_status(outcome.status).code() }),
        );
        return;
    }
    if !outcome.answer.trim().is_empty() {
        output::line(&output::harmless(outcome.answer.trim()));
    }
    if let Some(reason) = &outcome.reason {
        output::note(&reason_text(catalogue, reason, outcome));
    }
    let mut paths: Vec<_> = openspace_app::changed_files(&outcome.evidence).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        output::note(&catalogue.render("run.changed", &[("path", &path.display().to_string())]));
    }
    let counted = |what: &str, count: String| {
        catalogue.render(&format!("run.summary.{what}"), &[("count", &count)])
    };
    output::note(&catalogue.render(
        "run.summary",
        &[
            (
                "status",
                &catalogue.render(&format!("status.{}", outcome.status), &[]),
            ),
            ("steps", &counted("steps", outcome.used.steps.to_string())),
            ("time", &output::duration(outcome.used.active_ms)),
            (
                "tokens",
                &counted("tokens", outcome.used.usage.total().to_string()),
            ),
        ],
    ));
    match outcome.status {
        RunStatus::NeedsYou => {
            output::note(&catalogue.render("run.answer", &[("run", run.as_str())]));
        }
        RunStatus::Failed
        | RunStatus::Stopped
        | RunStatus::LimitReached
        | RunStatus::Interrupted => {
            output::note(&catalogue.render("run.continue", &[("run", run.as_str())]));
        }
        _ => {}
    }
}

fn reason_text(catalogue: &Catalogue, reason: &Reason, outcome: &Outcome) -> String {
    let used = &outcome.used;
    match reason {
        Reason::Limit { limit } => {
            let name = serde_json::to_value(limit)
                .ok()
                .and_then(|name| name.as_str().map(str::to_owned))
                .unwrap_or_default();
            let used = match name.as_str() {
                "steps" => used.steps.to_string(),
                "time" => output::duration(used.active_ms),
                "tokens" => used.usage.total().to_string(),
                _ => used
                    .cost
                    .map_or_else(String::new, |cost| format!("{cost:.2} USD")),
            };
            catalogue.render(&format!("reason.limit.{name}"), &[("used", &used)])
        }
        Reason::Question { text } => {
            catalogue.render("reason.question", &[("text", &output::harmless(text))])
        }
        Reason::GaveUp { text } => {
            catalogue.render("reason.gave_up", &[("text", &output::harmless(text))])
        }
        Reason::NoEffect { actions } => {
            catalogue.render("reason.no_effect", &[("count", &actions.to_string())])
        }
        Reason::Model { message, .. } => {
            catalogue.render("reason.model", &[("message", &output::harmless(message))])
        }
        Reason::NotStarted { message } => catalogue.render(
            "reason.not_started",
            &[("message", &output::harmless(message))],
        ),
        Reason::Internal { message } => catalogue.render(
            "reason.internal",
            &[("message", &output::harmless(message))],
        ),
        Reason::Refused => catalogue.render("reason.refused", &[]),
        Reason::EmptyReplies => catalogue.render("reason.empty_replies", &[]),
        Reason::WaitingForModel => catalogue.render("reason.waiting_for_model", &[]),
        Reason::WaitingForScreen => catalogue.render("reason.waiting_for_screen", &[]),
        Reason::Paused { .. } => catalogue.render("status.paused", &[]),
    }
}
