//! Removing what is too old or too much, beside the runs.

use std::{sync::Arc, time::Duration};

use openspace_store::Prune;
use tokio_util::task::AbortOnDropHandle;

use crate::App;

/// How often: the desktop app goes on for weeks.
const EVERY: Duration = Duration::from_secs(60 * 60);

impl App {
    /// Removes old pictures now and every hour, until the answer is dropped. Nobody waits for it.
    pub(crate) fn prune_regularly(self: &Arc<Self>) -> AbortOnDropHandle<()> {
        let app = Arc::clone(self);
        AbortOnDropHandle::new(tokio::spawn(regularly(EVERY, async move || {
            app.prune().await;
        })))
    }

    /// Removes old pictures, and what deleted runs left behind.
    pub async fn prune(&self) {
        let values = self.values();
        let storage = &values.storage;
        let age = Duration::from_secs(u64::from(storage.frames_days) * 24 * 60 * 60);
        let limits = Prune {
            max_age: i64::try_from(age.as_millis()).unwrap_or(i64::MAX),
            max_bytes: (storage.frames_gb * 1e9) as u64,
        };
        let attached = self.kept_pictures();
        let pruned = self
            .store
            .spawn(move |store| {
                crate::attachments::prune(&attached, age);
                store.prune_frames(&limits)
            })
            .await;
        if let Err(error) = pruned {
            tracing::warn!(%error, "removing old pictures");
        }
    }
}

/// Does something at once and then after every `period`, however long it takes.
async fn regularly(period: Duration, mut work: impl AsyncFnMut()) {
    loop {
        work().await;
        tokio::time::sleep(period).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use openspace_store::{NewFrame, NewRun, RunStatus};
    use serde_json::json;

    use super::*;
    use crate::{
        GuardSeat,
        desk::double::{Seat, seat, within},
    };

    /// What is done regularly is done at once and again, until nobody wants it any more.
    #[tokio::test]
    async fn it_goes_on_until_it_is_dropped() {
        let done = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&done);
        let period = Duration::from_millis(5);
        let going = AbortOnDropHandle::new(tokio::spawn(regularly(period, async move || {
            counted.fetch_add(1, Ordering::SeqCst);
        })));
        assert!(within(|| done.load(Ordering::SeqCst) >= 3).await);
        drop(going);
        assert!(within(|| Arc::strong_count(&done) == 1).await);
    }

    /// A process that executes runs removes what is too much, without being asked.
    #[tokio::test(flavor = "multi_thread")]
    async fn whoever_executes_runs_prunes() {
        let Seat { desk, .. } = seat();
        let app = desk.app();
        std::fs::write(&app.paths.config, "[storage]\nframes_gb = 0.000001\n").expect("written");
        app.reload_settings().expect("right");
        let new = NewRun {
            session: None,
            text: "Look".to_owned(),
            origin: "cli".to_owned(),
            parent: None,
            idempotency_key: None,
            limits: json!({}),
            settings: json!({}),
        };
        let owner = app.instance.id().clone();
        let kept = app.store.spawn(move |store| {
            let fence = store.call_blocking(|db| {
                let run = db.runs().enqueue(&new)?.run;
                db.runs().claim(&run, &owner)
            })?;
            let fence = fence.expect("nobody else claims here");
            let frame = NewFrame {
                step: 1,
                media_type: "image/png".to_owned(),
                data: vec![0; 5_000].into(),
                width: 1,
                height: 1,
                display: ":0".to_owned(),
                geometry: json!({}),
                hash: "h".to_owned(),
            };
            let frame = store.keep_frame(&fence, &frame)?;
            store.call_blocking(|db| db.runs().finish(&fence, RunStatus::Done, None, None))?;
            Ok(frame)
        });
        let frame = kept.await.expect("kept");
        let cancel = tokio_util::sync::CancellationToken::new();
        let (executing, ends) = (Arc::clone(app), cancel.clone());
        let runs = tokio::spawn(async move {
            let guards = Arc::new(GuardSeat::default());
            executing.serve_runs(guards, None, ends).await;
        });
        let gone = || {
            let frame = app.store.read_blocking(|db| db.frames().get(&frame));
            frame.expect("its row stays").pruned
        };
        assert!(within(gone).await, "the picture is removed");
        cancel.cancel();
        runs.await.expect("ended");
    }
}
