//! The HTTP transport of 2024-11-05: a stream of events down, and posts up to an address that the
//! stream's first event names. Many hosts still speak it.

use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{get, post},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::{SinkExt as _, StreamExt as _, stream};
use rmcp::{
    RoleServer, ServiceExt as _,
    model::{ClientJsonRpcMessage, GetExtensions as _, JsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard, PollSender};

use super::{Server, sessions};

/// Where messages are posted to.
const MESSAGES: &str = "/messages";
/// Messages on their way, each direction.
const WAITING: usize = 64;
const SAY_SOMETHING: Duration = Duration::from_secs(15);

type Inbox = mpsc::Sender<RxJsonRpcMessage<RoleServer>>;

/// The streams that are open, by the id that posts name them by.
#[derive(Clone)]
struct Streams {
    server: Server,
    open: Arc<Mutex<HashMap<String, Inbox>>>,
    cancel: CancellationToken,
}

/// An open stream; dropped with the connection.
struct Open {
    id: String,
    streams: Streams,
    /// What waits for an answer is not wanted any more.
    _ends: DropGuard,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.streams.open().remove(&self.id);
    }
}

impl Streams {
    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, Inbox>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The routes.
pub(super) fn routes(server: &Server, cancel: &CancellationToken) -> Router {
    let streams = Streams {
        server: server.clone(),
        open: Arc::default(),
        cancel: cancel.clone(),
    };
    Router::new()
        .route("/sse", get(listen))
        .route(MESSAGES, post(take))
        .with_state(streams)
}

async fn listen(State(streams): State<Streams>) -> Response {
    // Whoever knows the id may speak for the client, so it is as hard to guess as a key.
    let mut bytes = [0_u8; 16];
    if getrandom::fill(&mut bytes).is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let id = URL_SAFE_NO_PAD.encode(bytes);
    let (inbox, received) = mpsc::channel(WAITING);
    {
        let mut open = streams.open();
        if open.len() >= sessions::MOST {
            return sessions::full();
        }
        open.insert(id.clone(), inbox);
    }
    let ended = streams.cancel.child_token();
    let (outbox, sent) = mpsc::channel::<TxJsonRpcMessage<RoleServer>>(WAITING);
    let sink = PollSender::new(outbox).sink_map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe));
    let received = stream::unfold(received, |mut received| async {
        received.recv().await.map(|message| (message, received))
    });
    let (server, token) = (streams.server.connection(), ended.clone());
    tokio::spawn(async move {
        let serving = server.serve_with_ct((sink, Box::pin(received)), token);
        match Box::pin(serving).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::warn!(%error, "a stream ended badly");
                }
            }
            Err(error) => tracing::info!(%error, "no conversation began"),
        }
    });
    let endpoint = Event::default()
        .event("endpoint")
        .data(format!("{MESSAGES}?session_id={id}"));
    let open = Open {
        id,
        streams,
        _ends: ended.clone().drop_guard(),
    };
    let messages = stream::unfold((sent, open), |(mut sent, open)| async {
        let message = sent.recv().await?;
        let event = Event::default().event("message").json_data(&message);
        Some((event, (sent, open)))
    });
    let told = messages.filter_map(|event| async {
        match event {
            Ok(event) => Some(Ok::<_, Infallible>(event)),
            Err(error) => {
                tracing::warn!(%error, "a message that cannot be written");
                None
            }
        }
    });
    let first = stream::once(async { Ok(endpoint) });
    Sse::new(first.chain(told).take_until(ended.cancelled_owned()))
        .keep_alive(KeepAlive::new().interval(SAY_SOMETHING))
        .into_response()
}

#[derive(Deserialize)]
struct Address {
    #[serde(alias = "sessionId")]
    session_id: String,
}

async fn take(
    State(streams): State<Streams>,
    Query(address): Query<Address>,
    headers: HeaderMap,
    parts: Parts,
    body: Bytes,
) -> Response {
    let json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .map(|value| value.split(';').next().unwrap_or_default().trim());
    if json != Some("application/json") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
    }
    let inbox = streams.open().get(&address.session_id).cloned();
    let Some(inbox) = inbox else {
        return (StatusCode::NOT_FOUND, "there is no such stream").into_response();
    };
    let mut message: ClientJsonRpcMessage = match serde_json::from_slice(&body) {
        Ok(message) => message,
        Err(error) => {
            return (StatusCode::BAD_REQUEST, format!("no message: {error}")).into_response();
        }
    };
    if let JsonRpcMessage::Request(request) = &mut message {
        request.request.extensions_mut().insert(parts);
    }
    match inbox.send(message).await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(_) => (StatusCode::NOT_FOUND, "the stream has ended").into_response(),
    }
}
