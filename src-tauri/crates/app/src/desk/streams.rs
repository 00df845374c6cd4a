//! What windows listen to: everything that happens, in bundles.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::task::AbortHandle;

use super::Desk;
use crate::{failure::Result, rpc::StoredEvent};

/// Events of this span are sent at once: a page paints no more often.
const GATHER: Duration = Duration::from_millis(16);
/// Most events of one message.
const MOST: usize = 256;

/// The streams of all windows.
#[derive(Debug, Default)]
pub struct Streams {
    last: AtomicU32,
    open: Mutex<HashMap<u32, (String, AbortHandle)>>,
}

impl Streams {
    /// Ends a stream of a window.
    pub fn close(&self, window: &str, stream: u32) {
        let mut open = self.locked();
        if open.get(&stream).is_some_and(|(of, _)| of == window)
            && let Some((_, task)) = open.remove(&stream)
        {
            task.abort();
        }
    }

    /// Ends all streams of a window: it loads another page, and nobody hears what the old one asked for.
    pub fn forget(&self, window: &str) {
        self.locked().retain(|_, (of, task)| {
            if of == window {
                task.abort();
            }
            of != window
        });
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<u32, (String, AbortHandle)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    /// Sends a window everything that happens after a position, until `send` says that nobody listens,
    /// or the stream is closed.
    pub fn listen(
        &self,
        window: &str,
        after: i64,
        send: impl Fn(Vec<StoredEvent>) -> bool + Send + 'static,
    ) -> Result<u32> {
        let mut watch = self.app().store.watch(after)?;
        let told = async move {
            loop {
                let first = match watch.next().await {
                    Ok(event) => event,
                    // The page's next call tells it what is wrong.
                    Err(error) => break tracing::warn!(%error, "reading events for a window"),
                };
                let mut events = vec![StoredEvent::from(first)];
                let end = tokio::time::Instant::now() + GATHER;
                while events.len() < MOST
                    && let Ok(Ok(event)) = tokio::time::timeout_at(end, watch.next()).await
                {
                    events.push(event.into());
                }
                if !send(events) {
                    break;
                }
            }
        };
        let id = self.streams.last.fetch_add(1, Ordering::Relaxed) + 1;
        let task = self.runtime.spawn(told).abort_handle();
        let mut open = self.streams.locked();
        open.retain(|_, (_, task)| !task.is_finished());
        open.insert(id, (window.to_owned(), task));
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicUsize};

    use super::*;
    use crate::{
        desk::double::{Seat, seat, within},
        rpc::desktop::HotkeyName,
    };

    /// A window hears what happens after it began, until it ends its own stream or loads another page.
    #[tokio::test(flavor = "multi_thread")]
    async fn windows_hear_until_they_leave() {
        let Seat { desk, .. } = seat();
        let count = |window: &str| {
            let heard = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&heard);
            let send = move |events: Vec<StoredEvent>| {
                counted.fetch_add(events.len(), Ordering::SeqCst);
                true
            };
            (desk.listen(window, 0, send).expect("it listens"), heard)
        };
        let (main, heard_by_main) = count("main");
        let (_, heard_by_hud) = count("hud");
        let happen = || async {
            let heard = desk.app().hear_hotkey(HotkeyName::Quick).await;
            heard.expect("it is kept");
        };
        let read = |heard: &AtomicUsize| heard.load(Ordering::SeqCst);
        happen().await;
        assert!(within(|| read(&heard_by_main) == 1 && read(&heard_by_hud) == 1).await);
        desk.streams.close("hud", main);
        happen().await;
        assert!(
            within(|| read(&heard_by_main) == 2).await,
            "not hud's to end"
        );
        desk.streams.close("main", main);
        desk.streams.forget("hud");
        happen().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!((read(&heard_by_main), read(&heard_by_hud)), (2, 2));
    }
}
