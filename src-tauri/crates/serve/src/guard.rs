//! Who may ask at all: the right host name and the right origin, on every route, and the token on
//! every route but the pages. Each listener has a token of its own, which opens nothing elsewhere.
//!
//! A page of another site can make a browser send requests here. It cannot choose the `Host` header,
//! which holds its own name when that name was made to point here (DNS rebinding), nor leave out
//! `Origin` where it reads answers or posts anything.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json,
    extract::{ConnectInfo, Request, State, connect_info::Connected},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
    serve::IncomingStream,
};
use openspace_app::{App, Code, Failure};
use tokio::{net::TcpListener, sync::OnceCell};

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
}

/// Who is at the other end of one connection. Looked at once, and forgotten with it: whoever has the
/// same address later is somebody else.
#[derive(Clone)]
pub(crate) struct Peer {
    address: SocketAddr,
    refused: Arc<OnceCell<Option<Failure>>>,
}

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        Self {
            address: *stream.remote_addr(),
            refused: Arc::default(),
        }
    }
}

/// Whether a request needs no token, by method and path.
type Open = fn(&Method, &str) -> bool;

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
        }
    }

    /// What came out of a run at the other end is refused, whatever token it found.
    async fn refused_peer(&self, peer: &Peer) -> Option<Failure> {
        let look = async || {
            let (app, client, server) = (Arc::clone(&self.app), peer.address, self.server);
            let looked = tokio::task::spawn_blocking(move || app.refuse_peer(client, server));
            match looked.await {
                Ok(Ok(())) => Ok(None),
                Ok(Err(failure)) if failure.code == Code::Forbidden => Ok(Some(failure)),
                // Nothing is known yet: the next request looks again.
                Ok(Err(failure)) => Err(failure),
                Err(error) => Err(Failure::new(Code::Internal, error.to_string())),
            }
        };
        match peer.refused.get_or_try_init(look).await {
            Ok(refused) => refused.clone(),
            Err(failure) => Some(failure),
        }
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
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let mut response = if let Some(status) = guard.refusal(method, path, request.headers()) {
        refused(status)
    } else if (guard.open)(method, path) {
        next.run(request).await
    } else if let Some(failure) = guard.refused_peer(&peer).await {
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

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
