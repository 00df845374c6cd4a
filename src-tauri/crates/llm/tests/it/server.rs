//! A scripted server: one answer per request, in order, the last one again and again.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use openspace_llm::{
    ChatModel, Delta, Error, Image, Key, MediaType, Message, Options, Reply, Request, Timeouts,
    Timing, ToolDefinition,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A key that must never show up anywhere.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Status, headers and body.
    Full(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Good status, then these pieces, then the connection is reset or, if true, left open.
    Cut(Vec<Vec<u8>>, bool),
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Full(
            status,
            vec![("content-type", "application/json".into())],
            body.to_string().into_bytes(),
        )
    }

    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::Full(
            200,
            vec![("content-type", "text/event-stream".into())],
            body.into(),
        )
    }

    pub(crate) fn html(status: u16) -> Self {
        let body = "<!DOCTYPE html><html><body>Welcome to nginx</body></html>";
        Self::Full(
            status,
            vec![("content-type", "text/html".into())],
            body.into(),
        )
    }

    pub(crate) fn header(self, name: &'static str, value: impl Into<String>) -> Self {
        match self {
            Self::Full(status, mut headers, body) => {
                headers.push((name, value.into()));
                Self::Full(status, headers, body)
            }
            Self::Cut(..) => panic!("a cut answer has no headers of its own"),
        }
    }
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

pub(crate) struct Server {
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    hung_up: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let hung_up = Arc::new(AtomicUsize::new(0));
        let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
        let (log, gone) = (seen.clone(), hung_up.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, gone, answers) = (log.clone(), gone.clone(), answers.clone());
                tokio::spawn(async move {
                    let mut stream = stream;
                    let Some(request) = read(&mut stream).await else {
                        return;
                    };
                    log.lock().unwrap().push(request);
                    let answer = {
                        let mut answers = answers.lock().unwrap();
                        let next = answers.pop_front().unwrap();
                        if answers.is_empty() {
                            answers.push_back(next.clone());
                        }
                        next
                    };
                    write(&mut stream, answer, &gone).await;
                });
            }
        });
        Self {
            base,
            seen,
            hung_up,
            task,
        }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until a client has closed a connection that was left open.
    pub(crate) async fn notices_hang_up(&self) -> bool {
        for _ in 0..500 {
            if self.hung_up.load(Ordering::SeqCst) > 0 {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut data = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let head_end = loop {
        if let Some(at) = data.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => data.extend_from_slice(&buffer[..count]),
        }
    };
    let head = String::from_utf8_lossy(&data[..head_end]).into_owned();
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while data.len() < head_end + 4 + length {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => data.extend_from_slice(&buffer[..count]),
        }
    }
    let body = serde_json::from_slice(&data[head_end + 4..]).unwrap_or(Value::Null);
    Some(Seen {
        line,
        headers,
        body,
    })
}

async fn write(stream: &mut TcpStream, answer: Answer, gone: &AtomicUsize) {
    match answer {
        Answer::Full(status, headers, body) => {
            let mut head = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n",
                body.len()
            );
            for (name, value) in headers {
                head.extend([name, ": ", &value, "\r\n"]);
            }
            head.push_str("\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&body).await;
            let _ = stream.shutdown().await;
        }
        Answer::Cut(pieces, stay) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            let _ = stream.write_all(head.as_bytes()).await;
            for piece in pieces {
                let size = format!("{:x}\r\n", piece.len());
                let _ = stream.write_all(size.as_bytes()).await;
                let _ = stream.write_all(&piece).await;
                let _ = stream.write_all(b"\r\n").await;
                let _ = stream.flush().await;
            }
            if stay {
                let mut byte = [0];
                // Returns when the client closes; it sends nothing more.
                let _ = stream.read(&mut byte).await;
                gone.fetch_add(1, Ordering::SeqCst);
            }
            // Dropping it without the closing chunk is a cut; unread bytes make it a reset.
        }
    }
}

/// Time that passes only when asked to: records what it was asked to wait.
#[derive(Debug)]
pub(crate) struct FakeTiming {
    pub(crate) waits: Mutex<Vec<Duration>>,
    pub(crate) random: f64,
    pub(crate) now: SystemTime,
    /// Never wakes up, to be cancelled.
    pub(crate) forever: bool,
}

impl FakeTiming {
    pub(crate) fn new(random: f64) -> Arc<Self> {
        Arc::new(Self {
            waits: Mutex::default(),
            random,
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
            forever: false,
        })
    }

    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }
}

#[async_trait]
impl Timing for FakeTiming {
    async fn sleep(&self, duration: Duration) {
        self.waits.lock().unwrap().push(duration);
        if self.forever {
            std::future::pending::<()>().await;
        }
    }

    fn now(&self) -> SystemTime {
        self.now
    }

    fn random(&self) -> f64 {
        self.random
    }
}

/// Options that reach a server of this test.
pub(crate) fn options(name: &str, base: &str, timing: Arc<FakeTiming>) -> Options {
    Options {
        base: Some(base.to_owned()),
        key: Some(Key::new(KEY)),
        timing,
        timeouts: Some(Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(10),
            idle: Duration::from_secs(10),
        }),
        ..Options::new(name)
    }
}

pub(crate) fn model(name: &str, server: &Server) -> Arc<dyn ChatModel> {
    openspace_llm::connect(options(name, &server.base, FakeTiming::new(0.5))).unwrap()
}

pub(crate) const CLAUDE: &str = "anthropic/claude-sonnet-4-6";
pub(crate) const GPT: &str = "openai/gpt-4o";

pub(crate) fn ask(text: &str) -> Request {
    Request {
        system: "You operate a computer.".into(),
        tools: Vec::new(),
        messages: vec![Message::user(text)],
        max_tokens: 1000,
    }
}

pub(crate) fn picture(width: u32, height: u32) -> Image {
    Image {
        media_type: MediaType::Jpeg,
        data: bytes::Bytes::from_static(b"picture"),
        width,
        height,
    }
}

pub(crate) fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: format!("Does {name}."),
        schema: json!({ "type": "object", "properties": {} }),
        hosted: None,
    }
}

/// A reply with everything that was streamed on the way.
pub(crate) async fn reply(
    model: &Arc<dyn ChatModel>,
    request: &Request,
) -> (Result<Reply, Error>, Vec<Delta>) {
    let deltas = Mutex::new(Vec::new());
    let on = |delta| deltas.lock().unwrap().push(delta);
    let limit = Duration::from_secs(60);
    let cancel = CancellationToken::new();
    let reply = model.reply(request, &cancel, &on);
    let reply = tokio::time::timeout(limit, reply).await.unwrap();
    (reply, deltas.into_inner().unwrap())
}

/// Events of the Messages API.
pub(crate) fn anthropic(events: &[Value]) -> Vec<u8> {
    let lines = events.iter().map(|event| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    });
    lines.collect::<String>().into_bytes()
}

/// A short, complete answer of the Messages API.
pub(crate) fn anthropic_text(text: &str) -> Vec<u8> {
    anthropic(&[
        json!({"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":12,"cache_read_input_tokens":100,"cache_creation_input_tokens":7,"output_tokens":1}}}),
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
        json!({"type":"ping"}),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":text}}),
        json!({"type":"content_block_stop","index":0}),
        json!({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}),
        json!({"type":"message_stop"}),
    ])
}

/// Chunks of Chat Completions.
pub(crate) fn chunks(chunks: &[Value]) -> Vec<u8> {
    let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    (lines.collect::<String>() + "data: [DONE]\n\n").into_bytes()
}

/// A short, complete answer of Chat Completions.
pub(crate) fn openai_text(text: &str) -> Vec<u8> {
    chunks(&[
        json!({"model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}),
        json!({"model":"gpt-x","choices":[{"index":0,"delta":{"content":text}}]}),
        json!({"model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}),
        json!({"model":"gpt-x","choices":[],"usage":{"prompt_tokens":119,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":100}}}),
    ])
}

/// Both wire formats with a complete answer of each.
pub(crate) fn both() -> [(&'static str, Vec<u8>); 2] {
    [
        (CLAUDE, anthropic_text("Hello")),
        (GPT, openai_text("Hello")),
    ]
}
