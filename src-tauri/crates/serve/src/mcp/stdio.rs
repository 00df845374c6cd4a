//! The transport of a host that starts us: one JSON-RPC message a line on the standard streams.
//!
//! Standard output belongs to the protocol alone: the process's own is pointed elsewhere before
//! anything else can print. Input is read ahead by a thread of its own, so that its end is noticed
//! even while the host does not read what it asked for; and a host that does not read is not listened
//! to without bound.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleServer, ServiceExt as _,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncWriteExt as _, DuplexStream},
    runtime::Handle,
    sync::Notify,
};

use super::Server;

/// Requests that may be unanswered; further ones are left unread until some are.
const UNANSWERED: usize = 512;
/// Bytes read at once, and how many are read ahead, however small the pieces that they come in.
const PIECE: usize = 64 * 1024;
const AHEAD: usize = 8 * 1024 * 1024;
/// Longest message.
const LONGEST: usize = 8 * 1024 * 1024;
/// What is being answered when the input ends may take this long to be written, and what is being
/// told of the host to be kept.
const FAREWELL: Duration = Duration::from_millis(1_500);

/// Where a host writes to us and reads from us.
pub struct Streams {
    input: File,
    output: File,
}

impl Streams {
    /// Takes the standard streams for the protocol. Whatever else is printed to standard output from
    /// now on is lost.
    pub fn take() -> io::Result<Self> {
        let streams = Self {
            input: duplicate(&io::stdin())?,
            output: duplicate(&io::stdout())?,
        };
        lose_prints()?;
        Ok(streams)
    }

    /// Any two files.
    pub fn of(input: File, output: File) -> Self {
        Self { input, output }
    }
}

#[cfg(unix)]
fn duplicate(stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn duplicate(stream: &impl std::os::windows::io::AsHandle) -> io::Result<File> {
    Ok(stream.as_handle().try_clone_to_owned()?.into())
}

#[cfg(unix)]
fn lose_prints() -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    Ok(())
}

/// Nothing of ours prints to standard output; only here that is a promise instead of a fact.
#[cfg(windows)]
fn lose_prints() -> io::Result<()> {
    Ok(())
}

/// Answers the host until its input ends, and then within two seconds no more.
pub async fn serve_stdio(server: &Server, streams: Streams) -> io::Result<()> {
    let closing = server.shared.closing.clone();
    let (input, mut queue) = tokio::io::duplex(AHEAD);
    let runtime = Handle::current();
    let ended = closing.clone();
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            read_ahead(streams.input, &mut queue, &runtime);
            // Before the queue is dropped, so that whoever waits is answered and not cancelled.
            ended.cancel();
        })?;
    let output = tokio::fs::File::from_std(streams.output);
    let lines = AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST);
    let transport = Lines {
        inner: lines,
        unanswered: Arc::default(),
    };
    let serving = async {
        match Box::pin(server.clone().serve(transport)).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the server ended badly");
                }
            }
            // A host that only looks whether the program starts.
            Err(error) => tracing::info!(%error, "no conversation began"),
        }
        closing.cancel();
        server.shared.introduced.finish().await;
    };
    let farewell = async {
        closing.cancelled().await;
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        () = serving => {}
        () = farewell => tracing::info!("what is not answered or kept by now is left"),
    }
    Ok(())
}

fn read_ahead(mut input: File, queue: &mut DuplexStream, runtime: &Handle) {
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                if runtime.block_on(queue.write_all(&piece[..length])).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(%error, "reading what the host writes");
                return;
            }
        }
    }
}

/// Requests whose answers are not written yet.
#[derive(Default)]
struct Unanswered {
    ids: Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl Unanswered {
    fn add(&self, id: RequestId) {
        self.ids().insert(id);
    }

    fn remove(&self, id: &RequestId) {
        self.ids().remove(id);
        self.fewer.notify_one();
    }

    async fn room(&self) {
        while self.ids().len() >= UNANSWERED {
            self.fewer.notified().await;
        }
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Messages as lines, of which only so many wait for their answers.
struct Lines {
    inner: AsyncRwTransport<RoleServer, DuplexStream, tokio::fs::File>,
    unanswered: Arc<Unanswered>,
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let unanswered = Arc::clone(&self.unanswered);
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            if let Some(id) = answered {
                unanswered.remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.unanswered.room().await;
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => self.unanswered.add(request.id.clone()),
            JsonRpcMessage::Notification(notification) => {
                // What was cancelled is never answered.
                if let ClientNotification::CancelledNotification(it) = &notification.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.unanswered.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.inner.close().await
    }
}
