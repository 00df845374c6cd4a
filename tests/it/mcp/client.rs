//! Clients of the transports over a port, header by header.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::{Arc, Mutex},
    time::Duration,
};

use openspace_testkit::{cli::Running, wait::poll};
use serde_json::{Value, json};

use super::{SOON, host::rig_environment};
use crate::rig::Rig;

/// Where a server listens, and what opens it.
pub(crate) struct Door {
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// A server of its own, with its door.
pub(super) struct Served {
    pub(super) program: Running,
    pub(super) door: Door,
}

impl std::ops::Deref for Served {
    type Target = Door;

    fn deref(&self) -> &Door {
        &self.door
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Served {
    pub(super) fn start(rig: &Rig, arguments: &[&str]) -> Self {
        let all: Vec<&str> = ["mcp", "--transport", "streamable-http", "--port", "0"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let program = rig.openspace(&all).environment(rig_environment(rig));
        let mut program = program.start().expect("the server starts");
        program.wait_for("/mcp\n", SOON).expect("the address");
        let text = program.stderr();
        let port = text
            .split("http://127.0.0.1:")
            .nth(1)
            .and_then(|rest| rest.split('/').next()?.parse().ok())
            .unwrap_or_else(|| panic!("no address: {text}"));
        let token = std::fs::read_to_string(rig.home.data().join("mcp-token")).expect("a token");
        assert!(program.stdout().is_empty(), "nothing is printed");
        let door = Door {
            port,
            token: token.trim().to_owned(),
        };
        Self { program, door }
    }

    pub(super) fn end(mut self) {
        self.program.signal(rustix::process::Signal::TERM);
        let output = self.program.wait(Duration::from_secs(2)).expect("it ends");
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(
            !output.stderr.contains(&self.token),
            "the token is in no log"
        );
    }
}

impl Door {
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// What every honest client sends.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let headers = [
            ("host", self.host()),
            ("authorization", self.authorization()),
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        headers
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    }

    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(SOON * 2)).expect("a limit");
        let mut lines = vec![
            format!("{method} {path} HTTP/1.1"),
            "connection: close".to_owned(),
            format!("content-length: {}", body.len()),
        ];
        lines.extend(
            headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}")),
        );
        let text = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
        // A server that has refused already does not read the rest.
        let _refused = stream.write_all(text.as_bytes());
        stream
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &str,
    ) -> Reply {
        let mut text = Vec::new();
        // What was read before a reset is the answer.
        let _reset = self
            .open(method, path, headers, body)
            .read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let chunked = head.contains("transfer-encoding: chunked");
        Reply {
            status: status.unwrap_or_else(|| panic!("no status: {text}")),
            headers: head.to_owned(),
            body: if chunked {
                whole(body)
            } else {
                body.to_owned()
            },
        }
    }

    /// A request of streamable HTTP, with these headers on top.
    pub(crate) fn post(&self, message: &Value, more: &[(&str, &str)]) -> Reply {
        let mut headers = self.headers();
        headers.extend(
            more.iter()
                .map(|(name, value)| ((*name).into(), (*value).into())),
        );
        self.send("POST", "/mcp", &headers, &message.to_string())
    }

    /// Begins a session; its id.
    pub(crate) fn session(&self) -> String {
        let reply = self.post(&initialize(1, "2025-11-25"), &[]);
        assert_eq!(reply.status, 200, "{reply:?}");
        let id = reply
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let reply = self.post(&told, &[("mcp-session-id", &id)]);
        assert_eq!(reply.status, 202, "{reply:?}");
        id
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self
            .headers
            .lines()
            .filter_map(|line| line.split_once(": "));
        let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// The last message in it, sent in one piece or as an event.
    pub(crate) fn message(&self) -> Value {
        let events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let texts = events.map(str::trim).chain([self.body.trim()]);
        let mut messages = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
        let found = messages.rfind(|message| message.get("method").is_none());
        found.unwrap_or_else(|| panic!("no message: {self:?}"))
    }
}

/// A body that came in chunks.
fn whole(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((length, rest)) = chunks.split_once("\r\n") {
        let Ok(length) = usize::from_str_radix(length.trim(), 16) else {
            break;
        };
        let Some(piece) = rest.get(..length).filter(|piece| !piece.is_empty()) else {
            break;
        };
        body.push_str(piece);
        chunks = rest[length..].trim_start_matches("\r\n");
    }
    body
}

pub(crate) fn initialize(id: i64, version: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {},
        "clientInfo": { "name": "test-host", "version": "1" } } })
}

pub(crate) fn call(id: i64, tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments } })
}

/// What a tool answered, as the object it is.
pub(crate) fn told(message: &Value) -> Value {
    let text = message["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no text: {message}"));
    serde_json::from_str(text).expect("the text is JSON")
}

/// A stream of the older transport.
pub(crate) struct Stream {
    /// Where messages go.
    pub(crate) endpoint: String,
    lines: Arc<Mutex<Vec<String>>>,
    /// Closed to end the stream.
    connection: TcpStream,
}

impl Stream {
    pub(crate) fn open(served: &Door) -> Self {
        let connection = served.open("GET", "/sse", &served.headers(), "");
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let (reader, sink) = (
            connection.try_clone().expect("a handle"),
            Arc::clone(&lines),
        );
        std::thread::spawn(move || {
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                sink.lock().expect("the lines").push(line);
            }
        });
        let mut stream = Self {
            endpoint: String::new(),
            lines,
            connection,
        };
        stream.endpoint = poll(SOON, || stream.data().into_iter().next()).expect("an endpoint");
        stream
    }

    fn data(&self) -> Vec<String> {
        let lines = self.lines.lock().expect("the lines");
        let data = lines.iter().filter_map(|line| line.strip_prefix("data: "));
        data.map(str::to_owned).collect()
    }

    /// The answer to a request.
    pub(crate) fn reply(&self, id: i64) -> Value {
        let found = poll(SOON, || {
            let messages = self.data();
            let mut messages = messages
                .iter()
                .filter_map(|text| serde_json::from_str(text).ok());
            messages.find(|it: &Value| it["id"] == id && it.get("method").is_none())
        });
        found.unwrap_or_else(|| panic!("no reply to {id}: {:?}", self.data()))
    }

    pub(crate) fn close(&self) {
        self.connection
            .shutdown(std::net::Shutdown::Both)
            .expect("closed");
    }
}
