//! The display of a run: the person's, a named one, or one of its own.

use std::{path::PathBuf, sync::Arc};

use openspace_gui::{
    Key, OffLimits, Window, choose_monitor,
    platform::{self, Platform},
};
use openspace_store::{RunId, Store};

use crate::{
    App, Code, Display, Failure, RunSpec, control_frame::ring, failure::Result, guard::Begun,
    ours::ours,
};

/// An opened display and what programs need to appear on it.
pub(crate) struct OpenDisplay {
    pub(crate) platform: Platform,
    /// Variables for programs that are opened on it.
    pub(crate) variables: Vec<(String, String)>,
    /// Cookie file, where it is not the usual one.
    pub(crate) authority: Option<PathBuf>,
    /// Processes of a display of the run's own.
    pub(crate) pids: Vec<u32>,
    #[cfg(target_os = "linux")]
    private: Option<private::PrivateSession>,
}

/// What has to live as long as the run uses the display.
pub(crate) struct KeptDisplay {
    #[cfg(target_os = "linux")]
    _private: Option<private::PrivateSession>,
}

impl OpenDisplay {
    /// The platform, and what keeps it alive.
    pub(crate) fn into_parts(self) -> (Platform, KeptDisplay) {
        let kept = KeptDisplay {
            #[cfg(target_os = "linux")]
            _private: self.private,
        };
        (self.platform, kept)
    }
}

impl App {
    /// The same on a thread that may block: a display of a run's own takes seconds to come. Whoever
    /// stops waiting leaves nothing behind once it is there.
    pub(crate) async fn open_display_apart(
        self: &Arc<Self>,
        spec: &RunSpec,
        run: &RunId,
        begun: &Arc<Begun>,
    ) -> Result<OpenDisplay> {
        let (app, spec, run) = (Arc::clone(self), spec.clone(), run.clone());
        let begun = Arc::clone(begun);
        let opening = tokio::task::spawn_blocking(move || {
            // Until the display is there, its processes are the guard's as well.
            let _begun = begun;
            app.open_display(&spec, Some(&run))
        });
        opening
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?
    }

    /// Opens the display a run asks for, or says why there is none. Blocks.
    pub(crate) fn open_display(&self, spec: &RunSpec, run: Option<&RunId>) -> Result<OpenDisplay> {
        let open = match &spec.display {
            Display::Private => self.open_private(run),
            Display::Named(name) => self.open_named(Some(name.clone()), false),
            Display::Session => {
                let wayland = self.desktop.wayland_display().is_some();
                self.open_named(self.desktop.display().map(str::to_owned), wayland)
            }
        }?;
        let monitors = open.platform.screen.monitors();
        let monitors = monitors.map_err(|error| no_screen(&error))?;
        choose_monitor(&monitors, spec.monitor.as_deref())
            .map_err(|error| Failure::new(Code::InvalidRequest, error.to_string()))?;
        Ok(open)
    }

    fn open_named(&self, display: Option<String>, wayland: bool) -> Result<OpenDisplay> {
        let authority = self.desktop.xauthority().map(std::path::Path::to_owned);
        let bus = self.desktop.bus().map(str::to_owned);
        let options = platform::Options {
            display: display.clone(),
            authority: authority.clone(),
            wayland,
            session_bus: bus.clone(),
        };
        let platform = platform::open(&options).map_err(|error| no_screen(&error))?;
        let mut variables = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            variables.extend(value.map(|value| (name.to_owned(), value)));
        };
        add("DISPLAY", display);
        add(
            "XAUTHORITY",
            authority.as_ref().map(|path| path.display().to_string()),
        );
        add("DBUS_SESSION_BUS_ADDRESS", bus);
        for (name, found) in self.desktop.found() {
            if matches!(
                name,
                "XDG_RUNTIME_DIR" | "XDG_CURRENT_DESKTOP" | "XDG_SESSION_TYPE"
            ) {
                add(name, found.value.to_str().map(str::to_owned));
            }
        }
        Ok(OpenDisplay {
            platform,
            variables,
            authority,
            pids: Vec::new(),
            #[cfg(target_os = "linux")]
            private: None,
        })
    }

    #[cfg(target_os = "linux")]
    fn open_private(&self, run: Option<&RunId>) -> Result<OpenDisplay> {
        let (width, height) = private_size(&self.values().screen.private_size)?;
        let session = private::PrivateSession::start(width, height, &self.paths.runtime, run)?;
        let platform = platform::open(&platform::Options {
            display: Some(session.display.name().to_owned()),
            authority: Some(session.display.authority().to_owned()),
            wayland: false,
            session_bus: session.bus_address.clone(),
        })
        .map_err(|error| no_screen(&error))?;
        let mut variables = vec![
            ("DISPLAY".to_owned(), session.display.name().to_owned()),
            (
                "XAUTHORITY".to_owned(),
                session.display.authority().display().to_string(),
            ),
            ("XDG_SESSION_TYPE".to_owned(), "x11".to_owned()),
        ];
        if let Some(address) = &session.bus_address {
            variables.push(("DBUS_SESSION_BUS_ADDRESS".to_owned(), address.clone()));
        }
        Ok(OpenDisplay {
            platform,
            variables,
            authority: Some(session.display.authority().to_owned()),
            pids: session.pids(),
            private: Some(session),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn open_private(&self, _run: Option<&RunId>) -> Result<OpenDisplay> {
        Err(Failure::new(
            Code::Unavailable,
            "a display of its own exists on Linux only",
        ))
    }
}

/// Why there is no screen, where the system has to allow it first.
pub(crate) const NOT_PERMITTED: &str = "screen_not_permitted";

pub(crate) fn no_screen(error: &openspace_gui::ScreenError) -> Failure {
    let mut failure = Failure::new(Code::Unavailable, error.to_string());
    if let openspace_gui::ScreenError::NotPermitted(_) = error {
        failure = failure.param("reason", NOT_PERMITTED);
    }
    failure.hint("on Linux, `--display private` gives the run a display of its own")
}

pub(crate) fn private_size(text: &str) -> Result<(u32, u32)> {
    let size = text
        .split_once('x')
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match size {
        Some((width, height))
            if (320..=7680).contains(&width) && (240..=4320).contains(&height) =>
        {
            Ok((width, height))
        }
        _ => Err(Failure::new(
            Code::Configuration,
            format!(
                "the setting `screen.private_size` is `{text}`; write WIDTHxHEIGHT, from 320x240 to 7680x4320"
            ),
        )),
    }
}

/// Windows of any process of ours, and the terminals that wait for answers, as the store knows them.
pub(crate) struct OwnWindows {
    pub(crate) store: Store,
    /// What stops a run, as the settings say.
    pub(crate) stop_chord: Vec<Key>,
}

impl OffLimits for OwnWindows {
    fn is_own(&self, window: &Window) -> bool {
        let alive = match self.store.read_blocking(|db| db.instances().alive()) {
            Ok(alive) => alive,
            Err(error) => {
                tracing::warn!(%error, "asking whose windows are off limits");
                // Not knowing is no permission.
                return true;
            }
        };
        alive.iter().any(|instance| {
            instance.windows.ids.contains(&window.id)
                || window
                    .pid
                    .is_some_and(|pid| instance.windows.pids.contains(&pid))
        })
    }

    fn stop_chord(&self) -> Vec<Key> {
        self.stop_chord.clone()
    }
}

/// The keys of the app's emergency stop, which no run may press; none where the person wants none.
fn stop_chord(text: &str) -> Vec<Key> {
    // What the settings hold was checked when they were read.
    let chord = openspace_gui::key::parse_chord(text, openspace_gui::key::KeyOptions::default());
    chord.map_or_else(|_| Vec::new(), |chord| chord.all().collect())
}

/// What the gui back end is made of.
pub(crate) fn gui_options(
    app: &App,
    spec: &RunSpec,
    platform: Platform,
    profile: &openspace_llm::Profile,
) -> openspace_gui::Options {
    let settings = app.values();
    let settings = &settings.screen;
    let mut shown = None;
    let screen: Arc<dyn openspace_gui::Screen> = if spec.display == Display::Private {
        platform.screen
    } else {
        shown = ring(app, &platform.display_name);
        let ours = ours(app.store.clone());
        let masked = openspace_gui::MaskedScreen::new(platform.screen, ours);
        Arc::new(masked.with_ring(shown.clone()))
    };
    let mut options =
        openspace_gui::Options::new(screen, platform.input, platform.tree, profile.images);
    options.coordinates = profile.coordinates;
    options.vision = profile.vision;
    options.monitor.clone_from(&spec.monitor);
    options.settle.limit = std::time::Duration::from_millis(settings.settle_ms);
    options.type_delay = std::time::Duration::from_millis(settings.type_delay_ms);
    options.off_limits = Some(Arc::new(OwnWindows {
        store: app.store.clone(),
        stop_chord: stop_chord(&app.values().desktop.hotkey_stop),
    }));
    options.marker = Some(MARKER.to_owned());
    options.cmd_is_ctrl = settings.cmd_is_ctrl;
    options.ring = shown;
    options
}

/// One line about the screen, for the model.
pub(crate) fn describe(
    platform: &Platform,
    spec: &RunSpec,
    profile: &openspace_llm::Profile,
) -> String {
    let monitors = match platform.screen.monitors() {
        Ok(monitors) => monitors,
        Err(error) => return format!("not available: {error}"),
    };
    let monitor = match choose_monitor(&monitors, spec.monitor.as_deref()) {
        Ok(monitor) => monitor,
        Err(error) => return format!("not available: {error}"),
    };
    let (width, height) = profile.images.fit(monitor.area.width, monitor.area.height);
    let others = monitors.len() - 1;
    let more = if others == 0 {
        String::new()
    } else {
        format!(", one of {} monitors", monitors.len())
    };
    format!(
        "monitor `{}` of {}x{} pixels{more}; pictures of it are sent as {width}x{height}",
        monitor.name, monitor.area.width, monitor.area.height
    )
}

/// What our pages put into their titles, so that a browser window that shows them is off limits.
pub const MARKER: &str = "\u{2060}OpenSpace\u{2060}";

#[cfg(target_os = "linux")]
pub(crate) mod private {
    use std::{
        io::{BufRead as _, BufReader, Read},
        path::Path,
        process::{Child, Command, Stdio},
        sync::mpsc,
        time::Duration,
    };

    use openspace_gui::platform::PrivateDisplay;
    use openspace_store::RunId;

    use crate::{Code, Failure, failure::Result};

    /// How long the bus may take to tell its address, as the display's server.
    const TOLD: Duration = Duration::from_secs(10);

    /// A display with a message bus of its own, so that programs on it do not talk to the person's
    /// desktop, and tell about themselves through the accessibility tree.
    pub(crate) struct PrivateSession {
        pub(crate) display: PrivateDisplay,
        pub(crate) bus_address: Option<String>,
        bus: Option<Child>,
    }

    impl PrivateSession {
        /// With a run, whatever the bus starts carries the run's mark, so that the guard finds it
        /// however early the runner dies.
        pub(crate) fn start(
            width: u32,
            height: u32,
            folder: &Path,
            run: Option<&RunId>,
        ) -> Result<Self> {
            openspace_config::paths::create_private(folder).map_err(|error| {
                Failure::new(
                    Code::Store,
                    format!("cannot create `{}`: {error}", folder.display()),
                )
            })?;
            let display = PrivateDisplay::start(width, height, folder)
                .map_err(|error| super::no_screen(&error))?;
            let (bus, bus_address) = match start_bus(&display, run) {
                Ok((bus, address)) => (Some(bus), Some(address)),
                Err(error) => {
                    tracing::info!(%error, "no message bus for the private display");
                    (None, None)
                }
            };
            Ok(Self {
                display,
                bus_address,
                bus,
            })
        }

        pub(crate) fn pids(&self) -> Vec<u32> {
            let mut pids = self.display.pids().to_vec();
            pids.extend(self.bus.as_ref().map(Child::id));
            pids
        }
    }

    fn start_bus(
        display: &PrivateDisplay,
        run: Option<&RunId>,
    ) -> std::io::Result<(Child, String)> {
        let mut command = Command::new("dbus-daemon");
        command
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            .env("DISPLAY", display.name())
            .env("XAUTHORITY", display.authority())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(run) = run {
            command.env("OPENSPACE_RUN_ID", run.as_str());
        }
        crate::guard::detach(&mut command);
        let mut bus = command.spawn()?;
        if let Some(output) = bus.stdout.take()
            && let Some(address) = first_line(output, TOLD)
        {
            return Ok((bus, address));
        }
        let _gone = bus.kill();
        let _reaped = bus.wait();
        Err(std::io::Error::other("dbus-daemon told no address"))
    }

    /// What is said first, within bounds: a program that neither speaks nor ends must not keep the run
    /// from ending.
    fn first_line(output: impl Read + Send + 'static, limit: Duration) -> Option<String> {
        let (said, heard) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(output).read_line(&mut line);
            // Whoever waited may have given up.
            let _gone = said.send(matches!(read, Ok(length) if length > 0).then_some(line));
        });
        let line = heard.recv_timeout(limit).ok().flatten()?;
        Some(line.trim().to_owned())
    }

    impl Drop for PrivateSession {
        fn drop(&mut self) {
            if let Some(mut bus) = self.bus.take() {
                // What the bus started (accessibility services) ends with it.
                openspace_process::kill_group(bus.id());
                let _gone = bus.kill();
                let _reaped = bus.wait();
            }
        }
    }
}
