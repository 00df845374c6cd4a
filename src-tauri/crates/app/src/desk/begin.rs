//! How the app begins and ends.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{Ask, Desk, Place};
use crate::{App, Catalogue, become_subreaper, rpc::desktop::HotkeyName};
#[cfg(target_os = "linux")]
use crate::{SCHEMA, Settings, SettingsFile};

/// How long runs may take to end when the app quits; then their guard ends what is left.
const FAREWELL: Duration = Duration::from_secs(8);
/// Where the place of the main window is kept, and whether the tray was explained.
const PLACE: &str = "desktop.window";
const EXPLAINED: &str = "desktop.tray_explained";

impl Desk {
    /// Executes queued runs, takes the hotkeys and shows what happens, from now on. `serving` goes on
    /// beside it, until its token is cancelled: it serves other agents while the settings want that.
    pub fn begin<S: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        serving: impl FnOnce(Arc<App>, CancellationToken) -> S,
    ) {
        if let Err(error) = become_subreaper() {
            tracing::warn!(%error, "orphaned processes of commands are found by their mark only");
        }
        let serving = serving(Arc::clone(self.app()), self.cancel.clone());
        let (app, guards) = (Arc::clone(self.app()), Arc::clone(&self.guards));
        let cancel = self.cancel.clone();
        let runs = self
            .runtime
            .spawn(async move { app.serve_runs(guards, None, cancel).await });
        *super::locked(&self.going) = vec![runs, self.runtime.spawn(serving)];
        self.take_hotkeys();
        let desk = Arc::clone(self);
        self.runtime.spawn(async move { desk.look().await });
        let desk = Arc::clone(self);
        self.runtime.spawn(async move {
            match asked_to_end().await {
                Ok(()) => desk.end(|desk| desk.face.exit(0)),
                Err(error) => tracing::warn!(%error, "signals are not heard"),
            }
        });
        #[cfg(target_os = "linux")]
        {
            let desk = Arc::clone(self);
            self.runtime
                .spawn(async move { desk.offer_safe_graphics().await });
        }
    }

    /// Quits; while runs of this process go on, asks first.
    pub fn quit(self: &Arc<Self>) {
        self.leave(Ask::quit, |desk| desk.face.exit(0));
    }

    /// Starts the app anew, for what takes effect only then; while runs of this process go on, asks
    /// first.
    pub fn restart(self: &Arc<Self>) {
        self.leave(Ask::restart, |desk| desk.face.restart());
    }

    fn leave(self: &Arc<Self>, ask: fn(&Catalogue, usize) -> Ask, last: fn(&Self)) {
        let desk = Arc::clone(self);
        self.runtime.spawn(async move {
            let going = desk.app().own_runs.count();
            if going == 0 {
                return desk.end(last);
            }
            let asked = Arc::clone(&desk);
            let then = move |leaves| {
                if leaves {
                    asked.end(last);
                }
            };
            desk.face.ask(ask(&desk.texts(), going), Box::new(then));
        });
    }

    /// Remembers the window, stops the runs of this process, waits until they have ended, and does the
    /// last thing.
    pub fn end(self: &Arc<Self>, last: impl FnOnce(&Self) + Send + 'static) {
        let (desk, place) = (Arc::clone(self), self.face.place());
        desk.app().own_runs.stop_all();
        self.runtime.spawn(async move {
            desk.keep_place(place).await;
            desk.cancel.cancel();
            let end = tokio::time::Instant::now() + FAREWELL;
            let going = std::mem::take(&mut *super::locked(&desk.going));
            for ending in going {
                if tokio::time::timeout_at(end, ending).await.is_err() {
                    tracing::warn!("not everything ends; of runs, the guard ends what is left");
                }
            }
            last(&desk);
        });
    }

    /// The main window was closed, which hides it: the app and its runs go on. The first time that is
    /// told.
    pub fn hidden(self: &Arc<Self>) {
        let (desk, place) = (Arc::clone(self), self.face.place());
        self.runtime.spawn(async move {
            desk.keep_place(place).await;
            if desk.kept::<bool>(EXPLAINED).await.is_none() {
                desk.keep(EXPLAINED, true).await;
                desk.face.notify(&desk.told("tray"));
            }
        });
    }

    /// Where the main window was when the app ran last.
    pub fn kept_place(&self) -> Option<Place> {
        self.runtime.block_on(self.kept(PLACE))
    }

    async fn keep_place(&self, place: Option<Place>) {
        if let Some(place) = place {
            self.keep(PLACE, place).await;
        }
    }

    /// A line of the tray's menu was chosen.
    pub fn chosen(self: &Arc<Self>, id: &str) {
        match id {
            "stop" => self.stop_everything(),
            "pause" => self.pause_everything(),
            "approvals" => self.face.focus(Some("/approvals")),
            "quick" => self.face.turn_quick(),
            "open" => self.face.focus(None),
            "update" => self.face.look_for_updates(),
            "quit" => self.quit(),
            _ => {
                if let Some(run) = id.strip_prefix("run:") {
                    self.face.focus(Some(&format!("/runs/{run}")));
                }
            }
        }
    }

    /// A hotkey was pressed.
    pub fn pressed(self: &Arc<Self>, name: HotkeyName) {
        match name {
            HotkeyName::Stop => self.stop_everything(),
            HotkeyName::Approvals => self.face.focus(Some("/approvals")),
            HotkeyName::Quick => self.face.turn_quick(),
            HotkeyName::Pause => self.pause_everything(),
        }
        let desk = Arc::clone(self);
        self.runtime.spawn(async move {
            if let Err(failure) = desk.app().hear_hotkey(name).await {
                tracing::warn!(%failure, "keeping that a hotkey was heard");
            }
        });
    }

    /// Asks whether to start with safe graphics when nothing is painted.
    #[cfg(target_os = "linux")]
    async fn offer_safe_graphics(self: Arc<Self>) {
        // What is in the tray paints nothing.
        if self.first_paint.comes().await || !self.face.is_shown() {
            return;
        }
        let desk = Arc::clone(&self);
        let then = move |safely| {
            if safely {
                let file = SettingsFile::new(&desk.app().paths.config, SCHEMA);
                let kept = file.set::<Settings>("desktop.safe_graphics", "true");
                desk.end(move |desk| {
                    let Err(error) = kept else {
                        return desk.face.restart();
                    };
                    tracing::warn!(%error, "safe graphics cannot be kept");
                    desk.face.clean_up();
                    let error = super::graphics::start_safely();
                    tracing::error!(%error, "starting again");
                    desk.face.exit(1);
                });
            }
        };
        let ask = Ask::safe_graphics(&self.texts());
        self.face.ask(ask, Box::new(then));
    }
}

/// Waits until the process is asked to end, by a log-out, a service manager or Ctrl-C.
async fn asked_to_end() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminated.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::{
            Face as _,
            double::{Seat, seat, within},
        },
        rpc::desktop::HotkeyState,
    };

    /// Every line of the menu does what it says, and a line of another menu nothing.
    #[tokio::test(flavor = "multi_thread")]
    async fn lines_do_what_they_say() {
        let Seat { desk, face } = seat();
        for (id, does) in [
            ("approvals", "focus /approvals"),
            ("quick", "turn quick"),
            ("open", "focus"),
            ("update", "look for updates"),
            ("run:abc", "focus /runs/abc"),
        ] {
            desk.chosen(id);
            assert_eq!(face.did(), [does], "{id}");
        }
        desk.chosen("none");
        assert_eq!(face.did(), [""; 0]);
    }

    /// Nothing goes on, so nothing is asked: the window is remembered and the process ends.
    #[tokio::test(flavor = "multi_thread")]
    async fn quitting_remembers_the_window() {
        let Seat { desk, face } = seat();
        desk.chosen("quit");
        assert!(within(|| face.did() == ["exit 0"]).await);
        let kept = Arc::clone(&desk);
        let kept = tokio::task::spawn_blocking(move || kept.kept_place());
        assert_eq!(kept.await.expect("it is read"), face.place());
    }

    /// Starting anew remembers the window as quitting does, and asks nothing while nothing goes on.
    #[tokio::test(flavor = "multi_thread")]
    async fn starting_anew_is_like_quitting() {
        let Seat { desk, face } = seat();
        desk.restart();
        assert!(within(|| face.did() == ["restart"]).await);
        let kept = Arc::clone(&desk);
        let kept = tokio::task::spawn_blocking(move || kept.kept_place());
        assert_eq!(kept.await.expect("it is read"), face.place());
    }

    /// Closing the window is explained once.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_tray_is_explained_once() {
        let Seat { desk, face } = seat();
        desk.hidden();
        let told = "notify OpenSpace goes on in the tray";
        assert!(within(|| face.did() == [told]).await);
        desk.hidden();
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(face.did(), [""; 0]);
    }

    /// A key that the system refuses is told as refused with the system's words, and a key that is
    /// pressed is proven.
    #[tokio::test(flavor = "multi_thread")]
    async fn hotkeys_are_told_as_they_are() {
        let Seat { desk, face } = seat();
        face.refuse("ctrl+alt+p");
        desk.take_hotkeys();
        desk.pressed(HotkeyName::Approvals);
        let mut states = Vec::new();
        let mut last = Vec::new();
        for _ in 0..100 {
            last = desk.rpc().hotkeys().await.expect("hotkeys");
            states = last.iter().map(|hotkey| hotkey.state).collect();
            if states.contains(&HotkeyState::Refused) && last[1].heard_at.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let works = HotkeyState::Active;
        assert_eq!(states, [works, works, works, HotkeyState::Refused]);
        assert_eq!(last[3].reason.as_deref(), Some("taken"));
        assert!(last[1].heard_at.is_some() && last[0].heard_at.is_none());
        assert_eq!(face.did(), ["free hotkeys", "focus /approvals"]);
        let keys = desk.working_keys().await;
        assert_eq!(keys, ["Ctrl+Alt+.", "Ctrl+Alt+A", "Ctrl+Alt+Space", ""]);
    }
}
