//! What another agent on this machine needs to reach the app over HTTP, and whether it would.

use std::time::{Duration, Instant};

use openspace_config::Secret;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    App, Check, Code, Failure, Health,
    control::holders,
    failure::Result,
    rpc::{
        Sentence,
        agents::{McpServerView, McpState},
    },
};

/// Name of the file that holds the token of agents, in the data folder. It opens nothing else.
pub const TOKEN_FILE: &str = "mcp-token";
/// How long something secret stays on the clipboard, and how often is looked whether a run could read
/// it.
const ON_CLIPBOARD: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(250);
/// A server of this machine that takes longer does not answer.
const ANSWERS: Duration = Duration::from_secs(2);

impl App {
    /// Puts what an agent needs to connect on the clipboard, in the form that most of them take, and
    /// takes it away again after a minute, or once a run has a screen. It holds the token, so that
    /// nothing but the clipboard sees it: no page, no log, and no history of the clipboard whose program
    /// leaves out what is marked as secret.
    ///
    /// # Errors
    /// [`Code::Forbidden`] while a run has a screen, since it could read the clipboard;
    /// [`Code::Unavailable`] where nothing listens, or where there is no clipboard.
    pub async fn copy_mcp_connection(&self) -> Result<()> {
        self.refuse_runs("copy what opens OpenSpace")?;
        if let Some(run) = holders(&self.paths.runtime).first() {
            return Err(Failure::new(
                Code::Forbidden,
                format!("run {run} has the screen and could read the clipboard"),
            )
            .hint("wait until it has ended, or stop it"));
        }
        let server = self.mcp_now().await?;
        let text = connection(&server)?;
        let mut options = self.session_platform();
        // Programs of Wayland see the clipboard of the X display beside it.
        options.wayland = false;
        let file = server.token_file;
        let copied = tokio::task::spawn_blocking(move || -> Result<_> {
            let failed = |error: String| {
                Failure::new(Code::Unavailable, format!("cannot be copied here: {error}"))
                    .hint(format!("the token is in {file}"))
            };
            let platform = openspace_gui::platform::open(&options);
            let mut input = platform.map_err(|error| failed(error.to_string()))?.input;
            let set = input.set_secret_clipboard(text.expose());
            set.map_err(|error| failed(error.to_string()))?;
            Ok(input)
        });
        let owner = copied
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))??;
        // On the clipboard it is as long as its owner lives.
        let runtime = self.paths.runtime.clone();
        tokio::spawn(async move {
            let end = Instant::now() + ON_CLIPBOARD;
            while Instant::now() < end && holders(&runtime).is_empty() {
                tokio::time::sleep(LOOK).await;
            }
            drop(owner);
        });
        Ok(())
    }

    /// Whether the server of the app listens, asked at its address.
    pub(crate) async fn check_mcp(&self) -> Check {
        let check = |health, key: &str, server: &McpServerView| {
            let found = Sentence::new(key)
                .with("port", server.port.to_string())
                .with("url", server.url.clone().unwrap_or_default());
            Check::new("mcp", health, found)
        };
        let server = match self.mcp_now().await {
            Ok(server) => server,
            Err(failure) => {
                let failed = Sentence::new("check.mcp.unknown");
                return Check::failed("mcp", Health::Problem, failed, &failure);
            }
        };
        let found = match server.state {
            McpState::Off => check(Health::Off, "check.mcp.off", &server),
            McpState::AppClosed => check(Health::Off, "check.mcp.app_closed", &server),
            McpState::Starting => check(Health::Warning, "check.mcp.starting", &server),
            McpState::PortTaken => {
                let fix = match server.free_port {
                    Some(port) => {
                        Sentence::new("check.mcp.taken.fix").with("free", port.to_string())
                    }
                    None => Sentence::new("check.mcp.taken.none.fix"),
                };
                check(Health::Problem, "check.mcp.taken", &server).fix(fix)
            }
            McpState::Failed => check(Health::Problem, "check.mcp.failed", &server)
                .fix(Sentence::new("check.mcp.failed.fix")),
            McpState::Listening => match asked(server.port).await {
                // It answers, and lets nobody in without the token.
                Ok(401) => check(Health::Ok, "check.mcp.listening", &server),
                Ok(status) => check(Health::Problem, "check.mcp.silent", &server)
                    .detail(format!("HTTP {status}")),
                Err(error) => {
                    check(Health::Problem, "check.mcp.silent", &server).detail(error.to_string())
                }
            },
        };
        match server.reason {
            Some(reason) => found.detail(reason),
            None => found,
        }
    }
}

/// What an agent needs to connect, in the form that most of them take. It holds the token.
fn connection(server: &McpServerView) -> Result<Secret<String>> {
    let (McpState::Listening, Some(url)) = (server.state, &server.url) else {
        return Err(
            Failure::new(Code::Unavailable, "nothing listens for other agents")
                .hint("switch it on in the settings, under Other agents"),
        );
    };
    let token = std::fs::read_to_string(&server.token_file).map_err(|error| {
        let file = &server.token_file;
        Failure::new(Code::Unavailable, format!("cannot read `{file}`: {error}"))
    })?;
    let authorization = format!("Bearer {}", token.trim());
    let entry = json!({
        "type": "http",
        "url": url,
        "headers": { "Authorization": authorization },
    });
    let all = json!({ "mcpServers": { "openspace": entry } });
    Ok(Secret::new(format!("{all:#}\n")))
}

/// What a server of this machine answers to somebody without a token: the status.
async fn asked(port: u16) -> std::io::Result<u16> {
    let asking = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let request =
            format!("GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut head = [0; 12];
        stream.read_exact(&mut head).await?;
        let status = std::str::from_utf8(&head[9..]).ok();
        status
            .and_then(|status| status.parse().ok())
            .ok_or_else(|| std::io::Error::other("no HTTP"))
    };
    let answered = tokio::time::timeout(ANSWERS, asking).await;
    answered.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::double::{Seat, seat},
        rpc::agents::McpReport,
    };

    /// Nothing is copied where nothing listens; what is copied is what most agents take, and is never
    /// printed.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_connection_holds_address_and_token() {
        let Seat { desk, .. } = seat();
        let app = desk.app();
        let failure = app.copy_mcp_connection().await.expect_err("it is off");
        assert_eq!(failure.code, Code::Unavailable);
        std::fs::write(app.paths.data.join(TOKEN_FILE), "the-token\n").expect("written");
        let listening = McpReport::Listening("http://127.0.0.1:8080/mcp".to_owned());
        app.report_mcp(8080, listening).await.expect("kept");
        let server = app.mcp_now().await.expect("told");
        let connection = connection(&server).expect("it listens");
        assert_eq!(format!("{connection:?}"), "[redacted]");
        let read: serde_json::Value = serde_json::from_str(connection.expose()).expect("JSON");
        let entry = &read["mcpServers"]["openspace"];
        assert_eq!(entry["url"], "http://127.0.0.1:8080/mcp");
        assert_eq!(entry["headers"]["Authorization"], "Bearer the-token");
    }

    /// A server that is told to listen and does not is a problem; one that lets anybody in as well.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_check_asks_at_the_address() {
        let Seat { desk, .. } = seat();
        let app = desk.app();
        assert_eq!(app.check_mcp().await.health, Health::Off);
        for (answer, health) in [
            ("HTTP/1.1 401 Unauthorized\r\n\r\n", Health::Ok),
            ("HTTP/1.1 200 OK\r\n\r\n", Health::Problem),
            ("", Health::Problem),
        ] {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
            let listener = listener.expect("a port");
            let port = listener.local_addr().expect("its address").port();
            let url = format!("http://127.0.0.1:{port}/mcp");
            let listening = McpReport::Listening(url);
            app.report_mcp(port, listening).await.expect("kept");
            let answering = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.expect("asked");
                let mut asked = [0; 512];
                let _length = stream.read(&mut asked).await.expect("a request");
                stream.write_all(answer.as_bytes()).await.expect("answered");
            });
            assert_eq!(app.check_mcp().await.health, health, "{answer}");
            answering.await.expect("it answered");
        }
    }
}
