//! A log that never makes anybody wait: hosts start us and do not read what we say.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
};

use openspace_app::{Configuration, Environment, LogFile};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{filter::Targets, fmt as format, layer::SubscriberExt as _, registry};

/// Lines that wait for a reader; then the newest are left out.
const WAITING: usize = 500;
/// What is logged where the settings cannot be read.
const LEVEL: LevelFilter = LevelFilter::WARN;

/// Logs to standard error and to `logs/NAME.log` in the data folder, each from a thread of its own.
/// A panic is a line of the log. Settings that cannot be read are somebody else's to tell.
pub(crate) fn in_background(environment: &Environment, name: &str) {
    let configuration = Configuration::read_or_default(environment).ok();
    let filter = configuration
        .as_ref()
        .and_then(|(it, _)| super::filter(&it.settings.values.log.level).ok())
        .unwrap_or_else(|| Targets::new().with_default(LEVEL));
    let mut outlets = vec![outlet("log", |lines, lost| {
        copy(&lines, &lost, &mut io::stderr());
    })];
    if let Some((configuration, _)) = &configuration {
        let mut file = LogFile::later(&configuration.paths.data, name);
        outlets.push(outlet("log-file", move |lines, lost| {
            copy(&lines, &lost, &mut file);
        }));
    }
    let outlets = Outlets(outlets.into_iter().flatten().collect());
    let lines = format::layer()
        .with_ansi(io::stderr().is_terminal())
        .with_writer(move || outlets.clone());
    let subscriber = registry().with(filter).with(lines);
    let _already = tracing::subscriber::set_global_default(subscriber);
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let payload = panic.payload();
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or_default();
        tracing::error!(place, "a part of the program failed: {message}");
    }));
}

/// Where lines are put.
#[derive(Clone)]
struct Outlet {
    lines: SyncSender<Vec<u8>>,
    lost: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Outlets(Arc<[Outlet]>);

/// None where no thread can be started: then that place has no log.
fn outlet(
    name: &str,
    write: impl FnOnce(Receiver<Vec<u8>>, Arc<AtomicUsize>) + Send + 'static,
) -> Option<Outlet> {
    let (lines, received) = sync_channel(WAITING);
    let lost = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lost);
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || write(received, counted))
        .ok()?;
    Some(Outlet { lines, lost })
}

impl Write for Outlets {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        for outlet in self.0.iter() {
            if let Err(TrySendError::Full(_)) = outlet.lines.try_send(line.to_vec()) {
                outlet.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn copy(lines: &Receiver<Vec<u8>>, lost: &AtomicUsize, to: &mut impl Write) {
    for line in lines {
        let left_out = lost.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            let _closed = writeln!(
                to,
                "… {left_out} lines left out: they came faster than they were read"
            );
        }
        // Whoever closed it wants nothing more.
        let _closed = to.write_all(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody waits for a reader that does not read; it is told how much it missed.
    #[test]
    fn lines_that_nobody_reads_are_counted() {
        let (lines, received) = sync_channel(2);
        let lost = Arc::new(AtomicUsize::new(0));
        let outlet = Outlet {
            lines,
            lost: Arc::clone(&lost),
        };
        let mut outlets = Outlets(vec![outlet].into());
        for line in ["1\n", "2\n", "3\n", "4\n"] {
            outlets.write_all(line.as_bytes()).expect("never fails");
        }
        drop(outlets);
        let mut read = Vec::new();
        copy(&received, &lost, &mut read);
        let text = String::from_utf8(read).expect("text");
        assert_eq!(
            text,
            "… 2 lines left out: they came faster than they were read\n1\n2\n"
        );
    }
}
