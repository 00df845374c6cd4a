//! A run as it happens.

use std::{
    collections::HashSet,
    io::{IsTerminal as _, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use openspace_app::{App, ApprovalId, ApprovalState, Code, Failure, RunEvent, RunId};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    output::{self, harmless},
    signals::EndRequests,
    terminal::{self, Terminal},
};

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Events as JSON on standard output.
    Json,
    /// Lines on standard error.
    Lines,
}

/// What is in place before a run is claimed, so that nothing that happens to it is missed.
pub(crate) struct Beginning {
    /// Where the watch begins.
    pub(crate) cursor: i64,
    /// Ctrl-C from now on.
    pub(crate) requests: EndRequests,
}

impl Beginning {
    pub(crate) async fn now(app: &App) -> Result<Self, Failure> {
        let requests = EndRequests::listen()
            .map_err(|error| Failure::new(Code::Internal, format!("no signals: {error}")))?;
        let cursor = app.store.read(|db| db.events().last_id()).await?;
        Ok(Self { cursor, requests })
    }
}

/// Shows a run's events from `cursor` on until it has ended or is dropped, and asks its questions
/// on the terminal if there is one.
pub(crate) async fn watch(
    app: Arc<App>,
    run: RunId,
    cursor: i64,
    show: Show,
    ask: bool,
) -> Result<(), Failure> {
    let mut events = app.store.watch(cursor)?;
    let mut lines = Lines::new();
    let questions = ask.then(|| Questions::start(&app));
    loop {
        let event = events.next().await?;
        if event.topic != "run" || event.key != run.as_str() {
            continue;
        }
        match show {
            Show::Json => output::json(&event),
            Show::Lines => lines.show(&app, &event),
        }
        match event.kind.as_str() {
            "run.approval_asked" | "run.approval_answered" => {
                if let (Some(questions), Some(id)) = (&questions, approval_id(&event)) {
                    if event.kind == "run.approval_asked" {
                        questions.put(id);
                    } else {
                        questions.close(id);
                    }
                }
            }
            "run.status" if ended(&event) => return Ok(()),
            _ => {}
        }
    }
}

fn approval_id(event: &RunEvent) -> Option<ApprovalId> {
    event
        .payload
        .get("approval")
        .and_then(Value::as_str)?
        .parse()
        .ok()
}

fn ended(event: &RunEvent) -> bool {
    let status = event
        .payload
        .get("status")
        .and_then(Value::as_str)
        .unwrap_or_default();
    [
        "done",
        "failed",
        "stopped",
        "limit_reached",
        "needs_you",
        "interrupted",
    ]
    .contains(&status)
}

/// Questions for the terminal, put one after another in their order: two prompts on one terminal
/// would take each other's answers.
struct Questions {
    open: mpsc::UnboundedSender<ApprovalId>,
    answered: Arc<Mutex<HashSet<ApprovalId>>>,
}

impl Questions {
    fn start(app: &Arc<App>) -> Self {
        let (open, mut next) = mpsc::unbounded_channel();
        let answered = Arc::<Mutex<HashSet<ApprovalId>>>::default();
        let (app, closed) = (Arc::clone(app), Arc::clone(&answered));
        tokio::spawn(async move {
            while let Some(id) = next.recv().await {
                if let Err(failure) = put_question(&app, id, &closed).await {
                    output::failure(&failure);
                }
            }
        });
        Self { open, answered }
    }

    fn put(&self, id: ApprovalId) {
        let _ended = self.open.send(id);
    }

    /// It was answered, here or elsewhere.
    fn close(&self, id: ApprovalId) {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.insert(id);
    }
}

async fn put_question(
    app: &Arc<App>,
    id: ApprovalId,
    answered: &Arc<Mutex<HashSet<ApprovalId>>>,
) -> Result<(), Failure> {
    let approval = app.find_question(id.as_str()).await?;
    if approval.state != ApprovalState::Open {
        return Ok(());
    }
    let text = terminal::describe(&approval, &app.catalogue)?;
    let offer_run = terminal::can_allow_for_run(&approval);
    let (asking, answered) = (Arc::clone(app), Arc::clone(answered));
    let answer = tokio::task::spawn_blocking(move || {
        let closed = || {
            let answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
            answered.contains(&id)
        };
        let mut terminal = Terminal::open()?;
        terminal::ask(&mut terminal, &text, offer_run, &asking.catalogue, &closed)
            .ok()
            .flatten()
    });
    if let Ok(Some(decision)) = answer.await {
        app.answer_on_terminal(&approval, decision, None).await?;
    }
    Ok(())
}

/// Plain lines, with the call that is under way rewritten in place on a terminal.
struct Lines {
    terminal: bool,
    step: u64,
    open: bool,
}

impl Lines {
    fn new() -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            step: 0,
            open: false,
        }
    }

    fn show(&mut self, app: &App, event: &RunEvent) {
        let text = |key: &str| {
            event
                .payload
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let number = |key: &str| {
            event
                .payload
                .get(key)
                .and_then(Value::as_u64)
                .unwrap_or_default()
        };
        let catalogue = &app.catalogue;
        match event.kind.as_str() {
            "step.call_started" => {
                let step = number("step");
                let arguments = event.payload.get("arguments").unwrap_or(&Value::Null);
                let line = harmless(&catalogue.call(text("tool"), arguments));
                let margin = if step == self.step {
                    String::new()
                } else {
                    step.to_string()
                };
                self.step = step;
                self.begin(&format!("{margin:>4}  {line}"));
            }
            "step.call_edited" => {
                let arguments = event.payload.get("arguments").unwrap_or(&Value::Null);
                let call = harmless(&catalogue.call(text("tool"), arguments));
                self.note(&catalogue.render("call.edited", &[("call", &call)]));
            }
            "step.call_finished" => {
                let failure = event.payload.get("failure").and_then(Value::as_str);
                let unchanged =
                    event.payload.get("visibleChange").and_then(Value::as_bool) == Some(false);
                let failed = event.payload.get("error").and_then(Value::as_bool) == Some(true);
                let key = match failure {
                    Some("denied") => "call.denied",
                    Some(_) => "call.failed",
                    None if unchanged => "call.no_change",
                    None if failed => "call.failed",
                    None => "call.ok",
                };
                let mut line = format!(
                    "{} ({})",
                    catalogue.render(key, &[]),
                    output::duration(number("ms"))
                );
                if key == "call.failed" || key == "call.denied" {
                    let message = harmless(text("message"));
                    line.push_str(": ");
                    line.extend(message.lines().next().unwrap_or_default().chars().take(200));
                }
                self.end(&line);
            }
            "model.waiting" => {
                let seconds = number("afterMs").div_ceil(1_000).to_string();
                let attempt = number("attempt").to_string();
                let values = [
                    ("reason", text("reason")),
                    ("attempt", &attempt),
                    ("seconds", &seconds),
                ];
                self.note(&catalogue.render("model.waiting", &values));
            }
            "model.restarted" => self.note(&catalogue.render("model.restarted", &[])),
            "run.no_screen" => self.note(text("message")),
            "run.key" => {
                let key = format!("key.from.{}", text("source"));
                self.note(&catalogue.render(&key, &[("variable", text("variable"))]));
            }
            "run.status" => {
                let status = text("status");
                if let Some(reason) = waiting_reason(text("reason")) {
                    self.note(&catalogue.render(&reason, &[]));
                } else if status == "needs_approval" || status == "paused" {
                    self.note(&catalogue.render(&format!("status.{status}"), &[]));
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, line: &str) {
        self.close();
        if self.terminal {
            let mut stderr = std::io::stderr();
            let _closed = write!(stderr, "{line} …");
            let _closed = stderr.flush();
            self.open = true;
        } else {
            output::note(line);
        }
    }

    fn end(&mut self, result: &str) {
        if self.open {
            self.open = false;
            output::note(&format!(" {result}"));
        } else {
            output::note(&format!("      {result}"));
        }
    }

    fn note(&mut self, line: &str) {
        self.close();
        output::note(&format!("      {line}"));
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            output::note("");
        }
    }
}

/// The sentence for a reason that is worth a line while a run goes.
fn waiting_reason(reason: &str) -> Option<String> {
    let reason: Value = serde_json::from_str(reason).ok()?;
    let kind = reason.get("kind")?.as_str()?;
    match kind {
        "waiting_for_screen" => Some(format!("reason.{kind}")),
        "paused" => Some(format!("reason.paused.{}", reason.get("pause")?.as_str()?)),
        _ => None,
    }
}
