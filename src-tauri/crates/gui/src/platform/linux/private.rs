//! A display of our own, so that the person keeps the mouse.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

use crate::ScreenError;

use super::x11::authority;
use super::x11::connection::Display;

/// How long the server may take to come up.
const START: Duration = Duration::from_secs(10);

/// How long the window manager may take; without it windows merely lack frames.
const MANAGED: Duration = Duration::from_secs(3);

/// An invisible X server with a window manager where one is installed. Dropping it stops both, and
/// the system stops both when this process dies.
pub struct PrivateDisplay {
    name: String,
    authority: PathBuf,
    pids: Vec<u32>,
    /// Dropping it ends the keeper thread.
    stop: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl PrivateDisplay {
    /// Starts a display of that size in pixels; its authority file goes into `folder`.
    ///
    /// # Errors
    /// [`ScreenError::NoDisplay`] with the package to install when Xvfb is missing, or with what
    /// it said when it would not start.
    pub fn start(width: u32, height: u32, folder: &Path) -> Result<Self, ScreenError> {
        let (stop, stopped) = channel::<()>();
        let (started, answer) = channel();
        let folder = folder.to_owned();
        // The system ends a child when the *thread* that started it ends, so the thread that
        // starts the server stays for as long as the server is wanted.
        let keeper = std::thread::Builder::new()
            .name("private-display".into())
            .spawn(move || {
                let running = match Running::start(width, height, &folder) {
                    Ok(running) => running,
                    Err(error) => {
                        let _ = started.send(Err(error));
                        return;
                    }
                };
                let _ = started.send(Ok(running.description()));
                // Only dropping the sender ends this; nothing is ever sent.
                let _ = stopped.recv();
                drop(running);
            })
            .map_err(|error| ScreenError::NoDisplay(error.to_string()))?;
        let ended = || ScreenError::NoDisplay("the private display ended while starting".into());
        let (name, authority, pids) = answer.recv().map_err(|_| ended())??;
        Ok(Self {
            name,
            authority,
            pids,
            stop: Some(stop),
            keeper: Some(keeper),
        })
    }

    /// Its name, such as `:7`, for `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its authority file, for `XAUTHORITY`.
    pub fn authority(&self) -> &Path {
        &self.authority
    }

    /// The processes behind it.
    pub fn pids(&self) -> &[u32] {
        &self.pids
    }
}

impl Drop for PrivateDisplay {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(keeper) = self.keeper.take() {
            // A panic there has been reported by the panic hook already.
            let _ = keeper.join();
        }
    }
}

impl std::fmt::Debug for PrivateDisplay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateDisplay({})", self.name)
    }
}

struct Running {
    name: String,
    authority: PathBuf,
    /// In the order they are stopped.
    children: Vec<Child>,
}

impl Running {
    fn start(width: u32, height: u32, folder: &Path) -> Result<Self, ScreenError> {
        let failed = |what: &str, error: std::io::Error| {
            ScreenError::NoDisplay(format!("{what} for the private display: {error}"))
        };
        let (file, cookie) = fresh_names(folder).map_err(|error| failed("no randomness", error))?;
        authority::write(&file, &cookie).map_err(|error| failed("no authority file", error))?;
        let mut running = Self {
            name: String::new(),
            authority: file,
            children: Vec::new(),
        };
        running.start_server(width, height)?;
        running.start_window_manager();
        Ok(running)
    }

    fn description(&self) -> (String, PathBuf, Vec<u32>) {
        let pids = self.children.iter().map(Child::id).collect();
        (self.name.clone(), self.authority.clone(), pids)
    }

    fn start_server(&mut self, width: u32, height: u32) -> Result<(), ScreenError> {
        let mut command = Command::new("Xvfb");
        // The number it found free comes through its standard output.
        command
            .args([
                "-displayfd",
                "1",
                "-nolisten",
                "tcp",
                "-noreset",
                "-s",
                "0",
                "-screen",
                "0",
            ])
            .arg(format!("{width}x{height}x24"))
            .arg("-auth")
            .arg(&self.authority)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        die_with_us(&mut command);
        let mut server = command.spawn().map_err(|error| {
            ScreenError::NoDisplay(if error.kind() == std::io::ErrorKind::NotFound {
                "a private display needs Xvfb, which is not installed; install the package `xvfb` \
                 (Debian, Ubuntu), `xorg-x11-server-Xvfb` (Fedora) or `xorg-server-xvfb` (Arch)"
                    .into()
            } else {
                format!("Xvfb would not start: {error}")
            })
        })?;
        let output = server.stdout.take();
        let errors = server.stderr.take();
        self.children.push(server);
        let number = output.and_then(|output| first_line(output, START));
        let Some(number) = number.filter(|it| it.parse::<u16>().is_ok()) else {
            self.stop();
            let mut said = String::new();
            if let Some(errors) = errors {
                let _ = errors.take(2000).read_to_string(&mut said);
            }
            return Err(ScreenError::NoDisplay(format!(
                "Xvfb would not start: {}",
                said.trim()
            )));
        };
        if let Some(errors) = errors {
            // A full pipe would stop the server.
            std::thread::spawn(move || std::io::copy(&mut { errors }, &mut std::io::sink()));
        }
        self.name = format!(":{number}");
        Ok(())
    }

    fn start_window_manager(&mut self) {
        let mut command = Command::new("openbox");
        command
            .env("DISPLAY", &self.name)
            .env("XAUTHORITY", &self.authority)
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        die_with_us(&mut command);
        match command.spawn() {
            Ok(child) => {
                self.children.insert(0, child);
                self.wait_until_managed();
            }
            Err(error) => tracing::info!(%error, "no window manager on the private display"),
        }
    }

    fn wait_until_managed(&self) {
        let until = Instant::now() + MANAGED;
        let Ok(display) = Display::open(&self.name, Some(&self.authority)) else {
            return;
        };
        let check = display.atoms._NET_SUPPORTING_WM_CHECK;
        while Instant::now() < until {
            let there = display
                .conn
                .get_property(false, display.root, check, AtomEnum::WINDOW, 0, 1)
                .is_ok_and(|cookie| cookie.reply().is_ok_and(|it| it.value_len == 1));
            if there {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        tracing::info!("the window manager of the private display is slow");
    }

    fn stop(&mut self) {
        for mut child in self.children.drain(..) {
            terminate(&mut child);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        if let Err(error) = std::fs::remove_file(&self.authority) {
            tracing::debug!(%error, "removing the authority file of the private display");
        }
    }
}

/// Asks it to end, so that it cleans up its lock files, and insists after a second.
fn terminate(child: &mut Child) {
    if let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Lets the system end the child when the thread that starts it ends.
fn die_with_us(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only two system calls are made, both async-signal-safe;
    // nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            // The parent may have died before the line above.
            if libc::getppid() as u32 != parent {
                return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
}

fn first_line(output: std::process::ChildStdout, limit: Duration) -> Option<String> {
    let (line, answer) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = BufReader::new(output).read_line(&mut text);
        // Whoever waited may have given up.
        let _ = line.send(
            read.ok()
                .filter(|read| *read > 0)
                .map(|_| text.trim().to_owned()),
        );
    });
    answer.recv_timeout(limit).ok().flatten()
}

/// A path nobody else uses, and a cookie nobody can guess.
fn fresh_names(folder: &Path) -> std::io::Result<(PathBuf, [u8; 16])> {
    let mut random = [0; 24];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    let (cookie, name) = random.split_at(16);
    let name = name
        .iter()
        .fold(0u64, |all, byte| all << 8 | u64::from(*byte));
    let mut fixed = [0; 16];
    fixed.copy_from_slice(cookie);
    Ok((folder.join(format!("xauthority-{name:016x}")), fixed))
}
