//! Sends an answer piece by piece, as slowly and as badly as the turn says.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

use crate::model::socket::Reset;
use crate::model::turn::{Fault, Turn};

/// Counts a request whose client went away before the answer was complete.
pub(in crate::model) struct Dropped {
    count: Arc<AtomicUsize>,
    complete: bool,
}

impl Dropped {
    pub(in crate::model) fn new(count: Arc<AtomicUsize>) -> Self {
        Self {
            count,
            complete: false,
        }
    }

    /// The client got all it was meant to get.
    pub(in crate::model) fn complete(&mut self) {
        self.complete = true;
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        if !self.complete {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// What is needed to send the rest.
pub(in crate::model) struct Playing {
    pieces: VecDeque<Vec<u8>>,
    per_delta: Duration,
    ending: Ending,
    reset: Reset,
    dropped: Dropped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Orderly,
    Reset,
    Silence,
}

/// The body of an answer.
pub(in crate::model) fn play(
    pieces: Vec<Vec<u8>>,
    turn: &Turn,
    reset: Reset,
    dropped: Dropped,
) -> Body {
    let ending = match turn.fault {
        Some(Fault::Reset) => Ending::Reset,
        Some(Fault::Stall) => Ending::Silence,
        _ => Ending::Orderly,
    };
    let playing = Playing {
        pieces: pieces.into(),
        per_delta: turn.per_delta,
        ending,
        reset,
        dropped,
    };
    Body::from_stream(stream::unfold(playing, next))
}

async fn next(mut playing: Playing) -> Option<(io::Result<Bytes>, Playing)> {
    if let Some(piece) = playing.pieces.pop_front() {
        tokio::time::sleep(playing.per_delta).await;
        return Some((Ok(piece.into()), playing));
    }
    match playing.ending {
        Ending::Orderly => {
            playing.dropped.complete();
            None
        }
        Ending::Reset => {
            // What was sent before shall arrive before the reset does.
            tokio::time::sleep(Duration::from_millis(30)).await;
            playing.dropped.complete();
            playing.reset.ask();
            Some((Err(io::ErrorKind::ConnectionReset.into()), playing))
        }
        Ending::Silence => std::future::pending().await,
    }
}
