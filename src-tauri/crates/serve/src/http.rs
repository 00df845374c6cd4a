//! The listener and its routes.

use std::net::SocketAddr;

use axum::{
    Json, Router,
    body::Body,
    extract::{DefaultBodyLimit, Path, Query, Request, State},
    http::{StatusCode, header},
    middleware,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use openspace_app::{
    Code, Failure,
    rpc::{Caller, Picture, Rpc},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    Error, Pages, Token, events,
    guard::{self, Guard, Peer},
};

/// Longest request, bytes: a picture of the most bytes in base64, and some.
const LONGEST: usize = 12 * 1024 * 1024;

/// What to serve and where.
pub struct Options {
    /// Loopback address; port 0 takes a free one.
    pub address: SocketAddr,
    /// What opens everything but the pages.
    pub token: Token,
    /// The pages.
    pub pages: Pages,
    /// Answers calls.
    pub rpc: Rpc,
}

/// A listener that answers until it is told to end.
pub struct Listening {
    /// Where, with the real port.
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Listening {
    /// The address to open in a browser. It holds the token in its fragment, which no browser sends
    /// anywhere.
    pub fn url(&self, token: &Token) -> String {
        format!(
            "http://127.0.0.1:{}/#token={}",
            self.address.port(),
            token.expose()
        )
    }

    /// Waits until it has ended.
    pub async fn ended(self) {
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the listener ended badly");
        }
    }
}

/// Begins to listen. Ends with `cancel`; streams of events end at once.
pub async fn listen(options: Options, cancel: CancellationToken) -> Result<Listening, Error> {
    let Options {
        address,
        token,
        pages,
        rpc,
    } = options;
    let (listener, address) = bind(address).await?;
    let app = std::sync::Arc::clone(rpc.app());
    let router = Router::new()
        .route("/rpc", post(call))
        .route("/events", get(events::events))
        .route("/frames/{id}", get(frame))
        .route("/artefacts/{id}", get(artefact))
        .with_state(rpc)
        .fallback(move |request: Request| {
            let pages = pages.clone();
            async move { pages.answer(request.uri().path()).await }
        })
        .layer(DefaultBodyLimit::max(LONGEST));
    let guard = Guard::of_pages(address, token, app);
    Ok(answer(listener, address, router, guard, cancel))
}

/// Takes an address that only this machine can reach.
pub(crate) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    if !address.ip().is_loopback() {
        return Err(Error::NotLoopback(address));
    }
    let failed = |source| Error::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Answers behind a guard until `cancel`.
pub(crate) fn answer(
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    guard: Guard,
    cancel: CancellationToken,
) -> Listening {
    let router = router.layer(middleware::from_fn_with_state(guard, guard::check));
    let task = tokio::spawn(async move {
        let service = router.into_make_service_with_connect_info::<Peer>();
        let serve = axum::serve(listener, service);
        tokio::select! {
            () = cancel.cancelled() => {}
            ended = serve => if let Err(error) = ended {
                tracing::warn!(%error, "serving");
            }
        }
    });
    Listening { address, task }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    request: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Ok(Value),
    Failure(Failure),
}

/// A call. Only JSON is taken: forms of other pages cannot send it.
async fn call(State(rpc): State<Rpc>, request: Request) -> Response {
    let json = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .map(|value| value.split(';').next().unwrap_or_default().trim());
    if json != Some("application/json") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
    }
    let Ok(body) = axum::body::to_bytes(Body::new(request.into_body()), LONGEST).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let call: Call = match serde_json::from_slice(&body) {
        Ok(call) => call,
        Err(error) => {
            let failure = Failure::new(
                Code::InvalidRequest,
                format!("the request cannot be read: {error}"),
            );
            return (StatusCode::BAD_REQUEST, Json(Answer::Failure(failure))).into_response();
        }
    };
    // In a task of its own: a page that goes away does not leave half of a call done.
    let answered =
        tokio::spawn(async move { rpc.call(Caller::Page, &call.name, call.request).await });
    let answer = match answered.await {
        Ok(Ok(value)) => Answer::Ok(value),
        Ok(Err(failure)) => Answer::Failure(failure),
        Err(error) => Answer::Failure(Failure::new(Code::Internal, error.to_string())),
    };
    Json(answer).into_response()
}

#[derive(Deserialize)]
struct Width {
    w: Option<u32>,
}

async fn frame(
    State(rpc): State<Rpc>,
    Path(id): Path<String>,
    Query(width): Query<Width>,
) -> Response {
    picture(rpc.frame(&id, width.w).await)
}

async fn artefact(State(rpc): State<Rpc>, Path(id): Path<String>) -> Response {
    let mut response = picture(rpc.artefact(&id).await);
    // Whatever a run produced is saved, never shown as a page of ours.
    response.headers_mut().insert(
        header::CONTENT_DISPOSITION,
        header::HeaderValue::from_static("attachment"),
    );
    response
}

fn picture(found: Result<Picture, Failure>) -> Response {
    match found {
        Ok(picture) => (
            [
                (header::CONTENT_TYPE, picture.media_type),
                (
                    header::CACHE_CONTROL,
                    "private, max-age=31536000, immutable".to_owned(),
                ),
            ],
            picture.data,
        )
            .into_response(),
        Err(failure) => {
            let status = match failure.code {
                Code::NotFound => StatusCode::NOT_FOUND,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            (status, Json(Answer::Failure(failure))).into_response()
        }
    }
}
