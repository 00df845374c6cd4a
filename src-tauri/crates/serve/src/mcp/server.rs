//! What answers requests, whatever transport they come by.

use std::{
    borrow::Cow,
    collections::HashSet,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::FutureExt as _;
use openspace_app::{App, Approval, ApprovalId, Code, Failure, HostCaller, hosts::Introduction};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
        GetTaskParams, GetTaskResult, Implementation, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext},
};
use tokio_util::sync::CancellationToken;

use super::{
    asking,
    call::Call,
    cancellations::Cancellations,
    introduced::Introduced,
    open_questions::OpenQuestions,
    opening::Opening,
    reply, tasks,
    tools::{INSTRUCTIONS, Tools},
    waiting::Bell,
};

/// Questions that are remembered as told; more have never been open at once.
const REMEMBERED: usize = 1_000;

/// Answers the requests of one connection. Clones share everything; [`Server::connection`] begins
/// another connection.
#[derive(Clone)]
pub struct Server {
    pub(super) shared: Arc<Shared>,
    pub(super) cancellations: Cancellations,
    pub(super) questions: OpenQuestions,
    /// The host whose entry started this, as the entry says.
    entry: Option<Arc<str>>,
}

/// What all connections of a process share.
pub(super) struct Shared {
    opening: Opening,
    pub(super) tools: Tools,
    pub(super) bell: Bell,
    /// The process is ending: whoever waits is answered now.
    pub(super) closing: CancellationToken,
    /// Questions that hosts were told of.
    told: Mutex<HashSet<ApprovalId>>,
    /// Who hears of clients.
    pub(super) introduced: Introduced,
}

impl Server {
    /// A server over a program that is opened when it is needed.
    pub fn new(opening: Opening) -> Self {
        Self::with(opening, Introduced::default())
    }

    /// The same, telling of every client that connects. It is told beside the answers, so that no
    /// client waits for it.
    pub fn telling(
        opening: Opening,
        tell: impl Fn(Introduction) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        Self::with(opening, Introduced::to(tell))
    }

    /// For an app that is open already, which keeps who connects.
    pub fn of(app: &Arc<App>) -> Self {
        let keeps = Arc::clone(app);
        Self::telling(Opening::now(Arc::clone(app)), move |client| {
            keeps.client_connected(&client)
        })
    }

    fn with(opening: Opening, introduced: Introduced) -> Self {
        Self {
            shared: Arc::new(Shared {
                opening,
                tools: Tools::standard(),
                bell: Bell::default(),
                closing: CancellationToken::new(),
                told: Mutex::default(),
                introduced,
            }),
            cancellations: Cancellations::default(),
            questions: OpenQuestions::default(),
            entry: None,
        }
    }

    /// The same, started by the entry of this host.
    #[must_use]
    pub fn started_by(self, entry: Option<&str>) -> Self {
        Self {
            entry: entry.map(Into::into),
            ..self
        }
    }

    /// The same server for another connection, whose requests have numbers of their own, and whose
    /// client shows questions of its own.
    pub fn connection(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            cancellations: Cancellations::default(),
            questions: OpenQuestions::default(),
            entry: self.entry.clone(),
        }
    }

    /// Whoever waits is answered now; the process is about to end.
    pub fn close(&self) {
        self.shared.closing.cancel();
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let answering = self.cancellations.begin(context.id.clone());
        let app = self.shared.opening.app().await?;
        let mut call = Call {
            server: self,
            app,
            context,
            answering,
            host: self.caller(app, context),
            asked: HashSet::new(),
        };
        call.answer(request).await
    }

    /// Who calls.
    fn caller(&self, app: &App, context: &RequestContext<RoleServer>) -> HostCaller {
        let client = context.client_info();
        let name = client.map(|client| client.name).unwrap_or_default();
        app.host_caller(self.entry.as_deref(), &name)
    }
}

/// The library never answers a request whose handler panics, and the client would wait for ever.
async fn caught<T>(answering: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let answered = AssertUnwindSafe(answering).catch_unwind().await;
    answered.unwrap_or_else(|_| {
        Err(
            Failure::new(Code::Internal, "the tool failed inside OpenSpace")
                .hint("try again; if it happens again, `openspace doctor` may say why"),
        )
    })
}

impl Shared {
    pub(super) fn tell(&self, questions: &[Approval]) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= REMEMBERED {
            told.clear();
        }
        told.extend(questions.iter().map(|question| question.id.clone()));
    }

    /// All of these were told to a host before.
    pub(super) fn was_told(&self, questions: &[Approval]) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        questions.iter().all(|question| told.contains(&question.id))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tasks()
            .build();
        let name = Implementation::new("openspace", env!("CARGO_PKG_VERSION"))
            .with_title("OpenSpace")
            .with_description("Does tasks on this computer: screen, programs, commands, files");
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.shared.introduced.asked(&context);
        Ok(ListToolsResult::with_all_items(self.shared.tools.all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tools.get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.shared.tools.get(&request.name).is_none() {
            let message: Cow<'static, str> = format!("there is no tool `{}`", request.name).into();
            return Err(ErrorData::invalid_params(message, None));
        }
        self.shared.introduced.asked(&context);
        let answered = caught(self.call(request, &context)).await;
        Ok(answered.unwrap_or_else(|failure| reply::failed(&failure).into()))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let found = caught(async {
            let app = self.shared.opening.app().await?;
            let report = app.task_report(&request.task_id).await?;
            let can_ask = asking::dialect(&context).is_some();
            Ok(tasks::detail(
                app,
                &report,
                &self.caller(app, &context),
                can_ask,
            ))
        });
        found.await.map_err(|failure| tasks::error(&failure))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let taken = caught(async {
            let app = self.shared.opening.app().await?;
            let state = app.task_state(&request.task_id).await?;
            let caller = self.caller(app, &context);
            asking::take(app, &caller, &state, &request.input_responses).await
        });
        taken.await.map_err(|failure| tasks::error(&failure))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let stopped = caught(async {
            let app = self.shared.opening.app().await?;
            let state = app.task_state(&request.task_id).await?;
            // One that has ended is not stopped, and that is no error.
            if state.run.status.is_final() {
                return Ok(());
            }
            let caller = self.caller(app, &context);
            app.cancel_task(&request.task_id, &caller.name).await
        });
        stopped.await.map_err(|failure| tasks::error(&failure))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.introduced.shook_hands(&context);
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        if let Some(id) = &notification.request_id {
            self.cancellations
                .cancelled(id, notification.reason.as_deref());
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
