//! The click test: one click on a target of our own, to see whether it lands where it was meant.
//!
//! It takes the mouse for a moment, so nothing but a person's wish begins it, and while a run has the
//! screen it is refused. The target is found in a picture of the screen, as a model finds it, and clicked
//! as a run clicks; the practice window says where the click arrived.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use openspace_gui::{
    Button, Capture, Input, InputError, InputPoint, InputRect, Monitor, Screen, ScreenError,
    Window,
    platform::{self, Platform},
};

use crate::{
    App, Check, Code, Failure, Health,
    control::claim,
    desk::{AIMED, Arrived},
    failure::Result,
    rpc::Sentence,
};

/// Longest start of the practice window, and longest way of a click.
const OPENS: Duration = Duration::from_secs(20);
const ARRIVES: Duration = Duration::from_secs(3);
/// Between two looks at the screen.
const LOOK: Duration = Duration::from_millis(100);
/// The target's colour in practice.css, red, green and blue, and how much of it a screen may change.
const COLOUR: [u8; 3] = [0xD8, 0x1B, 0x9A];
const NEAR: u8 = 8;
/// Least side of a target that was found, pixels.
const LEAST: u32 = 16;
/// What a click may be off, pixels: what rounding between scales takes.
const EXACT: u32 = 1;

/// Where a click arrived, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Landed {
    arrived: Arrived,
    after: Duration,
}

/// What kept the click from being tried.
#[derive(Debug)]
enum Untried {
    Window(String),
    Unseen,
    Covered,
    Screen(ScreenError),
    Input(InputError),
}

impl From<ScreenError> for Untried {
    fn from(error: ScreenError) -> Self {
        Self::Screen(error)
    }
}

impl From<InputError> for Untried {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl App {
    /// Opens the practice window, clicks once into the middle of its target and tells where the click
    /// arrived.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for a run, and while one has the screen; [`Code::Unavailable`] where there is
    /// no screen.
    pub async fn click_test(&self) -> Result<Check> {
        self.refuse_runs("use the mouse")?;
        let options = self.session_platform();
        let runtime = self.paths.runtime.clone();
        let program = self
            .surface
            .program
            .with_file_name(format!("openspace-desktop{}", std::env::consts::EXE_SUFFIX));
        let tried = tokio::task::spawn_blocking(move || -> Result<_> {
            let open =
                platform::open(&options).map_err(|error| crate::display::no_screen(&error))?;
            let _claim = claimed(&runtime, &open.display_name)?;
            let window = Target::open(&program, &options);
            Ok(window.and_then(|mut window| window.try_click(open)))
        });
        let tried = tried
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        Ok(match tried? {
            Ok(landed) => told(landed),
            Err(untried) => untold(&untried),
        })
    }
}

/// The screen, so that no run takes it meanwhile.
fn claimed(runtime: &Path, display: &str) -> Result<File> {
    let claim = claim(runtime, display).map_err(|error| {
        Failure::new(
            Code::Unavailable,
            format!("the screen cannot be claimed: {error}"),
        )
    })?;
    claim.ok_or_else(|| {
        Failure::new(Code::Forbidden, "a run has the screen and the mouse")
            .hint("wait until it has ended, or stop it, and try again")
    })
}

fn told(landed: Option<Landed>) -> Check {
    let check = |health, found| Check::new("input", health, found);
    let Some(Landed { arrived, after }) = landed else {
        return check(Health::Problem, Sentence::new("check.input.lost"))
            .fix(Sentence::new("check.input.lost.fix"));
    };
    let off = arrived.x.unsigned_abs().max(arrived.y.unsigned_abs());
    let found = |key: &str| {
        Sentence::new(key)
            .with("off", off.to_string())
            .with("ms", after.as_millis().to_string())
    };
    if off <= EXACT {
        return check(Health::Ok, found("check.input.landed"));
    }
    let key = if arrived.hit {
        "check.input.off"
    } else {
        "check.input.missed"
    };
    let health = if arrived.hit {
        Health::Warning
    } else {
        Health::Problem
    };
    check(health, found(key)).fix(Sentence::new("check.input.off.fix"))
}

fn untold(untried: &Untried) -> Check {
    let (key, detail) = match untried {
        Untried::Window(error) => ("check.input.no_window", Some(error.clone())),
        Untried::Unseen => ("check.input.unseen", None),
        Untried::Covered => ("check.input.covered", None),
        Untried::Screen(error) => ("check.input.no_screen", Some(error.to_string())),
        Untried::Input(error) => ("check.input.refused", Some(error.to_string())),
    };
    let check = Check::new("input", Health::Problem, Sentence::new(key));
    match detail {
        Some(detail) => check.detail(detail),
        None => check,
    }
}

/// The practice window with its target. Closed when dropped.
struct Target {
    program: Child,
    said: Receiver<(Instant, Arrived)>,
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Err(error) = self.program.kill().and_then(|()| self.program.wait()) {
            tracing::warn!(%error, "the practice window does not close");
        }
    }
}

impl Target {
    fn open(program: &Path, options: &platform::Options) -> std::result::Result<Self, Untried> {
        let failed = |error: String| Untried::Window(format!("`{}`: {error}", program.display()));
        let mut command = Command::new(program);
        command
            .args(["--practice", AIMED])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut set = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                command.env(name, value);
            }
        };
        set("DISPLAY", options.display.as_deref());
        set("DBUS_SESSION_BUS_ADDRESS", options.session_bus.as_deref());
        let authority: Option<&PathBuf> = options.authority.as_ref();
        set("XAUTHORITY", authority.and_then(|path| path.to_str()));
        let mut program = command.spawn().map_err(|error| failed(error.to_string()))?;
        let Some(output) = program.stdout.take() else {
            return Err(failed("it has no output".to_owned()));
        };
        Ok(Self {
            program,
            said: listen(output),
        })
    }

    /// The click; none where it did not arrive.
    fn try_click(&mut self, open: Platform) -> std::result::Result<Option<Landed>, Untried> {
        let Platform {
            screen, mut input, ..
        } = open;
        let (monitor, point) = self.found(&screen)?;
        let before = screen.pointer()?;
        let landed = self.click(&*screen, &mut *input, &monitor, point);
        if landed.is_err() {
            // A button that went down and not up.
            input.release_all()?;
        }
        // The person's pointer goes back to where it was.
        input.move_to(before, &|| true)?;
        landed
    }

    /// Waits for the window and finds its target in a picture that stays as it is.
    fn found(
        &mut self,
        screen: &Arc<dyn Screen>,
    ) -> std::result::Result<(Monitor, InputPoint), Untried> {
        let end = Instant::now() + OPENS;
        let mut last = None;
        let mut seen = false;
        while Instant::now() < end {
            if let Ok(Some(status)) = self.program.try_wait() {
                return Err(Untried::Window(status.to_string()));
            }
            std::thread::sleep(LOOK);
            let windows = screen.windows()?;
            let Some(window) = windows.iter().find(|window| self.owns(window)) else {
                continue;
            };
            seen = true;
            let found = target_in(&**screen, &window.area)?;
            if found.is_some() && found == last {
                return found.ok_or(Untried::Unseen);
            }
            last = found;
        }
        if seen {
            return Err(Untried::Unseen);
        }
        let seconds = OPENS.as_secs();
        Err(Untried::Window(format!("not shown within {seconds} s")))
    }

    fn click(
        &self,
        screen: &dyn Screen,
        input: &mut dyn Input,
        monitor: &Monitor,
        point: InputPoint,
    ) -> std::result::Result<Option<Landed>, Untried> {
        let is_ours = || -> std::result::Result<bool, Untried> {
            let under = screen.window_at(point)?;
            Ok(under.is_some_and(|window| self.owns(&window)))
        };
        // Another program that lies above would get the click.
        if !monitor.area.contains(point) || !is_ours()? {
            return Err(Untried::Covered);
        }
        input.move_to(point, &|| true)?;
        if !is_ours()? {
            return Err(Untried::Covered);
        }
        let begun = Instant::now();
        input.button(Button::Left, true, &|| true)?;
        input.button(Button::Left, false, &|| true)?;
        match self.said.recv_timeout(ARRIVES) {
            Ok((at, arrived)) => Ok(Some(Landed {
                arrived,
                after: at.saturating_duration_since(begun),
            })),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    fn owns(&self, window: &Window) -> bool {
        window.pid == Some(self.program.id())
    }
}

/// What the window says, with the time it was heard.
fn listen(output: ChildStdout) -> Receiver<(Instant, Arrived)> {
    let (say, said) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output)
            .lines()
            .map_while(std::result::Result::ok)
        {
            if let Some(arrived) = Arrived::parse(&line)
                && say.send((Instant::now(), arrived)).is_err()
            {
                return;
            }
        }
    });
    said
}

/// The middle of the target within an area of the screen, on the monitor that shows it.
fn target_in(
    screen: &dyn Screen,
    area: &InputRect,
) -> std::result::Result<Option<(Monitor, InputPoint)>, Untried> {
    for monitor in screen.monitors()? {
        let capture = screen.capture(&monitor)?;
        let within = within(&capture, &monitor, area);
        if let Some((x, y)) = middle(&capture, within) {
            let to = |at: u32, from: i32, side: u32, pixels: u32| {
                // Through pixel centres, as everywhere.
                let at = (u64::from(at) * 2 + 1) * u64::from(side) / (u64::from(pixels) * 2);
                from + i32::try_from(at).unwrap_or_default()
            };
            let point = InputPoint {
                x: to(x, monitor.area.x, monitor.area.width, capture.width),
                y: to(y, monitor.area.y, monitor.area.height, capture.height),
            };
            return Ok(Some((monitor, point)));
        }
    }
    Ok(None)
}

/// An area of the screen in pixels of a picture: left, top, right, bottom.
fn within(capture: &Capture, monitor: &Monitor, area: &InputRect) -> [u32; 4] {
    let span = |start: i32, length: u32, from: i32, side: u32, pixels: u32| {
        let pixel = |at: i64| {
            let at = (at - i64::from(from)) * i64::from(pixels) / i64::from(side.max(1));
            u32::try_from(at.clamp(0, i64::from(pixels))).unwrap_or_default()
        };
        let start = i64::from(start);
        (pixel(start), pixel(start + i64::from(length)))
    };
    let to = &monitor.area;
    let (left, right) = span(area.x, area.width, to.x, to.width, capture.width);
    let (top, bottom) = span(area.y, area.height, to.y, to.height, capture.height);
    [left, top, right, bottom]
}

/// The middle pixel of what has the target's colour, where it is a full square.
fn middle(capture: &Capture, [left, top, right, bottom]: [u32; 4]) -> Option<(u32, u32)> {
    let [red, green, blue] = COLOUR;
    let is_target = |x: u32, y: u32| {
        let at = (y as usize * capture.width as usize + x as usize) * 4;
        let pixel = capture.bgrx.get(at..at + 3);
        pixel.is_some_and(|pixel| {
            let mut pairs = pixel.iter().zip([blue, green, red]);
            pairs.all(|(is, wanted)| is.abs_diff(wanted) <= NEAR)
        })
    };
    let (mut west, mut north, mut east, mut south) = (u32::MAX, u32::MAX, 0, 0);
    let mut count = 0_u64;
    for y in top..bottom {
        for x in left..right {
            if is_target(x, y) {
                (west, east) = (west.min(x), east.max(x));
                (north, south) = (north.min(y), south.max(y));
                count += 1;
            }
        }
    }
    let (width, height) = (
        (east + 1).checked_sub(west)?,
        (south + 1).checked_sub(north)?,
    );
    let full = u64::from(width) * u64::from(height);
    let square = width.abs_diff(height) <= 2 && width >= LEAST && count * 10 >= full * 9;
    square.then_some((west + width / 2, north + height / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, target: [u32; 4]) -> Capture {
        let [left, top, right, bottom] = target;
        let mut bgrx = Vec::new();
        for y in 0..height {
            for x in 0..width {
                let inside = (left..right).contains(&x) && (top..bottom).contains(&y);
                let [red, green, blue] = if inside { COLOUR } else { [247, 248, 250] };
                bgrx.extend([blue, green, red, 0]);
            }
        }
        Capture {
            width,
            height,
            bgrx,
            covered: Vec::new(),
        }
    }

    /// The middle is that of the whole square, and half a square is none.
    #[test]
    fn the_target_is_found_whole_or_not_at_all() {
        let all = [0, 0, 200, 100];
        let capture = picture(200, 100, [40, 20, 104, 84]);
        assert_eq!(middle(&capture, all), Some((72, 52)));
        assert_eq!(middle(&capture, [60, 0, 200, 100]), None, "cut by an edge");
        assert_eq!(
            middle(&picture(200, 100, [40, 20, 50, 30]), all),
            None,
            "small"
        );
        assert_eq!(middle(&picture(200, 100, [0, 0, 0, 0]), all), None);
    }

    /// An area is the same part of a picture of twice the pixels, left of the first monitor, too.
    #[test]
    fn areas_are_scaled() {
        let monitor = Monitor {
            name: "left".to_owned(),
            area: InputRect {
                x: -100,
                y: 0,
                width: 100,
                height: 50,
            },
            scale: 2.0,
            primary: false,
        };
        let capture = picture(200, 100, [0, 0, 0, 0]);
        let area = InputRect {
            x: -50,
            y: 10,
            width: 100,
            height: 20,
        };
        assert_eq!(within(&capture, &monitor, &area), [100, 20, 200, 60]);
    }

    /// Exact, off, missed and lost are four things.
    #[test]
    fn what_was_found_is_told() {
        let health = |x, y, hit| {
            let landed = Landed {
                arrived: Arrived { x, y, hit },
                after: Duration::from_millis(7),
            };
            let check = told(Some(landed));
            (check.health, check.found[0].key.clone())
        };
        assert_eq!(
            health(0, 0, true),
            (Health::Ok, "check.input.landed".into())
        );
        assert_eq!(health(-1, 1, true).0, Health::Ok);
        assert_eq!(
            health(5, -12, true),
            (Health::Warning, "check.input.off".into())
        );
        assert_eq!(
            health(90, 0, false),
            (Health::Problem, "check.input.missed".into())
        );
        assert_eq!(told(None).health, Health::Problem);
    }

    /// While a run has the screen nothing is tried, and what was claimed is given back.
    #[test]
    fn a_run_keeps_the_screen() {
        use openspace_agent::Control as _;

        let folder = tempfile::tempdir().expect("a folder");
        let run = openspace_store::RunId::random();
        let lock = crate::DisplayLock::new(folder.path(), ":7", run);
        assert!(lock.try_acquire().expect("free"));
        let failure = claimed(folder.path(), ":7").expect_err("taken");
        assert_eq!(failure.code, Code::Forbidden);
        lock.release();
        let claim = claimed(folder.path(), ":7").expect("free");
        assert!(!lock.try_acquire().expect("claimed"));
        assert_eq!(crate::holders(folder.path()), [], "it is no run's");
        drop(claim);
        assert!(lock.try_acquire().expect("free again"));
    }
}
