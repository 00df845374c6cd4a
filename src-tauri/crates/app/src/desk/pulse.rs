//! Looking at what happens, so that tray, notifications, pill and hotkeys are as they should be.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use openspace_store::Watch;

use super::{Desk, PillView, TrayView, aside::Aside, pill::Followed};
use crate::{
    Catalogue, ControlFrame,
    failure::Result,
    notices::{Notice, Notices},
    rpc::desktop::HotkeyName,
};

/// After an event, so that a burst is one look.
const GATHER: Duration = Duration::from_millis(100);
/// While something goes on: control is given and taken without an event.
const LOOK: Duration = Duration::from_millis(250);
/// How often the settings file is looked at, which any editor may change.
const SETTINGS: Duration = Duration::from_secs(2);
/// Where the place of the pill is kept.
const PLACE: &str = "desktop.hud";

/// Title and text of a notification.
pub type Told = (String, String);

/// What was seen and shown so far. It outlives a failure, so that what is shown is taken away later.
struct Pulse {
    notices: Notices,
    followed: Followed,
    frame: Option<ControlFrame>,
    aside: Aside,
    tray: Option<TrayView>,
    pill: Option<PillView>,
    hotkeys: [(HotkeyName, String); 4],
    settings: SettingsSeen,
}

impl Pulse {
    /// Nothing is shown yet.
    fn new(desk: &Desk) -> Self {
        Self {
            notices: Notices::default(),
            followed: Followed::default(),
            frame: None,
            aside: Aside::default(),
            tray: None,
            pill: None,
            hotkeys: desk.app().hotkeys(),
            settings: SettingsSeen::now(desk),
        }
    }
}

impl Desk {
    /// Looks and shows until the process ends.
    pub(super) async fn look(self: Arc<Self>) {
        let mut pulse = Pulse::new(&self);
        loop {
            if let Err(failure) = self.beat(&mut pulse).await {
                tracing::warn!(%failure, "looking at what happens");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Looks and shows until something fails.
    async fn beat(self: &Arc<Self>, pulse: &mut Pulse) -> Result<()> {
        let store = &self.app().store;
        let mut watch = store.watch(store.read(|db| db.events().last_id()).await?)?;
        loop {
            let idle = self.show(pulse).await?;
            self.rest(&mut watch, &mut pulse.settings, idle).await?;
        }
    }

    /// Shows everything as it is now. True while nothing goes on.
    async fn show(self: &Arc<Self>, pulse: &mut Pulse) -> Result<bool> {
        let wanted = self.app().hotkeys();
        if wanted != pulse.hotkeys {
            pulse.hotkeys = wanted;
            let desk = Arc::clone(self);
            self.runtime.spawn_blocking(move || desk.take_hotkeys());
        }
        let overview = self.rpc().overview().await?;
        let (texts, now) = (self.texts(), Instant::now());
        let updates = self.face.has_updates();
        let tray = TrayView::new(&texts, &overview, &self.working_keys().await, updates);
        // A menu that is open stays as it is while nothing in it changes.
        if pulse.tray.as_ref() != Some(&tray) {
            self.face.show_tray(&tray);
            pulse.tray = Some(tray);
        }
        let pill = self.pill(&mut pulse.followed, &overview, &texts, now).await;
        self.show_pill(pulse, pill).await;
        let (control, frame) = (pulse.followed.control(now), pulse.frame.as_ref());
        self.make_way(&mut pulse.aside, control, &overview, frame, now);
        let ended = self.rpc().runs(pulse.notices.ended(&overview)).await?;
        let looked_at = self.face.is_looked_at();
        let notices = pulse.notices.next(&overview, &ended, now, looked_at);
        if self.app().values().desktop.notifications {
            for notice in &notices {
                self.face.notify(&words(&texts, notice));
            }
        }
        Ok(!overview.going.iter().any(|run| run.going))
    }

    async fn show_pill(&self, pulse: &mut Pulse, pill: Option<PillView>) {
        let Some(pill) = pill else {
            pulse.frame = None;
            if pulse.pill.take().is_some()
                && let Some(at) = self.face.take_pill()
            {
                self.keep(PLACE, at).await;
            }
            return;
        };
        if pulse.frame.is_none() {
            match self.app().control_frame(&pill.run).await {
                Ok(frame) => pulse.frame = Some(frame),
                Err(failure) => tracing::info!(%failure, "no frame around the monitor"),
            }
        }
        if let Some(frame) = &mut pulse.frame {
            frame.raise();
        }
        if pulse.pill.as_ref() != Some(&pill) {
            self.face.show_pill(&pill, self.kept(PLACE).await);
            pulse.pill = Some(pill);
        }
    }

    /// Waits until another look is due.
    async fn rest(&self, watch: &mut Watch, settings: &mut SettingsSeen, idle: bool) -> Result<()> {
        let wait = if idle { SETTINGS } else { LOOK };
        let event = loop {
            if settings.changed(self) {
                match self.app().reload_settings() {
                    // Whoever wrote the file told nobody.
                    Ok(()) => self.app().tell_settings("settings.toml", "file").await?,
                    Err(failure) => tracing::warn!(%failure, "reading the changed settings"),
                }
                return Ok(());
            }
            match tokio::time::timeout(wait, watch.next()).await {
                Ok(event) => break event,
                Err(_) if idle => {}
                Err(_) => return Ok(()),
            }
        };
        event?;
        let end = tokio::time::Instant::now() + GATHER;
        while let Ok(more) = tokio::time::timeout_at(end, watch.next()).await {
            more?;
        }
        Ok(())
    }

    /// A notification by the name of its sentences.
    pub(super) fn told(&self, name: &str) -> Told {
        let texts = self.texts();
        let say = |part: &str| texts.render(&format!("notify.{name}.{part}"), &[]);
        (say("title"), say("body"))
    }
}

fn words(texts: &Catalogue, notice: &Notice) -> Told {
    let kind = notice.kind.key();
    let title = match notice.count {
        1 => format!("notify.{kind}.title"),
        _ => format!("notify.{kind}.many"),
    };
    let title = texts.render(&title, &[("count", &notice.count.to_string())]);
    (title, texts.render("notify.body", &[]))
}

/// When the settings file was written last, as far as this process has read it.
struct SettingsSeen {
    looked: Instant,
    written: Option<SystemTime>,
}

impl SettingsSeen {
    fn now(desk: &Desk) -> Self {
        let written = std::fs::metadata(&desk.app().paths.config)
            .and_then(|metadata| metadata.modified())
            .ok();
        Self {
            looked: Instant::now(),
            written,
        }
    }

    fn changed(&mut self, desk: &Desk) -> bool {
        if self.looked.elapsed() < SETTINGS {
            return false;
        }
        let before = std::mem::replace(self, Self::now(desk));
        before.written != self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Language,
        desk::double::{Seat, seat},
        notices::Kind,
        rpc::desktop::tests::run,
    };
    use openspace_store::RunStatus;

    /// The pill outlives a store that fails for a while, and is gone once the run is.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_failing_store_leaves_no_pill_behind() {
        let Seat { desk, face } = seat();
        let texts = Catalogue::load(Language::English).expect("built in");
        let mut pulse = Pulse::new(&desk);
        let run = run("r", RunStatus::Running, &[]);
        pulse.pill = Some(PillView::new(&texts, &run, Duration::ZERO));
        let database = desk.app().paths.database();
        let away = database.with_extension("away");
        std::fs::rename(&database, &away).expect("moved");
        desk.beat(&mut pulse).await.expect_err("there is no store");
        assert!(!face.did().contains(&"take pill".to_owned()));
        std::fs::rename(&away, &database).expect("moved back");
        let again = tokio::time::timeout(Duration::from_secs(2), desk.beat(&mut pulse)).await;
        assert!(again.is_err(), "it looks until something fails");
        assert!(face.did().contains(&"take pill".to_owned()));
    }

    /// Notifications are in words, counted, and name no task.
    #[test]
    fn notices_are_words() {
        let texts = Catalogue::load(Language::English).expect("built in");
        let said = |kind, count| words(&texts, &Notice { kind, count }).0;
        assert_eq!(said(Kind::Approval, 1), "A task waits for your permission");
        assert_eq!(said(Kind::Failed, 4), "4 tasks could not be finished");
        for kind in [Kind::Approval, Kind::NeedsYou, Kind::Done, Kind::Failed] {
            for count in [1, 5] {
                let title = said(kind, count);
                assert!(!title.starts_with("notify."), "{title}");
            }
        }
    }
}
