//! The model server: each rule refuses a broken request and passes a right one, each fault has
//! the right shape on the wire.

#![expect(
    clippy::unwrap_used,
    reason = "these are tests, and so are their helpers"
)]

mod answers;
mod requests;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, Rgb, RgbImage};
use openspace_testkit::model::{Fault, ImageClass, Stop, Usage};
use openspace_testkit::{Call, ModelServer, Rules, Script, SeenRequest, Turn, wait_until};
use serde_json::{Value, json};

const MESSAGES: &str = "/v1/messages";
const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const LIMIT: Duration = Duration::from_secs(10);

/// What came back, as far as it came.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
    /// How the connection ended when it did not end in order.
    error: Option<std::io::ErrorKind>,
    /// The last chunk of a chunked body came.
    complete: bool,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The data of all events of a stream.
    fn events(&self) -> Vec<Value> {
        self.text()
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

fn connect(server: &ModelServer) -> TcpStream {
    let stream = TcpStream::connect(server.url().strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

fn send(stream: &mut TcpStream, path: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream.write_all(body).ok();
}

fn receive(stream: &mut TcpStream) -> Reply {
    let mut raw = Vec::new();
    let error = stream.read_to_end(&mut raw).err().map(|error| error.kind());
    let Some(end) = raw.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Reply {
            status: 0,
            head: String::new(),
            body: raw,
            error,
            complete: false,
        };
    };
    let head = String::from_utf8(raw[..end].to_vec())
        .unwrap()
        .to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut rest = &raw[end + 4..];
    if !head.contains("transfer-encoding: chunked") {
        return Reply {
            status,
            head,
            body: rest.to_vec(),
            error,
            complete: true,
        };
    }
    let mut body = Vec::new();
    let mut complete = false;
    while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        rest = &rest[line + 2..];
        if size == 0 {
            complete = true;
            break;
        }
        let size = size.min(rest.len());
        body.extend_from_slice(&rest[..size]);
        rest = rest.get(size + 2..).unwrap_or_default();
    }
    Reply {
        status,
        head,
        body,
        error,
        complete,
    }
}

fn post(server: &ModelServer, path: &str, body: &Value) -> Reply {
    let key = server.key();
    let bearer = format!("Bearer {key}");
    let headers: &[(&str, &str)] = match path {
        MESSAGES => &[
            ("content-type", "application/json"),
            ("x-api-key", &key),
            ("anthropic-version", "2023-06-01"),
            ("anthropic-beta", "computer-use-2025-01-24,other-2025-01-01"),
        ],
        _ => &[
            ("content-type", "application/json"),
            ("authorization", &bearer),
        ],
    };
    let mut stream = connect(server);
    send(&mut stream, path, headers, body.to_string().as_bytes());
    receive(&mut stream)
}

fn picture(width: u32, height: u32) -> String {
    // Noise in a corner keeps the file from being suspiciously small.
    let mut image = RgbImage::from_pixel(width, height, Rgb([200, 200, 200]));
    for y in 0..height.min(16) {
        for x in 0..width.min(16) {
            image.put_pixel(
                x,
                y,
                Rgb([(x * 37 + y * 91) as u8, (x * y) as u8, (x * 13) as u8]),
            );
        }
    }
    encode(&image)
}

fn encode(image: &RgbImage) -> String {
    let mut file = std::io::Cursor::new(Vec::new());
    image.write_to(&mut file, ImageFormat::Png).unwrap();
    STANDARD.encode(file.into_inner())
}

fn image_block(data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

/// A right request of Messages after one screenshot and one click.
fn messages() -> Value {
    json!({
        "model": "claude-test", "max_tokens": 1000, "system": "You operate a computer.",
        "tools": [
            {"type": "computer_20250124", "name": "computer", "display_width_px": 280, "display_height_px": 210},
            {"name": "run_command", "description": "Runs a command.", "cache_control": {"type": "ephemeral"},
             "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}},
        ],
        "messages": [
            {"role": "user", "content": "Press Save"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_1", "name": "computer", "input": {"action": "screenshot"}},
                {"type": "tool_use", "id": "toolu_2", "name": "run_command", "input": {"command": "ls"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [image_block(&picture(280, 210))]},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such folder", "is_error": true},
                {"type": "text", "text": "Go on."},
            ]},
        ],
    })
}

/// The same in Chat Completions.
fn chat() -> Value {
    json!({
        "model": "gpt-test",
        "tools": [{"type": "function", "function": {"name": "computer", "description": "Operates the screen.",
            "parameters": {"type": "object", "properties": {"action": {"type": "string", "enum": ["screenshot"]}}}}}],
        "messages": [
            {"role": "system", "content": "You operate a computer."},
            {"role": "user", "content": "Press Save"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "computer", "arguments": "{\"action\":\"screenshot\"}"}},
                {"id": "call_2", "type": "function", "function": {"name": "computer", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "done"},
            {"role": "tool", "tool_call_id": "call_2", "content": "done"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", picture(280, 210))}}]},
        ],
    })
}

/// The same in Responses.
fn responses() -> Value {
    json!({
        "model": "gpt-test", "instructions": "You operate a computer.",
        "tools": [{"type": "function", "name": "computer", "description": "Operates the screen.",
            "parameters": {"type": "object", "properties": {}}}],
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Press Save"}]},
            {"type": "function_call", "call_id": "call_1", "name": "computer", "arguments": "{\"action\":\"screenshot\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": [
                {"type": "input_image", "image_url": format!("data:image/png;base64,{}", picture(280, 210))}]},
        ],
    })
}

fn always(turn: Turn) -> Script {
    Script::decide(move |_| turn.clone())
}

/// Breaks a right request with `damage` and expects exactly the given rule to be named.
#[track_caller]
fn refused_by(
    rules: Rules,
    path: &str,
    mut body: Value,
    rule: &str,
    damage: impl FnOnce(&mut Value),
) -> Reply {
    let server = ModelServer::start_with(always(Turn::done("ok")), rules).unwrap();
    damage(&mut body);
    let reply = post(&server, path, &body);
    let violations = server.violations();
    assert!(
        violations.iter().any(|found| found.rule == rule),
        "{rule} is not among {violations:?}"
    );
    assert!((400..500).contains(&reply.status), "{reply:?}");
    assert!(reply.json()["error"]["message"].is_string(), "{reply:?}");
    reply
}
