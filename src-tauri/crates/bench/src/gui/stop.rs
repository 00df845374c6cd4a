//! From a stop that another process gives to the last input event.

use std::{
    io::Write as _,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use openspace_gui::{Input, InputError, TypeOptions};
use openspace_store::{CommandKind, CommandWatch, Fence, Store};
use openspace_testkit::{InputWatch, RawTarget, TestScreen, target::Window};

use crate::{
    Effort,
    figure::{Report, percentile},
    store::{begin_run, register},
};

/// How often a runner looks for commands.
const POLL: Duration = Duration::from_millis(10);

/// The other process; it ends when its input does.
struct Stopper(Child);

impl Stopper {
    fn start(folder: &std::path::Path) -> Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .arg("give-stops")
            .arg(folder)
            .stdin(Stdio::piped())
            .spawn()
            .context("starting the process that gives the stops")?;
        Ok(Self(child))
    }

    fn stop(&mut self, fence: &Fence) -> Result<()> {
        let input = self.0.stdin.as_mut().context("its input")?;
        writeln!(input, "{}", fence.run())?;
        Ok(input.flush()?)
    }
}

impl Drop for Stopper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Types until told otherwise, as a run does.
pub(crate) fn measure(screen: &TestScreen, effort: Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path())?;
    let instance = register(&store)?;
    let _target = RawTarget::start(screen, Window::full(screen))?;
    let mut own = super::open(screen)?;
    let mut stopper = Stopper::start(folder.path())?;
    let mut samples = Vec::new();
    for index in 0..effort.times(200) {
        let watch = InputWatch::start(screen)?;
        let fence = begin_run(&store, &instance)?;
        let commands = CommandWatch::new(&store, &fence)?;
        // At another moment of the typing and of the polling each time.
        let pause = Duration::from_millis(20 + index as u64 * 7 % 40);
        let given = type_until_stopped(&mut *own.input, commands, pause, || stopper.stop(&fence))?;
        // An event that comes later than this after the typing ended is a failure of its own.
        std::thread::sleep(Duration::from_millis(20));
        let last = watch.last().context("input before the stop")?.at;
        samples.push(last.saturating_duration_since(given));
    }
    report.add(
        "stop_to_last_input_ms_p99",
        percentile(&mut samples, 0.99),
        "ms",
    );
    Ok(())
}

/// Types while another thread polls for commands; answers when the stop was given.
fn type_until_stopped(
    input: &mut dyn Input,
    mut commands: CommandWatch,
    pause: Duration,
    give: impl FnOnce() -> Result<()>,
) -> Result<Instant> {
    let stopped = AtomicBool::new(false);
    let text = "stop means stop ".repeat(2000);
    std::thread::scope(|scope| {
        let typing = scope.spawn(|| {
            let options = TypeOptions {
                delay: Duration::from_millis(1),
            };
            input.type_text(&text, options, &|| !stopped.load(Ordering::SeqCst))
        });
        let polling = scope.spawn(|| {
            while !stopped.load(Ordering::SeqCst) {
                let heard = commands.poll();
                let stop = heard.as_ref().map_or(true, |heard| {
                    heard
                        .iter()
                        .any(|command| command.kind == CommandKind::Stop)
                });
                stopped.store(stop, Ordering::SeqCst);
                std::thread::sleep(POLL);
            }
        });
        std::thread::sleep(pause);
        let at = Instant::now();
        let given = give();
        if given.is_err() {
            stopped.store(true, Ordering::SeqCst);
        }
        let typed = typing.join();
        stopped.store(true, Ordering::SeqCst);
        let polled = polling.join();
        given?;
        ensure!(polled.is_ok(), "the polling thread failed");
        ensure!(
            matches!(typed, Ok(Err(InputError::Halted))),
            "the typing was not halted: {typed:?}"
        );
        Ok(at)
    })
}
