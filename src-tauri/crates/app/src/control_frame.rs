//! What shows on the person's display that a run has control: the frame, the ring, and the moment's
//! warning before the first time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use openspace_agent::Control;
use openspace_gui::{InputRect, TargetRing, platform};
use openspace_store::{InstanceKind, Store};

use crate::{App, Code, Failure, MARKER, RunSpec, control::COUNTDOWN, failure::Result};

/// Title of the pill and the frame, for whoever lists windows.
pub const CONTROL_TITLE: &str = "\u{2060}OpenSpace\u{2060} control";
/// `control` of the light tokens in ui/src/styles/tokens.json.
#[cfg(target_os = "linux")]
const COLOUR: u32 = 0x9A_34_12;

/// The frame around the monitor that a run controls; dropping it takes it away.
pub struct ControlFrame {
    /// The monitor.
    pub(crate) monitor: InputRect,
    #[cfg(target_os = "linux")]
    edges: platform::EdgeFrame,
}

impl ControlFrame {
    /// Brings it above windows that opened since.
    pub fn raise(&mut self) {
        #[cfg(target_os = "linux")]
        self.edges.raise();
    }
}

impl App {
    /// Shows the frame around the monitor of a run on the person's display.
    ///
    /// # Errors
    /// [`Code::Unavailable`] where there is no such thing: outside X11.
    pub async fn control_frame(&self, run: &str) -> Result<ControlFrame> {
        let run = self.find_run(run).await?;
        let spec: RunSpec = serde_json::from_value(run.settings)
            .map_err(|error| Failure::new(Code::Store, error.to_string()))?;
        let options = self.session_platform();
        let shown = tokio::task::spawn_blocking(move || show(&options, spec.monitor.as_deref()));
        shown
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?
    }
}

#[cfg(target_os = "linux")]
fn show(options: &platform::Options, monitor: Option<&str>) -> Result<ControlFrame> {
    use crate::display::no_screen;

    let opened = platform::open(options).map_err(|error| no_screen(&error))?;
    let monitors = opened.screen.monitors();
    let monitors = monitors.map_err(|error| no_screen(&error))?;
    let monitor = openspace_gui::choose_monitor(&monitors, monitor)
        .map_err(|error| Failure::new(Code::InvalidRequest, error.to_string()))?;
    let edges = platform::EdgeFrame::show(
        &opened.display_name,
        options.authority.as_deref(),
        monitor.area,
        COLOUR,
        CONTROL_TITLE,
    );
    Ok(ControlFrame {
        monitor: monitor.area,
        edges: edges.map_err(|error| no_screen(&error))?,
    })
}

#[cfg(not(target_os = "linux"))]
fn show(_options: &platform::Options, _monitor: Option<&str>) -> Result<ControlFrame> {
    Err(Failure::new(
        Code::Unavailable,
        "the frame around the controlled monitor exists under X11 only",
    ))
}

/// The ring around the place of the next click on a display, seen where an app shows the rest.
#[cfg(target_os = "linux")]
pub(crate) fn ring(app: &App, display: &str) -> Option<Arc<TargetRing>> {
    let title = format!("{MARKER} target");
    let opened = platform::RingWindow::open(display, app.desktop.xauthority(), COLOUR, &title);
    let window = match opened {
        Ok(window) => window,
        Err(error) => {
            tracing::info!(%error, "clicks are not pointed out");
            return None;
        }
    };
    let (store, display) = (app.store.clone(), display.to_owned());
    let watched = move || !apps_on(&store, &display).is_empty();
    Some(Arc::new(TargetRing::new(
        Box::new(window),
        Box::new(watched),
    )))
}

/// Elsewhere there is none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ring(_app: &App, _display: &str) -> Option<Arc<TargetRing>> {
    None
}

/// The processes of apps with a window on a display.
fn apps_on(store: &Store, display: &str) -> Vec<u32> {
    let alive = store.read_blocking(|db| db.instances().alive());
    let alive = alive.unwrap_or_else(|error| {
        tracing::warn!(%error, "asking which apps are alive");
        Vec::new()
    });
    let here = alive
        .into_iter()
        .filter(|row| row.kind == InstanceKind::Desktop && row.display.as_deref() == Some(display));
    here.map(|row| row.pid).collect()
}

/// Control that a person can still refuse: where an app shows it, the run waits a moment between
/// taking the display for the first time and touching anything.
pub(crate) struct Announced<C> {
    control: C,
    store: Store,
    display: String,
    /// When the display was taken for the first time; none before.
    begun: Mutex<Option<Instant>>,
}

impl<C> Announced<C> {
    pub(crate) fn new(control: C, store: Store, display: String) -> Self {
        Self {
            control,
            store,
            display,
            begun: Mutex::new(None),
        }
    }

    /// The display was taken, or it was said that it will be.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "nobody is watched there")
    )]
    pub(crate) fn has_begun(&self) -> bool {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.is_some()
    }
}

impl<C: Control> Control for Announced<C> {
    fn try_acquire(&self) -> std::io::Result<bool> {
        if !self.control.try_acquire()? {
            return Ok(false);
        }
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = begun.get_or_insert_with(|| {
            let now = Instant::now();
            if apps_on(&self.store, &self.display).is_empty() {
                // Nobody would see it: as if it were over.
                now.checked_sub(COUNTDOWN).unwrap_or(now)
            } else {
                now
            }
        });
        Ok(begun.elapsed() >= COUNTDOWN)
    }

    fn release(&self) {
        self.control.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Control that nobody else has.
    struct Free;

    impl Control for Free {
        fn try_acquire(&self) -> std::io::Result<bool> {
            Ok(true)
        }

        fn release(&self) {}
    }

    /// Where an app shows it, the first time takes its moment, and only the first; where none does,
    /// nobody waits.
    #[test]
    fn the_first_time_takes_its_moment() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let on = |display: &str| Announced::new(Free, store.clone(), display.to_owned());
        let taken = |control: &Announced<Free>| control.try_acquire().expect("no error");
        assert!(taken(&on(":5")), "nobody would see it");
        let app = openspace_store::NewInstance {
            kind: InstanceKind::Desktop,
            pid: std::process::id(),
            claims_runs: true,
            version: String::new(),
            display: Some(":5".to_owned()),
            windows: openspace_store::Windows::default(),
        };
        let _alive = openspace_store::Instance::register(&store, &app).expect("an app");
        assert!(taken(&on(":6")), "it is shown elsewhere");
        let control = on(":5");
        let begun = Instant::now();
        while !taken(&control) {
            assert!(begun.elapsed() < COUNTDOWN * 4, "it ends");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(begun.elapsed() >= COUNTDOWN, "{:?}", begun.elapsed());
        control.release();
        assert!(taken(&control), "later it is taken at once");
    }
}
