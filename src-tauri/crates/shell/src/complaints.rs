//! What an opened program writes to standard error. The program may live longer than the run, and may
//! write without end: its complaints are heard for a moment, and then by a process that keeps none of
//! them and ends with it. In a file they would fill the disk, and a pipe without a reader would kill
//! the program.

#[cfg(unix)]
pub(crate) use unix::Complaints;
#[cfg(windows)]
pub(crate) use windows::Complaints;

/// Bytes that are kept.
const KEPT: u64 = 16 * 1024;

#[cfg(unix)]
mod unix {
    use std::{
        convert::Infallible,
        fs::File,
        io,
        os::{fd::OwnedFd, unix::process::CommandExt as _},
        path::Path,
        process::Stdio,
    };

    use tokio::{io::AsyncReadExt as _, net::unix::pipe::Receiver, process::Command};

    use super::KEPT;

    /// The reading end of a program's standard error.
    pub(crate) struct Complaints {
        reader: Receiver,
        kept: Vec<u8>,
        over: bool,
    }

    impl Complaints {
        /// The reading end, and the one for the program.
        pub(crate) fn take(_folder: &Path) -> io::Result<(Self, File)> {
            let (reader, writer) = io::pipe()?;
            let complaints = Self {
                reader: Receiver::from_owned_fd(reader.into())?,
                kept: Vec::new(),
                over: false,
            };
            Ok((complaints, File::from(OwnedFd::from(writer))))
        }

        /// Hears until nobody can complain any more.
        pub(crate) async fn rest(&mut self) {
            let mut heard = [0; 4096];
            while !self.over {
                match self.reader.read(&mut heard).await {
                    Ok(0) | Err(_) => self.over = true,
                    Ok(length) => {
                        let room = (KEPT as usize).saturating_sub(self.kept.len());
                        self.kept.extend_from_slice(&heard[..length.min(room)]);
                    }
                }
            }
        }

        /// Hears for as long as it is polled.
        pub(crate) async fn listen(&mut self) -> Infallible {
            self.rest().await;
            std::future::pending().await
        }

        /// What was heard first.
        pub(crate) fn beginning(&self) -> &[u8] {
            &self.kept
        }

        /// Leaves the program with somebody who listens, if it lives.
        pub(crate) fn leave(self) -> io::Result<()> {
            if self.over {
                return Ok(());
            }
            let mut listener = std::process::Command::new("cat");
            listener
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .current_dir("/")
                .process_group(0)
                .stdin(self.reader.into_blocking_fd()?)
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            // Nobody waits for it here; the runtime takes note of its end.
            Command::from(listener).spawn().map(drop)
        }
    }
}

/// Not yet tried on such a machine.
#[cfg(windows)]
mod windows {
    use std::{
        convert::Infallible,
        fs::File,
        io::{self, Read as _, Seek as _, SeekFrom},
        path::Path,
    };

    use super::KEPT;

    /// The file that takes a program's standard error. It goes with the last process that has it open.
    pub(crate) struct Complaints {
        file: File,
        kept: Vec<u8>,
    }

    impl Complaints {
        /// The reading end, and the one for the program.
        pub(crate) fn take(folder: &Path) -> io::Result<(Self, File)> {
            let file = tempfile::tempfile_in(folder)?;
            let kept = Vec::new();
            Ok((
                Self {
                    file: file.try_clone()?,
                    kept,
                },
                file,
            ))
        }

        /// Reads what was written so far.
        pub(crate) async fn rest(&mut self) {
            std::future::ready(()).await;
            self.kept.clear();
            let read = self
                .file
                .seek(SeekFrom::Start(0))
                .and_then(|_| (&self.file).take(KEPT).read_to_end(&mut self.kept));
            if let Err(error) = read {
                tracing::warn!(%error, "reading what a program complained about");
            }
        }

        /// A file hears by itself.
        pub(crate) async fn listen(&mut self) -> Infallible {
            std::future::pending().await
        }

        /// What was heard first.
        pub(crate) fn beginning(&self) -> &[u8] {
            &self.kept
        }

        /// The file stays with the program.
        pub(crate) fn leave(self) -> io::Result<()> {
            drop(self);
            Ok(())
        }
    }
}
