//! The server of the app: there while the settings want it, where they want it. While they do not,
//! nothing of it is.

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use openspace_app::{App, TOKEN_FILE, rpc::agents::McpReport};
use tokio_util::sync::CancellationToken;

use super::{Listen, Server, listen};
use crate::{Error, Listening, Token, http::bind};

/// A port that is taken is tried again this often, and so is telling what could not be kept.
const AGAIN: Duration = Duration::from_secs(5);
/// Ports behind the one of the settings that are looked at for a free one.
const BESIDE: u16 = 50;
/// Whoever waits for an answer when the server ends gets it within this time; then connections are
/// cut.
const FAREWELL: Duration = Duration::from_millis(300);
const CUT: Duration = Duration::from_secs(1);

/// Serves other agents over HTTP while the settings want it, until `cancel`. Runs are never ended by it.
pub async fn while_wanted(app: Arc<App>, cancel: CancellationToken) {
    let mut settings = app.settings_followed();
    let mut wanted = None;
    let mut told = Told::default();
    let mut served = None;
    loop {
        let now = {
            let mcp = &settings.borrow_and_update().values.mcp;
            mcp.serve.then_some(mcp.port)
        };
        let ends = cancel.is_cancelled();
        if now != wanted || ends {
            if let Some(served) = served.take() {
                Served::end(served).await;
            }
            if let (None, Some(port)) = (now, wanted) {
                told.tell(port, McpReport::Off);
            }
            wanted = now;
        }
        if ends {
            return;
        }
        if let (Some(port), None) = (wanted, &served) {
            match Served::begin(&app, port).await {
                Ok(begun) => {
                    let url = format!("http://{}/mcp", begun.listening.address);
                    told.tell(port, McpReport::Listening(url));
                    served = Some(begun);
                }
                Err(error) => told.tell(port, reason(&error, port).await),
            }
        }
        told.keep(&app).await;
        let stands = wanted.is_none() || served.is_some();
        let again = async {
            if stands && !told.unkept {
                std::future::pending::<()>().await;
            } else {
                tokio::time::sleep(AGAIN).await;
            }
        };
        tokio::select! {
            () = cancel.cancelled() => {}
            changed = settings.changed() => if changed.is_err() {
                // The program, which is held here, outlives its settings.
                return;
            },
            () = again => {}
        }
    }
}

/// A server that listens.
struct Served {
    server: Server,
    listening: Listening,
    cancel: CancellationToken,
}

impl Served {
    async fn begin(app: &Arc<App>, port: u16) -> Result<Self, Error> {
        let token = Token::kept(&app.paths.data.join(TOKEN_FILE))?;
        let server = Server::of(app);
        let cancel = CancellationToken::new();
        let options = Listen {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            token,
            stateless: false,
        };
        let listening = listen(&server, Arc::clone(app), options, cancel.clone()).await?;
        Ok(Self {
            server,
            listening,
            cancel,
        })
    }

    async fn end(self) {
        self.server.close();
        tokio::time::sleep(FAREWELL).await;
        self.cancel.cancel();
        if tokio::time::timeout(CUT, self.listening.ended())
            .await
            .is_err()
        {
            tracing::warn!("the server of other agents does not end");
        }
    }
}

/// How it stood last, for every surface that shows it.
#[derive(Default)]
struct Told {
    last: Option<(u16, McpReport)>,
    /// What is told now, where the store does not have it yet.
    unkept: bool,
}

impl Told {
    /// Tells how it stands, once.
    fn tell(&mut self, port: u16, report: McpReport) {
        let now = (port, report);
        if self.last.as_ref() == Some(&now) {
            return;
        }
        match &now.1 {
            McpReport::Listening(url) => tracing::info!(url, "other agents can connect"),
            McpReport::Off => tracing::info!("other agents can no longer connect"),
            other => tracing::warn!(port, ?other, "other agents cannot connect"),
        }
        self.last = Some(now);
        self.unkept = true;
    }

    /// Keeps what was told; what cannot be kept now is due again.
    async fn keep(&mut self, app: &App) {
        if !self.unkept {
            return;
        }
        let Some((port, report)) = &self.last else {
            return;
        };
        match app.report_mcp(*port, report.clone()).await {
            Ok(()) => self.unkept = false,
            Err(failure) => {
                tracing::warn!(%failure, "telling how the server of other agents stands");
            }
        }
    }
}

/// Why it does not listen, and what could be done.
async fn reason(error: &Error, port: u16) -> McpReport {
    let taken = |source: &std::io::Error| source.kind() == ErrorKind::AddrInUse;
    match error {
        Error::Listen { source, .. } if taken(source) => McpReport::PortTaken(free(port).await),
        error => McpReport::Failed(error.to_string()),
    }
}

/// The next port behind one that is taken, as far as there is a free one.
async fn free(port: u16) -> Option<u16> {
    for next in port.saturating_add(1)..=port.saturating_add(BESIDE) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, next));
        if bind(address).await.is_ok() {
            return Some(next);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use openspace_app::{
        Store,
        rpc::agents::{McpServerView, McpState},
    };
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::double::open;

    const SOON: Duration = Duration::from_secs(20);
    /// How long the store waits for another process that writes.
    const PATIENCE: Duration = Duration::from_secs(10);

    fn set(app: &App, text: &str) {
        std::fs::write(&app.paths.config, text).expect("written");
        app.reload_settings().expect("right");
    }

    async fn becomes(app: &App, state: McpState) -> McpServerView {
        let begun = tokio::time::Instant::now();
        loop {
            let now = app.mcp_now().await.expect("told");
            if now.state == state {
                return now;
            }
            assert!(begun.elapsed() < SOON, "never {state:?}: {now:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn answers(port: u16) -> bool {
        TcpStream::connect(("127.0.0.1", port)).await.is_ok()
    }

    /// It is there as soon as the settings want it, where they want it, and gone once they do not;
    /// a port of another program is told with one that is free, and taken once it is.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_server_follows_the_settings() {
        let folder = tempfile::tempdir().expect("a folder");
        let app = open(folder.path());
        let cancel = CancellationToken::new();
        let serving = tokio::spawn(while_wanted(Arc::clone(&app), cancel.clone()));
        let other = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let taken = other.local_addr().expect("its address").port();
        set(&app, &format!("[mcp]\nserve = true\nport = {taken}\n"));
        let told = becomes(&app, McpState::PortTaken).await;
        let free = told.free_port.expect("a free port");
        assert!(free > taken);
        drop(other);
        let told = becomes(&app, McpState::Listening).await;
        assert_eq!(told.url, Some(format!("http://127.0.0.1:{taken}/mcp")));
        assert!(answers(taken).await);
        set(&app, &format!("[mcp]\nserve = true\nport = {free}\n"));
        let begun = tokio::time::Instant::now();
        while !answers(free).await {
            assert!(begun.elapsed() < SOON, "it does not move");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!answers(taken).await, "it has moved");
        set(&app, "");
        becomes(&app, McpState::Off).await;
        assert!(!answers(free).await, "it has ended");
        set(&app, &format!("[mcp]\nserve = true\nport = {free}\n"));
        becomes(&app, McpState::Listening).await;
        let begun = tokio::time::Instant::now();
        cancel.cancel();
        serving.await.expect("it ends");
        assert!(begun.elapsed() < Duration::from_secs(2));
        assert!(!answers(free).await, "it ends with the app");
    }

    /// What the store could not take is told again, without anything else that changes.
    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_not_kept_is_told_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let app = open(folder.path());
        let cancel = CancellationToken::new();
        let serving = tokio::spawn(while_wanted(Arc::clone(&app), cancel.clone()));
        let free = free(8_100).await.expect("a free port");
        set(&app, &format!("[mcp]\nserve = true\nport = {free}\n"));
        becomes(&app, McpState::Listening).await;
        // Another process that writes for longer than anybody waits.
        let other = Store::open(&app.paths.data).expect("the same");
        let (held, is_held) = tokio::sync::oneshot::channel();
        let writing = tokio::task::spawn_blocking(move || {
            other.call_blocking(|_| {
                held.send(()).expect("awaited");
                std::thread::sleep(PATIENCE + Duration::from_secs(2));
                Ok(())
            })
        });
        is_held.await.expect("it is held");
        set(&app, "");
        writing.await.expect("it ran").expect("it wrote");
        assert!(!answers(free).await, "it has ended");
        let now = app.mcp_now().await.expect("told");
        assert_eq!(now.state, McpState::Listening, "that is not kept yet");
        becomes(&app, McpState::Off).await;
        cancel.cancel();
        serving.await.expect("it ends");
    }

    /// While nobody wants it there is no port, no token and nothing told.
    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_made_before_it_is_wanted() {
        let folder = tempfile::tempdir().expect("a folder");
        let app = open(folder.path());
        let cancel = CancellationToken::new();
        let serving = tokio::spawn(while_wanted(Arc::clone(&app), cancel.clone()));
        set(&app, "[mcp]\nport = 8099\n");
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!app.paths.data.join(TOKEN_FILE).exists());
        let last = app.store.read(|db| db.events().last_id()).await;
        assert_eq!(last.expect("read"), 0);
        cancel.cancel();
        serving.await.expect("it ends");
    }
}
