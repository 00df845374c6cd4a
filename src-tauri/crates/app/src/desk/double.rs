//! A desk in a home of its own with a face that remembers, for tests.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use super::{Area, Ask, Desk, Face, PillView, Place, Then, Told, TrayView, locked};
use crate::{Environment, rpc::desktop::HotkeyName};

/// What was asked of the toolkit, in words.
pub(crate) struct FakeFace {
    did: Mutex<Vec<String>>,
    refused: Mutex<Option<String>>,
    /// Lives as long as the desk, which holds this.
    _home: tempfile::TempDir,
}

/// A desk and its face.
pub(crate) struct Seat {
    pub(crate) desk: Arc<Desk>,
    pub(crate) face: Arc<FakeFace>,
}

/// Within a runtime.
pub(crate) fn seat() -> Seat {
    seat_with(&[])
}

/// The same with more variables.
pub(crate) fn seat_with(more: &[(&str, &str)]) -> Seat {
    let home = tempfile::tempdir().expect("a folder");
    let mut environment = Environment::default();
    for (name, folder) in [
        ("HOME", "home"),
        ("OPENSPACE_HOME", "data"),
        ("XDG_RUNTIME_DIR", "runtime"),
    ] {
        let folder = home.path().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        environment.insert(name, folder);
    }
    environment.insert("LANG", "en_GB.UTF-8");
    for (name, value) in more {
        environment.insert(*name, *value);
    }
    let face = Arc::new(FakeFace {
        did: Mutex::default(),
        refused: Mutex::default(),
        _home: home,
    });
    let shown = Arc::clone(&face) as Arc<dyn Face>;
    let desk = Desk::open(environment, Instant::now(), shown).expect("it opens");
    Seat { desk, face }
}

/// Waits until something is so.
pub(crate) async fn within(is: impl Fn() -> bool) -> bool {
    for _ in 0..250 {
        if is() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

impl FakeFace {
    /// What was done since this was asked last.
    pub(crate) fn did(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.did))
    }

    pub(crate) fn refuse(&self, keys: &str) {
        *locked(&self.refused) = Some(keys.to_owned());
    }

    fn note(&self, what: impl Into<String>) {
        locked(&self.did).push(what.into());
    }
}

impl Face for FakeFace {
    fn focus(&self, page: Option<&str>) {
        self.note(format!("focus {}", page.unwrap_or_default()).trim_end());
    }

    fn is_looked_at(&self) -> bool {
        false
    }

    fn is_shown(&self) -> bool {
        true
    }

    fn place(&self) -> Option<Place> {
        Some(Place {
            x: 10.0,
            y: 20.0,
            width: 800.0,
            height: 600.0,
            maximized: false,
        })
    }

    fn seen(&self) -> Option<Area> {
        Some(Area::new((10.0, 20.0), (800.0, 600.0)))
    }

    fn minimise(&self, away: bool) {
        self.note(if away { "step aside" } else { "come back" });
    }

    fn turn_quick(&self) {
        self.note("turn quick");
    }

    fn show_tray(&self, _tray: &TrayView) {
        self.note("show tray");
    }

    fn show_pill(&self, _pill: &PillView, _kept: Option<(f64, f64)>) {
        self.note("show pill");
    }

    fn take_pill(&self) -> Option<(f64, f64)> {
        self.note("take pill");
        None
    }

    fn notify(&self, told: &Told) {
        self.note(format!("notify {}", told.0));
    }

    fn ask(&self, ask: Ask, _then: Then) {
        self.note(format!("ask {}", ask.title));
    }

    fn free_hotkeys(&self) -> Result<(), String> {
        self.note("free hotkeys");
        Ok(())
    }

    fn take_hotkey(&self, _name: HotkeyName, keys: &str) -> Result<(), String> {
        match &*locked(&self.refused) {
            Some(refused) if refused == keys => Err("taken".to_owned()),
            _ => Ok(()),
        }
    }

    fn web_view(&self) -> Option<String> {
        Some("9.8.7".to_owned())
    }

    fn has_updates(&self) -> bool {
        false
    }

    fn look_for_updates(&self) {
        self.note("look for updates");
    }

    fn clean_up(&self) {
        self.note("clean up");
    }

    fn restart(&self) {
        self.note("restart");
    }

    fn exit(&self, code: i32) {
        self.note(format!("exit {code}"));
    }
}
