//! A log that never makes anybody wait: hosts start us and do not read what we say.

use std::{
    fs::{self, File},
    io::{self, IsTerminal as _, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
};

use openspace_app::{Configuration, Environment, MOST_LOG_BYTES};
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
        let path = configuration
            .paths
            .data
            .join("logs")
            .join(format!("{name}.log"));
        outlets.push(outlet("log-file", move |lines, lost| {
            copy(&lines, &lost, &mut LogFile::new(path));
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

/// A file that is made with the first line and begun anew when it has grown: the one before is kept.
struct LogFile {
    path: PathBuf,
    file: Option<(File, u64)>,
}

impl LogFile {
    fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    fn open(path: &Path) -> io::Result<(File, u64)> {
        if let Some(folder) = path.parent() {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder)?;
        }
        if fs::metadata(path).is_ok_and(|metadata| metadata.len() > MOST_LOG_BYTES) {
            fs::rename(path, path.with_extension("old.log"))?;
        }
        let file = File::options().create(true).append(true).open(path)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self
            .file
            .as_ref()
            .is_none_or(|(_, length)| *length > MOST_LOG_BYTES)
        {
            self.file = Some(Self::open(&self.path)?);
        }
        if let Some((file, length)) = &mut self.file {
            file.write_all(line)?;
            *length += line.len() as u64;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

    /// A file that has grown is kept once, and the next line begins another.
    #[test]
    fn a_file_that_has_grown_is_begun_anew() {
        let folder = std::env::temp_dir().join(format!("openspace-log-{}", std::process::id()));
        let path = folder.join("logs/mcp.log");
        let mut file = LogFile::new(path.clone());
        assert!(!path.exists(), "made with the first line");
        let line = vec![b'x'; 1024 * 1024];
        for _ in 0..7 {
            file.write_all(&line).expect("written");
        }
        let length = |path: &Path| fs::metadata(path).expect("there").len();
        assert_eq!(length(&path), 1024 * 1024);
        assert_eq!(length(&path.with_extension("old.log")), 6 * 1024 * 1024);
        fs::remove_dir_all(folder).expect("removed");
    }
}
