//! Keys that work whatever has the focus, and what they do. None of it goes through a page, which may
//! hang.

use std::sync::Arc;

use openspace_store::{CommandKind, RunStatus};

use super::Desk;
use crate::{
    App, Code, Failure,
    failure::Result,
    rpc::desktop::{Hotkey, HotkeyState},
};

impl Desk {
    /// Takes the keys of the settings, and keeps which of them work for every surface that shows them.
    pub(super) fn take_hotkeys(self: &Arc<Self>) {
        let usable = if self.app().desktop.wayland_display().is_some() {
            // There programs have none.
            Err(None)
        } else {
            self.face.free_hotkeys().map_err(Some)
        };
        let hotkeys = self.app().hotkeys().map(|(name, keys)| {
            let (state, reason) = match &usable {
                _ if keys.trim().is_empty() => (HotkeyState::Off, None),
                Err(reason) => (HotkeyState::Unsupported, reason.clone()),
                Ok(()) => match self.face.take_hotkey(name, &keys) {
                    Ok(()) => (HotkeyState::Active, None),
                    Err(reason) => (HotkeyState::Refused, Some(reason)),
                },
            };
            if let Some(reason) = &reason {
                tracing::warn!(keys, reason, "a hotkey does not work");
            }
            Hotkey {
                name,
                keys,
                state,
                reason,
                heard_at: None,
            }
        });
        let desk = Arc::clone(self);
        self.runtime.spawn(async move {
            if let Err(failure) = desk.app().report_hotkeys(&hotkeys).await {
                tracing::warn!(%failure, "keeping which hotkeys work");
            }
        });
    }

    /// The keys of stop, approvals, quick and pause as a person reads them; empty where they do not
    /// work.
    pub(super) async fn working_keys(&self) -> [String; 4] {
        let asked = self.rpc().hotkeys().await.unwrap_or_default();
        let mut keys = asked.into_iter().map(|hotkey| match hotkey.state {
            HotkeyState::Active => readable(&hotkey.keys),
            _ => String::new(),
        });
        std::array::from_fn(|_| keys.next().unwrap_or_default())
    }

    /// The emergency stop: on a thread and a runtime of its own, so that nothing that is busy delays
    /// it.
    pub(super) fn stop_everything(self: &Arc<Self>) {
        // Before anything that may wait or fail.
        self.app().own_runs.stop_all();
        let desk = Arc::clone(self);
        let stop = move || {
            let stopped = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| Failure::new(Code::Internal, error.to_string()))
                .and_then(|runtime| runtime.block_on(desk.app().stop_all("app")));
            match stopped {
                Ok(runs) if runs.is_empty() => {}
                Ok(_) => desk.face.notify(&desk.told("stopped")),
                Err(failure) => {
                    tracing::error!(%failure, "stopping everything");
                    let told = match failure.code {
                        Code::StillStopping => "still_stopping",
                        _ => "stop_failed",
                    };
                    desk.face.notify(&desk.told(told));
                }
            }
        };
        let started = std::thread::Builder::new().name("stop".to_owned());
        if let Err(error) = started.spawn(stop) {
            tracing::error!(%error, "stopping everything");
        }
    }

    /// Pauses what runs; goes on with everything when all of it is paused.
    pub(super) fn pause_everything(self: &Arc<Self>) {
        let desk = Arc::clone(self);
        self.runtime.spawn(async move {
            if let Err(failure) = desk.app().pause_or_resume().await {
                tracing::error!(%failure, "pausing everything");
                desk.face.notify(&desk.told("pause_failed"));
            }
        });
    }
}

impl App {
    /// Every run is told, whatever becomes of telling another; one that has just ended wants nothing.
    async fn pause_or_resume(&self) -> Result<()> {
        let going = self.going().await?;
        let paused = |status| status == RunStatus::Paused;
        let all = going.iter().all(|run| paused(run.status));
        let kind = if all {
            CommandKind::Resume
        } else {
            CommandKind::Pause
        };
        let mut first = Ok(());
        for run in going.iter().filter(|run| paused(run.status) == all) {
            match self.command(&run.id, kind, None, "app").await {
                Err(failure) if failure.code != Code::WrongState => first = first.and(Err(failure)),
                Ok(()) | Err(_) => {}
            }
        }
        first
    }
}

/// `ctrl+alt+period` as keyboards name it.
fn readable(keys: &str) -> String {
    let named = keys.split('+').map(|key| match key.trim() {
        "period" => ".".to_owned(),
        "comma" => ",".to_owned(),
        key => {
            let mut letters = key.chars();
            let first = letters.next();
            first
                .map(|first| first.to_uppercase().chain(letters).collect())
                .unwrap_or_default()
        }
    });
    named.collect::<Vec<String>>().join("+")
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use openspace_store::{NewRun, RunId};

    use super::*;
    use crate::desk::double::{Seat, seat, within};

    /// Of two runs that are going, the newer one ends in the moment in which everything is paused: the
    /// other one is paused all the same, and nobody is told of a trouble.
    #[tokio::test(flavor = "multi_thread")]
    async fn one_that_has_just_ended_keeps_no_other_from_being_paused() {
        let Seat { desk, face } = seat();
        let store = desk.app().store.clone();
        let owner = desk.app().instance.id().clone();
        let begin = |text: &str| {
            let new = NewRun {
                session: None,
                text: text.to_owned(),
                origin: "app".to_owned(),
                parent: None,
                idempotency_key: None,
                limits: serde_json::json!({}),
                settings: serde_json::json!({}),
            };
            let begun = store.call_blocking(|db| {
                let queued = db.runs().enqueue(&new)?;
                db.runs().claim(&queued.run, &owner)
            });
            begun.expect("the store").expect("claimed")
        };
        let (older, newer) = (begin("older"), begin("newer"));
        let (locked, is_locked) = mpsc::channel();
        let ending = std::thread::spawn({
            let store = store.clone();
            move || {
                store.call_blocking(|db| {
                    locked.send(()).expect("somebody waits");
                    std::thread::sleep(Duration::from_millis(500));
                    db.runs().finish(&newer, RunStatus::Done, None, None)
                })
            }
        });
        is_locked.recv().expect("the lock");
        desk.chosen("pause");
        ending.join().expect("it ends").expect("stored");
        let paused = |run: &RunId| {
            let open = store.read_blocking(|db| db.commands().open(run));
            let open = open.expect("the store");
            open.iter().any(|it| it.kind == CommandKind::Pause)
        };
        assert!(within(|| paused(older.run())).await);
        assert_eq!(face.did(), [""; 0]);
    }

    /// Keys are shown as they are printed on a keyboard.
    #[test]
    fn keys_are_readable() {
        assert_eq!(readable("ctrl+alt+period"), "Ctrl+Alt+.");
        assert_eq!(readable("super + comma"), "Super+,");
        assert_eq!(readable("ctrl+alt+space"), "Ctrl+Alt+Space");
        assert_eq!(readable(""), "");
    }
}
