//! The transports over a port: streamable HTTP at `/mcp` and its predecessor at `/sse`, behind the
//! same guard as everything we serve.

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, extract::DefaultBodyLimit, middleware};
use openspace_app::App;
use rmcp::{
    ServerHandler,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::never::NeverSessionManager,
    },
};
use tokio_util::sync::CancellationToken;

use super::{Server, sessions, sse};
use crate::{
    Error, Listening, Token,
    guard::Guard,
    http::{answer, bind},
};

/// Longest request, bytes.
pub(super) const LONGEST: usize = 4 * 1024 * 1024;

/// Where to listen, and who is let in.
pub struct Listen {
    /// Loopback address; port 0 takes a free one.
    pub address: SocketAddr,
    /// What opens it.
    pub token: Token,
    /// Every request stands alone: no sessions, answers in one piece.
    pub stateless: bool,
}

/// Begins to listen. Ends with `cancel`; whoever waits for an answer then gets it first.
pub async fn listen(
    server: &Server,
    app: Arc<App>,
    options: Listen,
    cancel: CancellationToken,
) -> Result<Listening, Error> {
    let (listener, address) = bind(options.address).await?;
    let connections = server.clone();
    let connection = move || connections.connection();
    let router = router(server, connection, options.stateless, &cancel);
    let guard = Guard::of_agents(address, Some(options.token), app);
    Ok(answer(listener, address, router, guard, cancel))
}

/// The routes; `connection` makes what answers one conversation at `/mcp`.
pub(super) fn router<H: ServerHandler>(
    server: &Server,
    connection: impl Fn() -> H + Send + Sync + 'static,
    stateless: bool,
    cancel: &CancellationToken,
) -> Router {
    // Host and Origin are the guard's; it knows the port, and the library's list would not.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(!stateless)
        .with_json_response(stateless)
        .with_max_request_body_bytes(LONGEST)
        .with_cancellation_token(cancel.clone())
        .disable_allowed_hosts();
    let connection = move || Ok(connection());
    let streamable = if stateless {
        let none = Arc::new(NeverSessionManager::default());
        Router::new().route_service("/mcp", StreamableHttpService::new(connection, none, config))
    } else {
        let sessions = sessions::sessions();
        let service = StreamableHttpService::new(connection, Arc::clone(&sessions), config);
        Router::new()
            .route_service("/mcp", service)
            .layer(middleware::from_fn_with_state(sessions, sessions::limit))
    };
    streamable
        .merge(sse::routes(server, cancel))
        .layer(DefaultBodyLimit::max(LONGEST))
}
