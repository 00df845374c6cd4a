//! The server: reads, checks, asks the script, answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::answer::{Answer, Dropped, play, render};
use super::check;
use super::read::{Reading, without_pictures};
use super::refusal::{Refusal, error_body};
use super::rules::Rules;
use super::seen::{Dialect, SeenRequest};
use super::socket::{Listener, Reset};
use super::turn::{Fault, Script, Stop, Turn};
use crate::wait::wait_until;

/// More than any service reads; beyond it the connection is closed.
const HARD_LIMIT: usize = 200 << 20;

/// A rule that a request broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which request, from 0.
    pub request: usize,
    /// One word: `key`, `version`, `beta`, `content-type`, `body-size`, `secret`, `json`, `fields`,
    /// `model`, `roles`, `empty`, `pairs`, `calls`, `thinking`, `image`, `image-bytes`,
    /// `image-class`, `image-count`, `image-many`, `display`, `tools`, `schema`, `cache`, `path`,
    /// `script`.
    pub rule: &'static str,
    /// What was answered.
    pub message: String,
}

/// A running model; it stops listening on drop.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

#[derive(Debug)]
struct Shared {
    rules: Rules,
    script: Mutex<Script>,
    log: Mutex<Log>,
    arrived: AtomicUsize,
    dropped: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Vec<Arc<SeenRequest>>,
    violations: Vec<Violation>,
}

impl ModelServer {
    /// Starts on a free port of the loopback with the default rules.
    pub fn start(script: impl Into<Script>) -> Result<Self> {
        Self::start_with(script, Rules::default())
    }

    /// Starts with other rules. May be called inside and outside of an async runtime.
    pub fn start_with(script: impl Into<Script>, rules: Rules) -> Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).context("binding a port")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            rules,
            script: Mutex::new(script.into()),
            log: Mutex::default(),
            arrived: AtomicUsize::new(0),
            dropped: Arc::default(),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("test-model")
            .enable_all()
            .build()?;
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared))
            .into_make_service_with_connect_info::<Reset>();
        runtime.spawn(async move {
            // The only failure is a listener that is not one of tokio's, which cannot be.
            if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                axum::serve(Listener(listener), router).await.ok();
            }
        });
        Ok(Self {
            address,
            shared,
            runtime: Some(runtime),
        })
    }

    /// `http://127.0.0.1:port`, the base address in Anthropic's convention.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:port/v1`, the base address in OpenAI's convention.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The key clients must use; empty when the rules ask for none.
    pub fn key(&self) -> String {
        self.shared.rules.key.clone().unwrap_or_default()
    }

    /// The requests for a reply so far, refused ones included.
    pub fn requests(&self) -> Vec<Arc<SeenRequest>> {
        self.shared.log().requests.clone()
    }

    /// Waits until at least `count` requests have come; false when they did not.
    pub fn wait_for_requests(&self, count: usize, limit: Duration) -> bool {
        wait_until(limit, || self.shared.log().requests.len() >= count)
    }

    /// What was broken so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.shared.log().violations.clone()
    }

    /// The same, and forgets them: for tests that break a rule on purpose.
    pub fn take_violations(&self) -> Vec<Violation> {
        std::mem::take(&mut self.shared.log().violations)
    }

    /// How many answers the client did not wait for.
    pub fn dropped(&self) -> usize {
        self.shared.dropped.load(Ordering::SeqCst)
    }

    /// How many listed turns were not asked for.
    pub fn turns_left(&self) -> usize {
        lock(&self.shared.script).left()
    }

    /// Goes on with another script.
    pub fn set_script(&self, script: impl Into<Script>) {
        *lock(&self.shared.script) = script.into();
    }

    /// Fails the test when any request broke a rule.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(
            violations.is_empty(),
            "the model was sent wrong requests: {violations:#?}"
        );
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // In the background, because a test's own runtime may be around this one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    fn record(&self, request: usize, refusals: &[Refusal]) {
        self.log()
            .violations
            .extend(refusals.iter().map(|refusal| Violation {
                request,
                rule: refusal.rule,
                message: refusal.message.clone(),
            }));
    }

    /// Refuses for the first of the reasons and remembers all.
    fn refuse(&self, request: usize, dialect: Dialect, refusals: &[Refusal]) -> Response {
        self.record(request, refusals);
        let first = &refusals[0];
        send(Answer::json(first.status, &first.body(dialect)))
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(reset): ConnectInfo<Reset>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let headers = plain(&parts.headers);
    let dialect = match path.as_str() {
        "/v1/chat/completions" => Dialect::Chat,
        "/v1/responses" => Dialect::Responses,
        _ if path.starts_with("/v1/messages") => Dialect::Messages,
        _ if headers.contains_key("anthropic-version") => Dialect::Messages,
        _ => Dialect::Chat,
    };
    let known = matches!(
        path.as_str(),
        "/v1/chat/completions" | "/v1/responses" | "/v1/messages"
    );
    if parts.method == Method::GET && (path == "/v1/models" || path.starts_with("/v1/models/")) {
        return models(&shared, dialect, &headers, &path);
    }
    let index = shared.arrived.fetch_add(1, Ordering::SeqCst);
    if parts.method != Method::POST || !known {
        let message = format!("Not found: {} {path}", parts.method);
        return shared.refuse(
            index,
            dialect,
            &[Refusal::with_status("path", 404, message)],
        );
    }
    let Ok(bytes) = to_bytes(body, HARD_LIMIT).await else {
        let refusal = Refusal::with_status("body-size", 413, "Request exceeds the maximum size");
        return shared.refuse(index, dialect, &[refusal]);
    };
    let mut dropped = Dropped::new(Arc::clone(&shared.dropped));
    // Checking decodes pictures and a script may read text, both too slow for an async thread.
    let worker = Arc::clone(&shared);
    let thought =
        tokio::task::spawn_blocking(move || think(&worker, index, dialect, headers, &bytes));
    let (turn, seen) = match thought.await {
        Ok(Ok(thought)) => thought,
        Ok(Err(refusals)) => {
            dropped.complete();
            return shared.refuse(index, dialect, &refusals);
        }
        Err(panic) => {
            dropped.complete();
            let refusal = Refusal::new("script", format!("the script panicked: {panic}"));
            return shared.refuse(index, dialect, &[refusal]);
        }
    };
    tokio::time::sleep(turn.before).await;
    if turn.fault == Some(Fault::NeverAnswer) {
        std::future::pending::<()>().await;
    }
    let mut answer = render(&turn, &seen);
    let pieces = std::mem::take(&mut answer.pieces);
    respond(answer, play(pieces, &turn, reset, dropped))
}

/// Reads and checks a request and asks the script for a turn.
fn think(
    shared: &Shared,
    index: usize,
    dialect: Dialect,
    headers: BTreeMap<String, String>,
    bytes: &[u8],
) -> Result<(Turn, Arc<SeenRequest>), Vec<Refusal>> {
    let mut refusals = check::envelope(dialect, &headers, bytes, &shared.rules);
    let mut body: Value = serde_json::from_slice(bytes).map_err(|error| {
        refusals.push(Refusal::new(
            "json",
            format!("The request body is not valid JSON: {error}"),
        ));
        std::mem::take(&mut refusals)
    })?;
    let reading = Reading::of(dialect, &body);
    let whole = body.clone();
    without_pictures(&mut body);
    let seen = Arc::new(SeenRequest {
        index,
        dialect,
        at: Instant::now(),
        headers,
        model: whole["model"].as_str().unwrap_or_default().to_owned(),
        stream: whole["stream"] == true,
        bytes: bytes.len(),
        body,
        messages: reading.messages,
        tools: reading.tools,
    });
    shared.log().requests.push(Arc::clone(&seen));
    refusals.extend(reading.refusals);
    refusals.extend(check::content(&seen, &whole, &shared.rules));
    if !refusals.is_empty() {
        return Err(refusals);
    }
    if is_probe(&seen) {
        return Ok((Turn::done("Ok").stopping(Stop::MaxTokens), seen));
    }
    let turn = lock(&shared.script).next(&seen);
    match turn {
        Some(turn) => Ok((turn, seen)),
        None => Err(vec![Refusal::new(
            "script",
            "the script has no turn left for this request",
        )]),
    }
}

/// A request for one token asks whether the service is there; it uses up no turn.
fn is_probe(seen: &SeenRequest) -> bool {
    ["max_tokens", "max_completion_tokens", "max_output_tokens"]
        .iter()
        .any(|field| seen.body[*field] == 1)
}

fn models(
    shared: &Shared,
    dialect: Dialect,
    headers: &BTreeMap<String, String>,
    path: &str,
) -> Response {
    if !check::authorised(dialect, headers, &shared.rules) {
        let message = super::refusal::usual_message(dialect, 401);
        return send(Answer::json(401, &error_body(dialect, 401, message)));
    }
    let names = if shared.rules.models.is_empty() {
        vec!["test-model".to_owned()]
    } else {
        shared.rules.models.clone()
    };
    let describe = |name: &String| match dialect {
        Dialect::Messages => json!({
            "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z",
        }),
        Dialect::Chat | Dialect::Responses => json!({
            "id": name, "object": "model", "created": 1_790_000_000, "owned_by": "testkit",
        }),
    };
    if let Some(wanted) = path.strip_prefix("/v1/models/") {
        let found = shared.rules.models.is_empty() || names.iter().any(|name| name == wanted);
        return send(if found {
            Answer::json(200, &describe(&wanted.to_owned()))
        } else {
            Answer::json(404, &error_body(dialect, 404, &format!("model: {wanted}")))
        });
    }
    let list: Vec<Value> = names.iter().map(describe).collect();
    send(Answer::json(
        200,
        &match dialect {
            Dialect::Messages => json!({
                "data": list, "has_more": false, "first_id": names.first(), "last_id": names.last(),
            }),
            Dialect::Chat | Dialect::Responses => json!({"object": "list", "data": list}),
        },
    ))
}

fn plain(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut plain = BTreeMap::<String, String>::new();
    for (name, value) in headers {
        let value = value.to_str().unwrap_or_default();
        plain
            .entry(name.as_str().to_owned())
            .and_modify(|known| {
                known.push(',');
                known.push_str(value);
            })
            .or_insert_with(|| value.to_owned());
    }
    plain
}

fn send(mut answer: Answer) -> Response {
    let body = Body::from(std::mem::take(&mut answer.pieces).concat());
    respond(answer, body)
}

fn respond(answer: Answer, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::IM_A_TEAPOT);
    let headers = response.headers_mut();
    if let Ok(value) = answer.content_type.parse() {
        headers.insert(header::CONTENT_TYPE, value);
    }
    if let Some(Ok(value)) = answer.retry_after.map(|text| text.parse()) {
        headers.insert(header::RETRY_AFTER, value);
    }
    response
}
