//! The app at the person's desk, without the toolkit that shows it: what its windows may ask for, what
//! its tray, its pill and its questions say, what it tells and when, and how it begins and ends.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use openspace_store::InstanceKind;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use tracing::Level;
use tracing_subscriber::filter::Targets;

use crate::{
    App, Catalogue, Code, Environment, Failure, GuardSeat, Language, Surface, failure::Result,
    log_levels, rpc::Rpc,
};

mod aside;
mod ask;
mod begin;
#[cfg(test)]
pub(crate) mod double;
mod face;
mod first_paint;
mod graphics;
mod hand;
mod hotkeys;
mod links;
mod pill;
mod place;
mod practice;
mod pulse;
mod quick;
mod streams;
mod tray;
mod windows;

pub use ask::{Ask, cannot_start};
pub use face::{Face, Then};
pub use first_paint::FirstPaint;
pub use graphics::start_as;
pub use hand::{Hands, Touch};
pub use links::page;
pub use pill::{Effect, PillQuestion, PillView};
pub use place::{Area, Place, pill_corner, turned};
pub use practice::{AIMED, Arrived, Practice};
pub use pulse::Told;
pub use quick::{QuickFocus, quick_texts, quick_title};
pub use streams::Streams;
pub use tray::{Line, TrayView};
pub use windows::{MAIN, PILL, QUICK};

/// The opened program behind the windows.
pub struct Desk {
    rpc: Rpc,
    guards: Arc<GuardSeat>,
    face: Arc<dyn Face>,
    runtime: Handle,
    /// Which windows a person's hand has touched.
    pub hands: Hands,
    /// What windows listen to.
    pub streams: Streams,
    /// How far the main window has come.
    pub first_paint: FirstPaint,
    /// Whether the quick window had the focus.
    pub quick_focus: QuickFocus,
    cancel: CancellationToken,
    /// Executing runs, and serving other agents.
    going: Mutex<Vec<JoinHandle<()>>>,
}

/// Under which name a second start of the same data folder finds the first.
pub fn name_among_instances(data: &Path) -> String {
    let hash = blake3::hash(data.as_os_str().as_encoded_bytes());
    // A part of a bus name begins with a letter.
    format!("org.openspace.desktop.d{}", &hash.to_hex()[..16])
}

impl Desk {
    /// Opens the store for a process that was started then. Nothing goes on before
    /// [`begin`](Self::begin). Within a runtime, which goes on as long as the process.
    pub fn open(
        environment: Environment,
        started: Instant,
        face: Arc<dyn Face>,
    ) -> Result<Arc<Self>> {
        let internal = |error: std::io::Error| Failure::new(Code::Internal, error.to_string());
        // The command line program lies beside this one and is what guards are started from.
        let program = std::env::current_exe()
            .map_err(internal)?
            .with_file_name(format!("openspace{}", std::env::consts::EXE_SUFFIX));
        let surface = Surface {
            kind: InstanceKind::Desktop,
            claims_runs: true,
            asks_on_terminal: false,
            program,
            web_view: face.web_view(),
        };
        let app = App::open(environment, surface, &[])?;
        let guards = Arc::new(GuardSeat::default());
        Ok(Arc::new(Self {
            rpc: Rpc::new(app, Arc::clone(&guards)),
            guards,
            face,
            runtime: Handle::current(),
            hands: Hands::default(),
            streams: Streams::default(),
            first_paint: FirstPaint::new(started),
            quick_focus: QuickFocus::default(),
            cancel: CancellationToken::new(),
            going: Mutex::default(),
        }))
    }

    /// What the log holds; a setting that says nothing asks for warnings.
    pub fn log_levels(&self) -> Targets {
        let level = &self.app().values().log.level;
        let levels = log_levels(level).unwrap_or_else(|| Targets::new().with_default(Level::WARN));
        // How long a start took is always told: it is what a slow one is judged by.
        levels.with_target("openspace_app::desk::first_paint", Level::INFO)
    }

    /// A key opens the quick window.
    pub fn opens_quickly(&self) -> bool {
        let keys = &self.app().values().desktop.hotkey_quick;
        !keys.trim().is_empty()
    }

    /// Answers calls.
    pub fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    /// The program.
    pub fn app(&self) -> &Arc<App> {
        self.rpc.app()
    }

    /// The sentences in the language of the settings as they are now.
    pub fn texts(&self) -> Catalogue {
        let language = self.app().language().unwrap_or(Language::English);
        Catalogue::load(language).unwrap_or_else(|_| self.app().catalogue.clone())
    }

    /// A value the app keeps, where there is one that can be read.
    pub async fn kept<T: DeserializeOwned>(&self, key: &'static str) -> Option<T> {
        let read = self.app().store.read(|db| db.ui_state().get(key)).await;
        let value = read.unwrap_or_else(|error| {
            tracing::warn!(%error, key, "reading what was kept");
            None
        });
        serde_json::from_value(value?).ok()
    }

    /// Keeps a value.
    pub async fn keep(&self, key: &'static str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_default();
        let set = move |db: &openspace_store::Db<'_>| db.ui_state().set(key, Some(&value));
        if let Err(error) = self.app().store.call(set).await {
            tracing::warn!(%error, key, "keeping a value");
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each data folder has its own name, which a bus takes, and always the same.
    #[test]
    fn data_folders_have_names_of_their_own() {
        let name = |path: &str| name_among_instances(Path::new(path));
        assert_eq!(name("/home/a"), name("/home/a"));
        assert_ne!(name("/home/a"), name("/home/b"));
        let parts = name("/home/a");
        let last = parts.rsplit('.').next().expect("a part");
        assert!(last.starts_with('d') && last.len() == 17, "{parts}");
    }
}
