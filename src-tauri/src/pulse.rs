//! Looks at what happens and keeps tray, notifications and the pill up to date.

use std::time::{Duration, Instant, SystemTime};

use openspace_app::{
    Catalogue, Failure, Language,
    notices::{Notice, Notices},
    rpc::{Rpc, desktop::HotkeyState},
};
use tauri::{AppHandle, Manager as _};
use tauri_plugin_notification::NotificationExt as _;

/// After an event, so that a burst is one look.
const GATHER: Duration = Duration::from_millis(100);
/// While something goes on: control is given and taken without an event.
const LOOK: Duration = Duration::from_millis(250);
/// How often the settings file is looked at, which any editor may change.
const SETTINGS: Duration = Duration::from_secs(2);

/// Begins to look.
pub(crate) fn start(app: &AppHandle) {
    let Some(rpc) = app.try_state::<Rpc>().map(|rpc| rpc.inner().clone()) else {
        return;
    };
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        loop {
            if let Err(failure) = beat(&app, &rpc).await {
                tracing::warn!(%failure, "looking at what happens");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
}

async fn beat(app: &AppHandle, rpc: &Rpc) -> Result<(), Failure> {
    let store = &rpc.app().store;
    let mut watch = store.watch(store.read(|db| db.events().last_id()).await?)?;
    let mut notices = Notices::default();
    let mut settings = SettingsSeen::now(rpc);
    let mut registered = rpc.app().hotkeys();
    loop {
        if rpc.app().hotkeys() != registered {
            registered = rpc.app().hotkeys();
            let app = app.clone();
            tauri::async_runtime::spawn_blocking(move || super::hotkeys::register(&app));
        }
        let overview = rpc.overview().await?;
        let texts = texts(rpc);
        super::tray::update(app, &texts, &overview, &working_keys(rpc).await);
        super::control::update(app, rpc, &texts, &overview).await;
        let ended = rpc.runs(notices.ended(&overview)).await?;
        let looked_at = super::window::is_looked_at(app);
        let told = notices.next(&overview, &ended, Instant::now(), looked_at);
        if rpc.app().values().desktop.notifications {
            for notice in &told {
                tell(app, notice);
            }
        }
        let idle = !overview.going.iter().any(|run| run.going);
        let event = loop {
            if settings.changed(rpc) {
                if let Err(failure) = rpc.app().reload_settings() {
                    tracing::warn!(%failure, "reading the changed settings");
                }
                break None;
            }
            let wait = if idle { SETTINGS } else { LOOK };
            match tokio::time::timeout(wait, watch.next()).await {
                Ok(event) => break Some(event),
                Err(_) if idle => {}
                Err(_) => break None,
            }
        };
        if let Some(event) = event {
            let end = tokio::time::Instant::now() + GATHER;
            let mut event = Some(event?);
            while event.is_some() {
                let more = tokio::time::timeout_at(end, watch.next()).await;
                event = more.ok().transpose()?;
            }
        }
    }
}

/// When the settings file was written last, as far as this process has read it.
struct SettingsSeen {
    looked: Instant,
    written: Option<SystemTime>,
}

impl SettingsSeen {
    fn now(rpc: &Rpc) -> Self {
        Self {
            looked: Instant::now(),
            written: written(rpc),
        }
    }

    fn changed(&mut self, rpc: &Rpc) -> bool {
        if self.looked.elapsed() < SETTINGS {
            return false;
        }
        let before = std::mem::replace(self, Self::now(rpc));
        before.written != self.written
    }
}

fn written(rpc: &Rpc) -> Option<SystemTime> {
    std::fs::metadata(&rpc.app().paths.config)
        .and_then(|metadata| metadata.modified())
        .ok()
}

/// The sentences in the language of the settings as they are now.
pub(crate) fn texts(rpc: &Rpc) -> Catalogue {
    let language = rpc.app().language().unwrap_or(Language::English);
    Catalogue::load(language).unwrap_or_else(|_| rpc.app().catalogue.clone())
}

/// The keys of stop, approvals, quick and pause as a person reads them; empty where they do not work.
async fn working_keys(rpc: &Rpc) -> [String; 4] {
    let asked = rpc.hotkeys().await.unwrap_or_default();
    let mut keys = asked.into_iter().map(|hotkey| match hotkey.state {
        HotkeyState::Active => readable(&hotkey.keys),
        _ => String::new(),
    });
    std::array::from_fn(|_| keys.next().unwrap_or_default())
}

/// `ctrl+alt+period` as keyboards name it.
fn readable(keys: &str) -> String {
    let named = keys.split('+').map(|key| match key.trim() {
        "period" => ".".to_owned(),
        "comma" => ",".to_owned(),
        key => {
            let mut letters = key.chars();
            letters
                .next()
                .map(|first| first.to_uppercase().chain(letters).collect())
                .unwrap_or_default()
        }
    });
    named.collect::<Vec<String>>().join("+")
}

fn tell(app: &AppHandle, notice: &Notice) {
    let kind = notice.kind.key();
    let title = match notice.count {
        1 => format!("notify.{kind}.title"),
        _ => format!("notify.{kind}.many"),
    };
    notify(
        app,
        &title,
        "notify.body",
        &[("count", &notice.count.to_string())],
    );
}

/// Shows a notification, where there is somebody who shows it.
pub(crate) fn notify(app: &AppHandle, title: &str, body: &str, values: &[(&str, &str)]) {
    let Some(rpc) = app.try_state::<Rpc>() else {
        return;
    };
    let texts = texts(&rpc);
    let shown = app
        .notification()
        .builder()
        .title(texts.render(title, values))
        .body(texts.render(body, values))
        .show();
    if let Err(error) = shown {
        tracing::info!(%error, "notifications are not shown here");
    }
}
