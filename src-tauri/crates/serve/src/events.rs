//! Events as server-sent events (HTML standard, section 9.2), from a cursor on.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::{Query, State},
    http::{HeaderMap, HeaderName, StatusCode},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use openspace_app::rpc::{Rpc, StoredEvent};
use serde::Deserialize;

/// So that a connection through which nothing is said is known to be alive.
const SAY_SOMETHING: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
pub(crate) struct From {
    after: Option<i64>,
}

/// Everything that happens after a position, for as long as the page listens.
pub(crate) async fn events(
    State(rpc): State<Rpc>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Response {
    let last = headers
        .get(HeaderName::from_static("last-event-id"))
        .and_then(|id| id.to_str().ok())
        .and_then(|id| id.parse().ok());
    let Some(after) = last.or(from.after) else {
        return (StatusCode::BAD_REQUEST, "say after which event: ?after=N").into_response();
    };
    let watch = match rpc.app().store.watch(after) {
        Ok(watch) => watch,
        Err(error) => {
            tracing::warn!(%error, "watching for a page");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let events = stream::unfold(watch, |mut watch| async {
        match watch.next().await {
            Ok(event) => {
                let event = StoredEvent::from(event);
                let id = event.id.to_string();
                let sent = Event::default().id(id).json_data(&event);
                Some((sent, watch))
            }
            // The page connects again and learns what is wrong from its next call.
            Err(error) => {
                tracing::warn!(%error, "reading events for a page");
                None
            }
        }
    });
    let told = stream::StreamExt::filter_map(events, |sent| async {
        match sent {
            Ok(event) => Some(Ok::<_, Infallible>(event)),
            Err(error) => {
                tracing::warn!(%error, "an event that cannot be written");
                None
            }
        }
    });
    Sse::new(told)
        .keep_alive(KeepAlive::new().interval(SAY_SOMETHING))
        .into_response()
}
