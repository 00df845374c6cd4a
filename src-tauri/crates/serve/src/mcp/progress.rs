//! Telling a client that waits how far its task is.

use std::{future::Future, pin::Pin, time::Duration};

use openspace_app::{App, RunStatus, TaskState};
use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::{Peer, RequestContext},
};
use tokio::time::Instant;

/// Clients that begin to wait anew with each notification hear one at least this often.
const OFTEN: Duration = Duration::from_secs(5);

type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a client that asked for it is told. One notification at a time is under way: a client that
/// does not read is not told more.
pub(super) struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    began: Instant,
    told: Option<(RunStatus, u32)>,
    told_at: Instant,
    sending: Option<Sending>,
}

impl Progress {
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self {
            to: token.map(|token| (context.peer.clone(), token)),
            began: Instant::now(),
            told: None,
            told_at: Instant::now(),
            sending: None,
        }
    }

    /// Takes in where the task stands.
    pub(super) fn at(&mut self, app: &App, state: &TaskState) {
        let Some((peer, token)) = &self.to else {
            return;
        };
        let now = Instant::now();
        let news = (state.run.status, state.run.step);
        let due = self.told != Some(news) || now >= self.told_at + OFTEN;
        if !due || self.sending.is_some() {
            return;
        }
        self.told = Some(news);
        self.told_at = now;
        // Seconds rise with every notification, as they must; steps would not.
        let seconds = now.duration_since(self.began).as_secs_f64();
        let message = ProgressNotificationParam::new(token.clone(), seconds)
            .with_message(sentence(app, state));
        let peer = peer.clone();
        self.sending = Some(Box::pin(async move {
            if let Err(error) = peer.notify_progress(message).await {
                tracing::debug!(%error, "telling progress");
            }
        }));
    }

    /// Sends what is to be told; returns when it was sent, never when there is nothing.
    pub(super) async fn send(&mut self) {
        match &mut self.sending {
            Some(sending) => sending.await,
            None => std::future::pending().await,
        }
        self.sending = None;
    }
}

/// Where a task stands, in a line.
pub(super) fn sentence(app: &App, state: &TaskState) -> String {
    let run = &state.run;
    let status = app.catalogue.render(&format!("status.{}", run.status), &[]);
    match &run.step_label {
        Some(label) if run.step > 0 => app.catalogue.render(
            "mcp.progress.step",
            &[
                ("status", &status),
                ("step", &run.step.to_string()),
                ("tools", label),
            ],
        ),
        _ => status,
    }
}
