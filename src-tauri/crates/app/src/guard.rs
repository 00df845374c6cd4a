//! The small process that cleans up when a runner dies: it releases what was pressed and ends what
//! was started, because nothing in the dead process can.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};

use openspace_gui::Held;
use openspace_store::RunId;
use serde::{Deserialize, Serialize};

use crate::{Code, Failure, failure::Result};

/// What a runner tells its guard, one JSON object a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Notice {
    /// A run begins. A file at `stop` that stays means that its runner does not hear a stop.
    Begin {
        run: RunId,
        stop: std::path::PathBuf,
    },
    /// What a run has pressed, from now on; empty when nothing.
    Held {
        run: RunId,
        held: Held,
        authority: Option<std::path::PathBuf>,
    },
    /// A process group of a run was started.
    Started { run: RunId, pid: u32 },
    /// It ended, or may outlive the run.
    Ended { run: RunId, pid: u32 },
    /// A display of the run's own was started.
    Display { run: RunId, pids: Vec<u32> },
    /// A run is to have nothing pressed and no process any more, whatever becomes of it.
    Clear { run: RunId },
    /// A run is over and has cleaned up.
    End { run: RunId },
}

/// What the guard knows of a run.
#[derive(Debug, Default, Clone)]
struct Watched {
    stop: std::path::PathBuf,
    /// When its stop was seen first.
    stopped: Option<Instant>,
    /// It was cleaned up after because of that.
    cleared: bool,
    held: Held,
    authority: Option<std::path::PathBuf>,
    groups: Vec<u32>,
    display: Vec<u32>,
}

/// A runner's end of the pipe. Cheap to clone.
#[derive(Clone)]
pub struct GuardPipe {
    inner: Arc<Mutex<Pipe>>,
}

struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
}

impl GuardPipe {
    /// Starts the guard.
    pub fn start(command: &mut std::process::Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = start_apart(command).map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("the guard process could not be started: {error}"),
            )
        })?;
        let input = child.stdin.take();
        Ok(Self {
            inner: Arc::new(Mutex::new(Pipe { child, input })),
        })
    }

    /// Whether the guard is there.
    pub fn is_alive(&self) -> bool {
        let mut pipe = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        pipe.input.is_some() && matches!(pipe.child.try_wait(), Ok(None))
    }

    fn tell(&self, notice: &Notice) {
        let mut pipe = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(input) = &mut pipe.input else { return };
        let told = serde_json::to_string(notice)
            .map_err(io::Error::other)
            .and_then(|line| writeln!(input, "{line}"))
            .and_then(|()| input.flush());
        if let Err(error) = told {
            tracing::warn!(%error, "the guard is gone; a new one starts with the next run");
            pipe.input = None;
        }
    }

    /// A run begins, and is over once the last of what this answers is dropped. `stop` is where others
    /// leave a stop that the store does not take, or its runner does not hear.
    pub(crate) fn begin(&self, run: &RunId, stop: &std::path::Path) -> Arc<Begun> {
        self.tell(&Notice::Begin {
            run: run.clone(),
            stop: stop.to_owned(),
        });
        Arc::new(Begun {
            pipe: self.clone(),
            run: run.clone(),
        })
    }

    /// Whatever a run has pressed is released now, and its processes are ended.
    pub fn clear(&self, run: &RunId) {
        self.tell(&Notice::Clear { run: run.clone() });
    }

    /// A display of the run's own was started.
    pub fn display(&self, run: &RunId, pids: &[u32]) {
        self.tell(&Notice::Display {
            run: run.clone(),
            pids: pids.to_vec(),
        });
    }
}

/// A run that is not over, or has not cleaned up.
pub(crate) struct Begun {
    pipe: GuardPipe,
    run: RunId,
}

impl Drop for Begun {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Nobody else cleans up then.
            self.pipe.clear(&self.run);
        }
        self.pipe.tell(&Notice::End {
            run: self.run.clone(),
        });
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // End of file: the guard finishes what is left and goes.
        self.input = None;
        let _reaped = self.child.wait();
    }
}

/// What one run tells the guard.
pub(crate) struct RunGuard {
    pub(crate) pipe: GuardPipe,
    pub(crate) run: RunId,
    /// The file with the cookie of the run's display, where it has one of its own.
    pub(crate) authority: Option<std::path::PathBuf>,
}

impl openspace_grounding::GuardLink for RunGuard {
    fn group_started(&self, pid: u32) {
        self.pipe.tell(&Notice::Started {
            run: self.run.clone(),
            pid,
        });
    }

    fn group_ended(&self, pid: u32) {
        self.pipe.tell(&Notice::Ended {
            run: self.run.clone(),
            pid,
        });
    }

    fn held(&self, state: &serde_json::Value) {
        let held = match serde_json::from_value::<Option<Held>>(state.clone()) {
            Ok(held) => held.unwrap_or_default(),
            Err(error) => {
                tracing::warn!(%error, "what is pressed could not be told to the guard");
                return;
            }
        };
        let authority = self.authority.clone();
        self.pipe.tell(&Notice::Held {
            run: self.run.clone(),
            held,
            authority,
        });
    }
}

/// A process in a group of its own: a Ctrl-C in the terminal does not reach it.
#[cfg(target_os = "linux")]
pub(crate) fn detach(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

/// Attempts to start a process that a Ctrl-C may end before it has left the terminal's group.
const ATTEMPTS: u32 = 3;

/// Starts a process of ours that leaves the session, and waits until it has: before that, whatever
/// ends this process's group or terminal would end it as well. Standard input and error are the
/// caller's to choose.
pub(crate) fn start_apart(command: &mut std::process::Command) -> io::Result<Child> {
    command.stdout(Stdio::piped());
    let mut ended = None;
    for _ in 0..ATTEMPTS {
        let mut child = command.spawn()?;
        let mut line = String::new();
        let told = match child.stdout.take() {
            Some(output) => io::BufReader::new(output).read_line(&mut line)?,
            None => 0,
        };
        if told > 0 {
            return Ok(child);
        }
        let _gone = child.kill();
        ended = Some(child.wait()?);
    }
    let how = ended.map(|status| format!(" ({status})"));
    Err(io::Error::other(format!(
        "it ended at once{}",
        how.unwrap_or_default()
    )))
}

/// Leaves the terminal and process group of whoever started this process, so that neither Ctrl-C
/// nor a closed terminal ends it, and says so on standard output. For the guard and the detached
/// runner, right after their start.
pub fn leave_session() {
    #[cfg(unix)]
    {
        // Refused only for the leader of a group, who has nobody to leave.
        let _leader = rustix::process::setsid();
    }
    // Whoever asked may be gone already; the work is there all the same.
    let _gone = writeln!(io::stdout(), "apart");
}

/// How often stops are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// A runner that hears a stop takes its file away within this time.
const HEARD: Duration = Duration::from_millis(100);

/// What the guard knows.
type Runs = Mutex<BTreeMap<RunId, Watched>>;

/// The guard's life: listens until the pipe ends, then cleans up after every run that did not end.
/// Meanwhile it does so for each run that is stopped and whose runner does not hear it.
pub fn run(input: impl BufRead) -> io::Result<()> {
    let runs = Runs::default();
    let (ends, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watched = &runs;
        scope.spawn(move || {
            while ended.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                clean_up(&unheard(watched));
            }
        });
        listen(input, &runs);
        drop(ends);
    });
    clean_up(&runs.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(())
}

fn listen(input: impl BufRead, runs: &Runs) {
    for line in input.lines() {
        // A line cut off by the runner's death is the end.
        let Ok(line) = line else { break };
        let Ok(notice) = serde_json::from_str::<Notice>(&line) else {
            continue;
        };
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        match notice {
            Notice::Begin { run, stop } => {
                let watched = Watched {
                    stop,
                    ..Watched::default()
                };
                runs.insert(run, watched);
            }
            Notice::Held {
                run,
                held,
                authority,
            } => {
                let watched = runs.entry(run).or_default();
                watched.held = held;
                watched.authority = authority;
            }
            Notice::Started { run, pid } => runs.entry(run).or_default().groups.push(pid),
            Notice::Ended { run, pid } => runs
                .entry(run)
                .or_default()
                .groups
                .retain(|known| *known != pid),
            Notice::Display { run, pids } => runs.entry(run).or_default().display = pids,
            Notice::Clear { run } => {
                let cleared = runs.get(&run).cloned().unwrap_or_default();
                drop(runs);
                clean_up(&BTreeMap::from([(run, cleared)]));
            }
            Notice::End { run } => drop(runs.remove(&run)),
        }
    }
}

/// Runs whose stop nobody heard, each once.
fn unheard(runs: &Runs) -> BTreeMap<RunId, Watched> {
    let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
    let mut unheard = BTreeMap::new();
    for (run, watched) in runs.iter_mut() {
        if watched.cleared || watched.stop.as_os_str().is_empty() || !watched.stop.exists() {
            watched.stopped = None;
            continue;
        }
        let since = *watched.stopped.get_or_insert_with(Instant::now);
        if since.elapsed() >= HEARD {
            watched.cleared = true;
            unheard.insert(run.clone(), watched.clone());
        }
    }
    unheard
}

/// Releases what runs have pressed and ends what they started.
fn clean_up(runs: &BTreeMap<RunId, Watched>) {
    // Input first: a pressed key harms at once. Then all at once, so that none waits for another's
    // processes.
    for (run, watched) in runs {
        release(run, watched);
    }
    std::thread::scope(|scope| {
        for (run, watched) in runs {
            scope.spawn(|| end_processes(run, watched));
        }
    });
}

fn release(run: &RunId, watched: &Watched) {
    if watched.held.is_empty() {
        return;
    }
    let released =
        openspace_gui::platform::release_held_with(&watched.held, watched.authority.as_deref());
    if let Err(error) = released {
        tracing::warn!(%error, %run, "releasing input");
    }
}

/// What the runner was about to start when it died carries the run's mark only after this long.
const STARTING: Duration = Duration::from_millis(50);

fn end_processes(run: &RunId, watched: &Watched) {
    let end_marked = || {
        if let Err(error) = openspace_process::kill_marked(run.as_str()) {
            tracing::warn!(%error, %run, "ending processes");
        }
    };
    end_marked();
    for pid in watched.groups.iter().chain(&watched.display) {
        openspace_process::kill_group(*pid);
    }
    std::thread::sleep(STARTING);
    end_marked();
}
