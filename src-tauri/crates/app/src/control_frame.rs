//! What shows on the person's display that a run has control: the frame, what is hidden from the
//! model, and the moment's warning before the first time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use openspace_agent::Control;
use openspace_gui::{InputRect, Masks, Screen, choose_monitor, platform};
use openspace_store::{InstanceKind, Store};

use crate::{App, Code, Failure, RunSpec, control::COUNTDOWN, display::no_screen, failure::Result};

/// Title of the pill and the frame, by which runners know what to leave out of pictures. It begins
/// like [`MARKER`](crate::MARKER).
pub const CONTROL_TITLE: &str = "\u{2060}OpenSpace\u{2060} control";
/// `control` of the light tokens in ui/src/styles/tokens.json.
#[cfg(target_os = "linux")]
const COLOUR: u32 = 0x9A_34_12;

/// The frame around the monitor that a run controls; dropping it takes it away.
pub struct ControlFrame {
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
    let opened = platform::open(options).map_err(|error| no_screen(&error))?;
    let monitors = opened.screen.monitors();
    let monitors = monitors.map_err(|error| no_screen(&error))?;
    let monitor = choose_monitor(&monitors, monitor)
        .map_err(|error| Failure::new(Code::InvalidRequest, error.to_string()))?;
    let edges = platform::EdgeFrame::show(
        &opened.display_name,
        options.authority.as_deref(),
        monitor.area,
        COLOUR,
        CONTROL_TITLE,
    );
    Ok(ControlFrame {
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

/// What pictures of a display leave out: the pill and the frame of an app that is alive there. Other
/// programs cannot hide by the same title, because the window's process must be the app's.
pub(crate) fn masks(store: Store, display: String) -> Masks {
    Arc::new(move |screen: &dyn Screen| {
        let pids = apps_on(&store, &display);
        if pids.is_empty() {
            return Vec::new();
        }
        let windows = screen.windows().unwrap_or_else(|error| {
            tracing::warn!(%error, "asking for our windows");
            Vec::new()
        });
        let ours = windows.into_iter().filter(|window| {
            window.title == CONTROL_TITLE && window.pid.is_some_and(|pid| pids.contains(&pid))
        });
        ours.map(|window| window.area).collect::<Vec<InputRect>>()
    })
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
    use crate::MARKER;

    /// Pages of ours and the pill are known by the same beginning.
    #[test]
    fn the_title_carries_the_marker() {
        assert!(CONTROL_TITLE.starts_with(MARKER));
    }
}
