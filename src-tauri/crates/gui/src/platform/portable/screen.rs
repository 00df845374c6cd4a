//! [`Screen`] by xcap.

use xcap::{XCapError, XCapResult};

use crate::{Capture, InputPoint, InputRect, Monitor, Screen, ScreenError, ScreenState, Window};

#[cfg(target_os = "macos")]
#[link(name = "CoreGraphics", kind = "framework")]
unsafe extern "C" {
    // CGWindow.h, macOS 10.15: whether this process may see other windows. It asks nobody.
    safe fn CGPreflightScreenCaptureAccess() -> bool;
}

/// What can be seen through xcap.
#[derive(Debug)]
pub struct PortableScreen(());

impl PortableScreen {
    /// Checks that there is a screen.
    ///
    /// # Errors
    /// [`ScreenError::NoDisplay`] when there is none, [`ScreenError::NotPermitted`] where the system
    /// would show nothing but the wallpaper.
    pub fn open() -> Result<Self, ScreenError> {
        #[cfg(target_os = "macos")]
        if !CGPreflightScreenCaptureAccess() {
            return Err(ScreenError::NotPermitted(
                "allow it in System Settings, Privacy & Security, Screen & System Audio Recording"
                    .into(),
            ));
        }
        let screen = Self(());
        let monitors = screen.monitors()?;
        if monitors.is_empty() {
            return Err(ScreenError::NoDisplay("no monitor is connected".into()));
        }
        Ok(screen)
    }
}

impl Screen for PortableScreen {
    fn monitors(&self) -> Result<Vec<Monitor>, ScreenError> {
        let all = xcap::Monitor::all().map_err(unavailable)?;
        let mut monitors: Vec<Monitor> = all.iter().filter_map(|it| describe(it).ok()).collect();
        if let Some(first) = monitors.first_mut().filter(|_| all.len() == 1) {
            first.primary = true;
        }
        monitors.sort_by_key(|monitor| (!monitor.primary, monitor.area.x, monitor.area.y));
        Ok(monitors)
    }

    fn capture(&self, monitor: &Monitor) -> Result<Capture, ScreenError> {
        let all = xcap::Monitor::all().map_err(unavailable)?;
        let same = |it: &&xcap::Monitor| {
            describe(it).is_ok_and(|now| now.name == monitor.name && now.area == monitor.area)
        };
        let Some(found) = all.iter().find(same) else {
            return Err(ScreenError::MonitorGone(monitor.name.clone()));
        };
        let image = found.capture_image().map_err(unavailable)?;
        let (width, height) = (image.width(), image.height());
        let mut bgrx = image.into_raw();
        for pixel in bgrx.chunks_exact_mut(4) {
            pixel.swap(0, 2);
        }
        Ok(Capture::new(width, height, bgrx))
    }

    fn window_at(&self, point: InputPoint) -> Result<Option<Window>, ScreenError> {
        let windows = xcap::Window::all().map_err(unavailable)?;
        // The higher, the nearer to the person.
        Ok(windows
            .iter()
            .filter(|window| !window.is_minimized().unwrap_or(true))
            .filter_map(|window| Some((window.z().ok()?, tell(window).ok()?)))
            .filter(|(_, window)| window.area.contains(point))
            .max_by_key(|(z, _)| *z)
            .map(|(_, window)| window))
    }

    fn focused(&self) -> Result<Option<Window>, ScreenError> {
        let windows = xcap::Window::all().map_err(unavailable)?;
        Ok(windows
            .iter()
            .find(|window| window.is_focused().unwrap_or(false))
            .and_then(|window| tell(window).ok()))
    }

    fn windows(&self) -> Result<Vec<Window>, ScreenError> {
        let windows = xcap::Window::all().map_err(unavailable)?;
        Ok(windows
            .iter()
            .filter(|window| !window.is_minimized().unwrap_or(true))
            .filter_map(|window| tell(window).ok())
            .collect())
    }

    fn pointer(&self) -> Result<InputPoint, ScreenError> {
        use enigo::Mouse as _;
        let lost = |error: &dyn std::fmt::Display| ScreenError::Lost(error.to_string());
        let settings = enigo::Settings::default();
        let enigo = enigo::Enigo::new(&settings).map_err(|error| lost(&error))?;
        let (x, y) = enigo.location().map_err(|error| lost(&error))?;
        Ok(InputPoint { x, y })
    }

    fn state(&self) -> Result<ScreenState, ScreenError> {
        // Neither crate tells; a picture that is black all over is noticed where it is used.
        Ok(ScreenState::Usable)
    }
}

fn describe(monitor: &xcap::Monitor) -> XCapResult<Monitor> {
    // Windows gives physical pixels both ways when the process is aware of them, which the
    // manifest of our binaries says; macOS gives points.
    let scale = if cfg!(target_os = "macos") {
        f64::from(monitor.scale_factor()?)
    } else {
        1.0
    };
    Ok(Monitor {
        name: monitor.name()?,
        area: InputRect {
            x: monitor.x()?,
            y: monitor.y()?,
            width: monitor.width()?,
            height: monitor.height()?,
        },
        scale,
        primary: monitor.is_primary()?,
    })
}

fn tell(window: &xcap::Window) -> XCapResult<Window> {
    Ok(Window {
        id: window.id()?.into(),
        pid: window.pid().ok(),
        class: window.app_name()?.to_lowercase(),
        title: window.title().unwrap_or_default(),
        area: InputRect {
            x: window.x()?,
            y: window.y()?,
            width: window.width()?,
            height: window.height()?,
        },
    })
}

fn unavailable(error: XCapError) -> ScreenError {
    let text = error.to_string();
    drop(error);
    if cfg!(target_os = "macos") {
        ScreenError::NotPermitted(format!(
            "{text}; allow it under System Settings, Privacy & Security, Screen Recording"
        ))
    } else {
        ScreenError::NoDisplay(text)
    }
}
