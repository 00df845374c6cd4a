//! Takes in everything a program writes, however much, without ever making it wait.

use std::sync::{Arc, Mutex, PoisonError};

use openspace_process::OutputStream;
use tokio::{io::AsyncReadExt, sync::watch};

/// Bytes kept of one command's output.
pub(crate) const KEPT: usize = 64 * 1024 * 1024;
/// Bytes kept of the end once [`KEPT`] is full.
const TAIL: usize = 64 * 1024;
const CHUNK: usize = 64 * 1024;

/// Output as far as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Captured {
    /// The beginning: everything, up to [`KEPT`].
    pub(crate) kept: Vec<u8>,
    /// The end, where more came than is kept.
    pub(crate) tail: Vec<u8>,
    /// Bytes written altogether.
    pub(crate) total: u64,
    pub(crate) discard: bool,
}

impl Captured {
    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.discard {
            return;
        }
        let room = KEPT - self.kept.len();
        let (fits, over) = bytes.split_at(bytes.len().min(room));
        self.kept.extend_from_slice(fits);
        if !over.is_empty() {
            self.tail.extend_from_slice(over);
            if self.tail.len() > 2 * TAIL {
                self.tail.drain(..self.tail.len() - TAIL);
            }
        }
    }

    /// Some of the output was neither kept nor is it part of the tail.
    pub(crate) fn lost(&self) -> u64 {
        self.total - self.kept.len() as u64 - self.tail.len() as u64
    }
}

/// A reader that runs beside the program.
#[derive(Debug, Clone)]
pub(crate) struct Capture {
    captured: Arc<Mutex<Captured>>,
    ended: watch::Receiver<bool>,
}

impl Capture {
    /// Reads until the end, also when nobody looks any more.
    pub(crate) fn start(stream: Option<OutputStream>) -> Self {
        let captured = Arc::new(Mutex::new(Captured::default()));
        let (done, ended) = watch::channel(stream.is_none());
        if let Some(mut stream) = stream {
            let captured = Arc::clone(&captured);
            tokio::spawn(async move {
                let mut chunk = vec![0_u8; CHUNK];
                loop {
                    match stream.read(&mut chunk).await {
                        Ok(count) if count > 0 => captured
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .take(&chunk[..count]),
                        Ok(_) | Err(_) => break,
                    }
                }
                let _ = done.send(true);
            });
        }
        Self { captured, ended }
    }

    /// Returns at the end of the output: once every process that could write has ended.
    pub(crate) async fn ended(&self) {
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// What came so far; from now on output is read and thrown away.
    pub(crate) fn finish(&self) -> Captured {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        captured.discard = true;
        let total = captured.total;
        std::mem::replace(
            &mut captured,
            Captured {
                total,
                discard: true,
                ..Captured::default()
            },
        )
    }

    /// What came after the first `position` bytes, and the position behind it.
    pub(crate) fn since(&self, position: u64) -> (Captured, u64) {
        let captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(position)
            .unwrap_or(usize::MAX)
            .min(captured.kept.len());
        let part = Captured {
            kept: captured.kept[start..].to_vec(),
            tail: captured.tail.clone(),
            total: captured.total - start as u64,
            discard: false,
        };
        (part, captured.total)
    }
}
