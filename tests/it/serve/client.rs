//! A client that sends exactly what a test wants sent, header by header.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};

/// Where the server is and what opens it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) port: u16,
    pub(super) token: String,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

impl Client {
    pub(super) fn of(url: &str) -> Self {
        let (address, token) = url.split_once("/#token=").expect("an address with a token");
        let port = address.rsplit(':').next().expect("a port");
        Self {
            port: port.parse().expect("a port is a number"),
            token: token.to_owned(),
        }
    }

    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(super) fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// Sends a request with these headers and nothing else but the length.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut stream = self.open(method, path, headers, body);
        let mut text = Vec::new();
        let mut reader = BufReader::new(&mut stream);
        let (status, headers) = head(&mut reader);
        let length = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.parse::<usize>().ok());
        match length {
            Some(length) => {
                text.resize(length, 0);
                reader.read_exact(&mut text).expect("the whole body");
            }
            None => {
                reader.read_to_end(&mut text).expect("the rest");
            }
        }
        Reply {
            status,
            headers,
            body: text,
        }
    }

    fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a limit");
        let mut lines = vec![
            format!("{method} {path} HTTP/1.1"),
            "connection: close".to_owned(),
        ];
        lines.extend(
            headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}")),
        );
        if !body.is_empty() || method == "POST" {
            lines.push(format!("content-length: {}", body.len()));
        }
        let text = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
        stream.write_all(text.as_bytes()).expect("sent");
        stream
    }

    /// A call as our own page makes it.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "tests write their requests in place"
    )]
    pub(super) fn call(&self, name: &str, request: Value) -> Result<Value, Value> {
        let body = json!({ "name": name, "request": request }).to_string();
        let reply = self.send(
            "POST",
            "/rpc",
            &[
                ("host", &self.host()),
                ("origin", &format!("http://{}", self.host())),
                ("content-type", "application/json"),
                ("authorization", &self.authorization()),
            ],
            &body,
        );
        let answer = reply.json();
        match answer.get("ok") {
            Some(value) => Ok(value.clone()),
            None => Err(answer["failure"].clone()),
        }
    }

    /// Reads with the token.
    pub(super) fn get(&self, path: &str) -> Reply {
        self.send(
            "GET",
            path,
            &[
                ("host", &self.host()),
                ("authorization", &self.authorization()),
            ],
            "",
        )
    }

    /// Listens to events after a position until `enough`.
    pub(super) fn events(
        &self,
        after: i64,
        mut enough: impl FnMut(&[Value]) -> bool,
    ) -> Vec<Value> {
        let stream = self.open(
            "GET",
            &format!("/events?after={after}"),
            &[
                ("host", &self.host()),
                ("authorization", &self.authorization()),
            ],
            "",
        );
        let mut reader = BufReader::new(stream);
        let (status, _) = head(&mut reader);
        assert_eq!(status, 200);
        let mut events = Vec::new();
        while !enough(&events) {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).expect("more") > 0, "{events:?}");
            if let Some(data) = line.strip_prefix("data: ") {
                events.push(serde_json::from_str(data).expect("an event is JSON"));
            }
        }
        events
    }
}

fn head(reader: &mut impl std::io::BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a status line");
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("no status in {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            return (status, headers);
        };
        headers.push((name.to_owned(), value.to_owned()));
    }
}
