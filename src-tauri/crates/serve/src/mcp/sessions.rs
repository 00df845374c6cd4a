//! Sessions of streamable HTTP, of which there are only so many.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use serde_json::json;

use std::time::Duration;

/// Most sessions at a time. Each takes about 50 kB, however little it is used.
pub(super) const MOST: usize = 256;
/// A session nobody uses ends after this long; hosts keep theirs for a working day.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// Where the sessions are.
pub(super) fn sessions() -> Arc<LocalSessionManager> {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = config;
    Arc::new(sessions)
}

/// Refuses a request that would begin one more than there may be. Requests of protocols without
/// sessions name their version in a header, and begin none.
pub(super) async fn limit(
    State(sessions): State<Arc<LocalSessionManager>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let has_session = headers.contains_key("mcp-session-id");
    let without_sessions = headers
        .get("mcp-protocol-version")
        .and_then(|version| version.to_str().ok())
        .is_some_and(|version| version >= "2026-07-28");
    let begins = request.method() == Method::POST && !has_session && !without_sessions;
    if begins && sessions.sessions.read().await.len() >= MOST {
        return full();
    }
    next.run(request).await
}

/// Too many at once; some will end.
pub(super) fn full() -> Response {
    let error = json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": { "code": -32_000, "message": format!("there are {MOST} sessions already; close one or try again later") },
    });
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, Json(error)).into_response();
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, header::HeaderValue::from_static("30"));
    response
}
