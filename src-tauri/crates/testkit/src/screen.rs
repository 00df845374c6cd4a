//! A private X server, with a window manager, monitors, keyboard layouts and a session bus.
//!
//! ```no_run
//! use openspace_testkit::{Options, TestHome, TestScreen};
//!
//! let home = TestHome::new().unwrap();
//! let screen = TestScreen::start(Options { mark: Some(home.mark().clone()), ..Options::default() }).unwrap();
//! let environment = screen.environment_in(&home); // for children
//! let picture = screen.screenshot().unwrap();
//! ```

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use image::RgbImage;
use x11rb::rust_connection::RustConnection;

use crate::home::{MARK_VARIABLE, Mark, TestHome};
use crate::spawn::{Spawned, quiet};

mod bus;
mod display;

/// How long a server, a window manager or a bus may take to start.
pub(crate) const START: Duration = Duration::from_secs(15);

/// A rectangle of the screen in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl Rect {
    /// A rectangle by its left upper corner and size.
    pub fn new(x: i32, y: i32, width: u32, height: u32) -> Self {
        Self {
            x,
            y,
            width,
            height,
        }
    }

    /// The middle; for even sizes the pixel right of and below it.
    pub fn centre(self) -> (i32, i32) {
        (
            self.x + self.width as i32 / 2,
            self.y + self.height as i32 / 2,
        )
    }

    /// Whether the pixel lies inside.
    pub fn contains(self, x: i32, y: i32) -> bool {
        (self.x..self.x + self.width as i32).contains(&x)
            && (self.y..self.y + self.height as i32).contains(&y)
    }
}

/// What a screen shall be like.
#[derive(Debug, Clone)]
pub struct Options {
    /// Width of the whole screen in pixels.
    pub width: u32,
    /// Height of the whole screen in pixels.
    pub height: u32,
    /// Dots per inch as reported; the server's default (96) when `None`.
    pub dpi: Option<u32>,
    /// Monitors that divide the screen; the first is the primary. One monitor when empty.
    pub monitors: Vec<Rect>,
    /// Keyboard layouts as `setxkbmap` takes them: `us`, `de`, `us,ru`.
    pub layouts: String,
    /// Which of the layouts is locked, from 0.
    pub group: u8,
    /// Runs openbox, which gives new windows the focus.
    pub window_manager: bool,
    /// Runs a private session bus with the accessibility bus on it.
    pub session_bus: bool,
    /// Refuses clients that don't present the cookie in `XAUTHORITY`.
    pub cookie: bool,
    /// The mark of the processes; that of the test's [`TestHome`] where leaks are checked.
    pub mark: Option<Mark>,
}

impl Default for Options {
    /// 1920x1080, one monitor, US keyboard, a window manager, no bus.
    fn default() -> Self {
        Self {
            width: 1920,
            height: 1080,
            dpi: None,
            monitors: Vec::new(),
            layouts: "us".to_owned(),
            group: 0,
            window_manager: true,
            session_bus: false,
            cookie: false,
            mark: None,
        }
    }
}

impl Options {
    /// The default at another size.
    pub fn sized(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            ..Self::default()
        }
    }
}

/// A running X server of our own; it and all it started end on drop.
pub struct TestScreen {
    // Fields drop in this order: clients before the server, the folder last.
    connection: RustConnection,
    root_index: usize,
    compositor: Option<Spawned>,
    manager: Option<Spawned>,
    bus: Option<bus::SessionBus>,
    server: Spawned,
    number: u32,
    size: (u32, u32),
    cookie: Option<[u8; 16]>,
    authority: PathBuf,
    home: TestHome,
}

impl std::fmt::Debug for TestScreen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TestScreen")
            .field("display", &self.display())
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl TestScreen {
    /// Starts everything and returns when it is usable.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write the options in place"
    )]
    pub fn start(options: Options) -> Result<Self> {
        let home = TestHome::with_mark(options.mark.clone().unwrap_or_default())?;
        let authority = home.root().join("authority");
        let cookie = options.cookie.then(display::random_cookie);
        std::fs::write(&authority, cookie.map_or(Vec::new(), display::authority))?;
        let (server, number) = start_server(&options, &home, cookie.is_some())?;
        let (connection, root_index) = display::connect(number, cookie)?;
        let mut screen = Self {
            connection,
            root_index,
            compositor: None,
            manager: None,
            bus: None,
            server,
            number,
            size: (options.width, options.height),
            cookie,
            authority,
            home,
        };
        screen.set_layouts(&options.layouts, options.group)?;
        display::set_monitors(&screen.connection, screen.root_index, &options.monitors)?;
        if options.window_manager {
            screen.start_manager()?;
        }
        if options.session_bus {
            let environment = screen.environment_in(&screen.home);
            screen.bus = Some(bus::SessionBus::start(environment, screen.home.root())?);
        }
        Ok(screen)
    }

    /// The display's name, `:17`.
    pub fn display(&self) -> String {
        format!(":{}", self.number)
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// What a child needs beside a home: display, authority, bus, mark. Extend a home's map with it.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let mut environment: BTreeMap<String, String> = [
            ("DISPLAY", self.display()),
            ("XAUTHORITY", self.authority.to_string_lossy().into_owned()),
            ("GDK_BACKEND", "x11".to_owned()),
            ("XDG_SESSION_TYPE", "x11".to_owned()),
            (MARK_VARIABLE, self.home.mark().as_str().to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        let address = self.bus.as_ref().map(|bus| bus.address().to_owned());
        if address.is_none() {
            // Programs otherwise complain, or wait, for an accessibility bus.
            environment.insert("NO_AT_BRIDGE".to_owned(), "1".to_owned());
        }
        environment.insert(
            "DBUS_SESSION_BUS_ADDRESS".to_owned(),
            address.unwrap_or_else(|| "disabled:".to_owned()),
        );
        environment
    }

    /// The whole environment of a child that lives in `home` and sees this screen.
    pub fn environment_in(&self, home: &TestHome) -> BTreeMap<String, String> {
        let mut environment = home.environment();
        environment.extend(self.environment());
        environment
    }

    /// The screen's own home, for programs that need just any.
    pub fn home(&self) -> &TestHome {
        &self.home
    }

    /// The address of the session bus, when there is one.
    pub fn bus_address(&self) -> Option<&str> {
        self.bus.as_ref().map(bus::SessionBus::address)
    }

    /// The picture on the screen, straight from the server.
    pub fn screenshot(&self) -> Result<RgbImage> {
        display::screenshot(&self.connection, self.root_index, self.size)
    }

    /// Changes the layouts while the screen is in use; `group` counts from 0.
    pub fn set_layouts(&self, layouts: &str, group: u8) -> Result<()> {
        let mut command = Command::new("setxkbmap");
        command
            .args(["-display", &self.display(), "-layout", layouts])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = Spawned::start(command, &self.environment_in(&self.home))?;
        let status = child.wait(START).context("`setxkbmap` does not end")?;
        ensure!(
            status.success(),
            "`setxkbmap -layout {layouts}` failed: {status}"
        );
        display::lock_group(&self.connection, group)
    }

    /// Starts a program on this screen in the screen's own home; ended on drop of the value.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Result<Spawned> {
        let mut command = quiet(program, &self.home.root().join("programs.log"))?;
        command.args(arguments).current_dir(self.home.workspace());
        Spawned::start(command, &self.environment_in(&self.home))
    }

    /// Where the pointer is.
    pub fn pointer(&self) -> Result<(i32, i32)> {
        display::pointer(&self.connection, self.root_index)
    }

    /// Moves the pointer out of a target's way, as a person could.
    pub fn move_pointer(&self, x: i32, y: i32) -> Result<()> {
        display::move_pointer(&self.connection, self.root_index, x, y)
    }

    /// Presses or releases the left button of the screen's own mouse, where the pointer is: what is
    /// injected comes from another device, and programs can tell.
    pub fn button_by_hand(&self, down: bool) -> Result<()> {
        display::button_by_hand(&self.connection, down)
    }

    /// Clicks as a person does.
    pub fn click_by_hand(&self, x: i32, y: i32) -> Result<()> {
        self.move_pointer(x, y)?;
        self.button_by_hand(true)?;
        self.button_by_hand(false)
    }

    /// Kills the server as a crash would, to see what its clients do.
    pub fn crash(&mut self) {
        self.server.signal(rustix::process::Signal::KILL);
        self.server.wait(START);
    }

    /// A connection of the test's own.
    pub fn connect(&self) -> Result<RustConnection> {
        Ok(display::connect(self.number, self.cookie)?.0)
    }

    pub(crate) fn connection(&self) -> &RustConnection {
        &self.connection
    }

    pub(crate) fn root_index(&self) -> usize {
        self.root_index
    }

    /// Starts what most desktops have: a compositor, which draws every window by itself, with shadows.
    /// Answers its process's id.
    pub fn start_compositor(&mut self) -> Result<u32> {
        let file = self.home.root().join("picom.conf");
        std::fs::write(&file, "backend = \"xrender\";\nshadow = true;\n")?;
        let mut command = quiet("picom", &self.home.root().join("picom.log"))?;
        command.arg("--config").arg(&file);
        let environment = self.environment_in(&self.home);
        let compositor = Spawned::start(command, &environment)?;
        let id = compositor.id();
        self.compositor = Some(compositor);
        display::wait_composited(&self.connection, self.root_index)?;
        Ok(id)
    }

    fn start_manager(&mut self) -> Result<()> {
        let file = self.home.root().join("openbox.xml");
        std::fs::write(&file, include_str!("screen/openbox.xml"))?;
        let mut command = quiet("openbox", &self.home.root().join("openbox.log"))?;
        command.arg("--sm-disable").arg("--config-file").arg(&file);
        let environment = self.environment_in(&self.home);
        self.manager = Some(Spawned::start(command, &environment)?);
        display::wait_managed(&self.connection, self.root_index)
    }
}

/// Starts the server on the first free number it finds, and returns that number.
fn start_server(options: &Options, home: &TestHome, cookie: bool) -> Result<(Spawned, u32)> {
    let geometry = format!("{}x{}x24", options.width, options.height);
    let mut command = quiet("Xvfb", &home.root().join("server.log"))?;
    command
        .args(["-displayfd", "1", "-screen", "0", &geometry])
        .args(["-nolisten", "tcp", "-noreset"])
        .stdout(Stdio::piped());
    if let Some(dpi) = options.dpi {
        command.args(["-dpi", &dpi.to_string()]);
    }
    if cookie {
        command.arg("-auth").arg(home.root().join("authority"));
    }
    let mut server = Spawned::start(command, &home.environment())?;
    let line = first_line(&mut server)?;
    let number = line
        .parse()
        .with_context(|| format!("`Xvfb` printed {line:?} in place of its number"))?;
    Ok((server, number))
}

/// The first line a child writes to its piped output, waited for at most [`START`].
fn first_line(child: &mut Spawned) -> Result<String> {
    let name = child.name().to_owned();
    let output = child
        .child()
        .stdout
        .take()
        .ok_or_else(|| anyhow!("`{name}` has no pipe"))?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = String::new();
        let read = reader.read_line(&mut line).map(|_| line);
        sender.send(read).ok();
        // Read on, so that the child never meets a full or closed pipe.
        std::io::copy(&mut reader, &mut std::io::sink()).ok();
    });
    match receiver.recv_timeout(START) {
        Ok(line) => Ok(line?.trim().to_owned()),
        Err(_) => bail!("`{name}` did not start within {} s", START.as_secs()),
    }
}
