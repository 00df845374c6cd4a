//! How the windows of this process are drawn.

use openspace_config::Environment;

use super::{Check, Health, say};
use crate::App;

/// WebKitGTK draws through DMA-BUF where it can, which shows nothing with some drivers; without it
/// pictures take one more copy. A person who set the variable, to whatever, knows better.
pub(crate) const DMABUF: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
/// Draws without the graphics card at all.
pub(crate) const COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";
/// What we set the latter to: everything but 0 counts, and this tells ours from a person's.
pub(crate) const OURS: &str = "openspace";

/// Variables that change how web views are drawn.
const SWITCHES: [&str; 7] = [
    DMABUF,
    COMPOSITING,
    "WEBKIT_DMABUF_RENDERER_FORCE_SHM",
    "WEBKIT_SKIA_ENABLE_CPU_RENDERING",
    "LIBGL_ALWAYS_SOFTWARE",
    "GDK_BACKEND",
    "GDK_SCALE",
];

/// What shows the windows here.
const WEB_VIEW: &str = if cfg!(target_os = "linux") {
    "WebKitGTK"
} else if cfg!(windows) {
    "WebView2"
} else {
    "WebKit"
};

/// How a process draws, which stays so until it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Graphics {
    /// With the graphics card.
    Usual,
    /// Without, as the settings said when it started.
    Safe,
    /// Without, as a variable of the person's says.
    SafeByVariable,
}

impl Graphics {
    /// Of a process with these variables.
    pub(crate) fn of(environment: &Environment) -> Self {
        match environment.text(COMPOSITING) {
            None | Some("0") => Self::Usual,
            Some(OURS) => Self::Safe,
            Some(_) => Self::SafeByVariable,
        }
    }

    /// Whether starting again would draw otherwise, with this setting.
    fn waits(self, safe: bool) -> bool {
        matches!((self, safe), (Self::Usual, true) | (Self::Safe, false))
    }
}

impl App {
    /// Settings that take effect only once this process is started again.
    pub(crate) fn waiting_for_restart(&self) -> Vec<&'static str> {
        let safe = self.values().desktop.safe_graphics;
        let draws = cfg!(target_os = "linux") && self.surface.web_view.is_some();
        if draws && Graphics::of(&self.environment).waits(safe) {
            vec!["desktop.safe_graphics"]
        } else {
            Vec::new()
        }
    }

    /// What draws the windows, by which switches.
    pub(super) fn check_graphics(&self) -> Check {
        const ID: &str = "graphics";
        let Some(version) = &self.surface.web_view else {
            return Check::new(ID, Health::Off, say("check.graphics.no_window"));
        };
        let view = say("check.graphics.view")
            .with("name", WEB_VIEW)
            .with("version", version);
        let graphics = Graphics::of(&self.environment);
        let (health, safe) = match graphics {
            Graphics::Usual => (Health::Ok, None),
            Graphics::Safe => (Health::Ok, Some("check.graphics.safe")),
            Graphics::SafeByVariable => (Health::Ok, Some("check.graphics.safe_variable")),
        };
        let mut check = Check::new(ID, health, view);
        if let Some(safe) = safe {
            check = check.and(say(safe));
        }
        let set = SWITCHES.iter().filter_map(|name| {
            let value = self.environment.text(name)?;
            Some(format!("{name}={value}"))
        });
        let set: Vec<_> = set.collect();
        if !set.is_empty() {
            check = check.and(say("check.graphics.switches").with("switches", set.join(", ")));
        }
        if self.waiting_for_restart().is_empty() {
            return check;
        }
        let fix = match graphics {
            Graphics::Usual => "check.graphics.restart.safe",
            Graphics::Safe | Graphics::SafeByVariable => "check.graphics.restart.usual",
        };
        Check {
            health: Health::Warning,
            ..check.fix(say(fix)).needs_restart()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::double::{Seat, seat, seat_with};

    /// Ours, a person's and none are told apart, and only what a restart would change waits for one.
    #[test]
    fn graphics_are_told_apart() {
        let of = |value: Option<&str>| {
            let mut environment = Environment::default();
            if let Some(value) = value {
                environment.insert(COMPOSITING, value);
            }
            Graphics::of(&environment)
        };
        assert_eq!(of(None), Graphics::Usual);
        assert_eq!(of(Some("0")), Graphics::Usual);
        assert_eq!(of(Some(OURS)), Graphics::Safe);
        assert_eq!(of(Some("1")), Graphics::SafeByVariable);
        assert!(of(None).waits(true) && !of(None).waits(false));
        assert!(of(Some(OURS)).waits(false) && !of(Some(OURS)).waits(true));
        assert!(!of(Some("1")).waits(true) && !of(Some("1")).waits(false));
    }

    /// A window tells what draws it, and the setting waits for a restart until it is as it was again.
    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread")]
    async fn the_setting_waits_for_a_restart() {
        let Seat { desk, .. } = seat_with(&[(DMABUF, "1")]);
        let app = desk.app();
        let check = app.check_graphics();
        assert_eq!((check.health, check.needs_restart), (Health::Ok, false));
        let words = check.words(&app.catalogue);
        assert!(words.contains("WebKitGTK 9.8.7"), "{words}");
        assert!(
            words.contains("WEBKIT_DISABLE_DMABUF_RENDERER=1"),
            "{words}"
        );
        let set = |text: &str| {
            std::fs::write(&app.paths.config, text).expect("written");
            app.reload_settings().expect("right");
        };
        set("[desktop]\nsafe_graphics = true\n");
        let check = app.check_graphics();
        assert_eq!((check.health, check.needs_restart), (Health::Warning, true));
        assert_eq!(app.waiting_for_restart(), ["desktop.safe_graphics"]);
        set("");
        assert!(!app.check_graphics().needs_restart);

        let Seat { desk: safe, .. } = seat_with(&[(COMPOSITING, OURS)]);
        assert!(
            safe.app().check_graphics().needs_restart,
            "it was switched off"
        );
        let Seat { desk, .. } = seat();
        let bare = desk.app().check_graphics();
        assert_eq!(bare.found.len(), 1, "no switch is set");
    }
}
