//! Who may ask at all: the right host name and the right origin, on every route, and the token on
//! every route but the pages. Each listener has a token of its own, which opens nothing elsewhere.
//!
//! A page of another site can make a browser send requests here. It cannot choose the `Host` header,
//! which holds its own name when that name was made to point here (DNS rebinding), nor leave out
//! `Origin` where it reads answers or posts anything.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use openspace_app::{App, Failure};

use crate::{Token, http::Answer};

/// What is let through.
#[derive(Clone)]
pub(crate) struct Guard {
    /// The names of our own address, with its port.
    hosts: Vec<String>,
    server: SocketAddr,
    /// None only where a test of the protocol itself has none to send.
    token: Option<Token>,
    /// What needs no token.
    open: Open,
    app: Arc<App>,
    /// Connections that were looked at, so that each is looked at once.
    known: Arc<Mutex<HashMap<SocketAddr, Option<Failure>>>>,
}

/// Whether a request needs no token, by method and path.
type Open = fn(&Method, &str) -> bool;

/// Connections remembered at most; then all are looked at again.
const REMEMBERED: usize = 256;

impl Guard {
    /// For the pages and what they call.
    pub(crate) fn of_pages(server: SocketAddr, token: Token, app: Arc<App>) -> Self {
        Self::new(server, Some(token), is_page, app)
    }

    /// For agents: nothing is open.
    pub(crate) fn of_agents(server: SocketAddr, token: Option<Token>, app: Arc<App>) -> Self {
        Self::new(server, token, |_, _| false, app)
    }

    fn new(server: SocketAddr, token: Option<Token>, open: Open, app: Arc<App>) -> Self {
        let port = server.port();
        let mut hosts = vec![format!("{server}"), format!("localhost:{port}")];
        if server.is_ipv4() {
            hosts.push(format!("127.0.0.1:{port}"));
        }
        Self {
            hosts,
            server,
            token,
            open,
            app,
            known: Arc::default(),
        }
    }

    /// What came out of a run at the other end is refused, whatever token it found.
    async fn refused_peer(&self, client: SocketAddr) -> Option<Failure> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = known().get(&client) {
            return verdict.clone();
        }
        let (app, server) = (Arc::clone(&self.app), self.server);
        let looked = tokio::task::spawn_blocking(move || app.refuse_peer(client, server).err());
        let verdict = looked.await.unwrap_or_else(|error| {
            Some(Failure::new(
                openspace_app::Code::Internal,
                error.to_string(),
            ))
        });
        let mut known = known();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(client, verdict.clone());
        verdict
    }

    fn refusal(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<StatusCode> {
        let host = text(headers, &header::HOST);
        if !host.is_some_and(|host| self.hosts.iter().any(|known| known == host)) {
            return Some(StatusCode::MISDIRECTED_REQUEST);
        }
        let foreign = |origin: &str| {
            !self
                .hosts
                .iter()
                .any(|host| origin.strip_prefix("http://") == Some(host))
        };
        match headers.get(header::ORIGIN).map(HeaderValue::to_str) {
            Some(Ok(origin)) if !foreign(origin) => {}
            Some(_) => return Some(StatusCode::FORBIDDEN),
            None => {}
        }
        // Browsers say where a request comes from, also without `Origin` (Fetch Metadata).
        let site = text(headers, &header::HeaderName::from_static("sec-fetch-site"));
        if site.is_some_and(|site| site != "same-origin" && site != "none") {
            return Some(StatusCode::FORBIDDEN);
        }
        let token = self.token.as_ref().filter(|_| !(self.open)(method, path))?;
        let presented =
            text(headers, &header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        match presented {
            Some(presented) if token.is(presented) => None,
            _ => Some(StatusCode::UNAUTHORIZED),
        }
    }
}

/// The pages hold nothing of the person's.
fn is_page(method: &Method, path: &str) -> bool {
    let data = ["/rpc", "/events", "/frames", "/artefacts"];
    matches!(*method, Method::GET | Method::HEAD)
        && !data.iter().any(|route| {
            path.strip_prefix(route)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    // Twice the same header is nobody's honest request.
    values.next().is_none().then_some(value)
}

pub(crate) async fn check(
    State(guard): State<Guard>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let mut response = if let Some(status) = guard.refusal(method, path, request.headers()) {
        refused(status)
    } else if (guard.open)(method, path) {
        next.run(request).await
    } else if let Some(failure) = guard.refused_peer(client).await {
        (StatusCode::FORBIDDEN, Json(Answer::Failure(failure))).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in headers_of_all() {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

fn refused(status: StatusCode) -> Response {
    let mut response = status.into_response();
    if status == StatusCode::UNAUTHORIZED {
        // RFC 9110, section 11.6.1.
        let challenge = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// No other site may frame, embed or read what is answered, and nothing is loaded from elsewhere.
fn headers_of_all() -> [(header::HeaderName, &'static str); 5] {
    [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; img-src 'self' blob: data:; style-src 'self'; script-src 'self'; \
             connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ]
}
