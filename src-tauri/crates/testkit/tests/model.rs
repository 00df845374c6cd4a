//! The model server: each rule refuses a broken request and passes a right one, each fault has
//! the right shape on the wire.

#![expect(
    clippy::unwrap_used,
    reason = "these are tests, and so are their helpers"
)]

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

/// Right requests of all three formats are answered and break no rule.
#[test]
fn right_requests_pass() {
    let server = ModelServer::start(always(Turn::done("ok"))).unwrap();
    for (path, body) in [
        (MESSAGES, messages()),
        (CHAT, chat()),
        (RESPONSES, responses()),
    ] {
        let reply = post(&server, path, &body);
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    server.assert_clean();
    for seen in server.requests() {
        assert_eq!(seen.results()[0].name, "computer");
        assert_eq!(seen.results()[0].input["action"], "screenshot");
        assert_eq!(seen.newest_image().unwrap().dimensions(), (280, 210));
        assert!(seen.system().contains("operate") && seen.person().contains("Press Save"));
        assert_eq!(seen.turns(), 1);
    }
}

/// A wrong or missing key is a 401 in the vendor's words, in every format and for the list.
#[test]
fn the_key_is_checked() {
    for (path, header) in [
        (MESSAGES, "x-api-key"),
        (CHAT, "authorization"),
        (RESPONSES, "authorization"),
    ] {
        let server = ModelServer::start(vec![]).unwrap();
        let headers = [
            (header, "Bearer wrong"),
            ("anthropic-version", "2023-06-01"),
            ("content-type", "application/json"),
        ];
        let mut stream = connect(&server);
        send(
            &mut stream,
            path,
            &headers,
            messages().to_string().as_bytes(),
        );
        let reply = receive(&mut stream);
        assert_eq!(reply.status, 401);
        assert_eq!(server.violations()[0].rule, "key");
        if path == MESSAGES {
            assert_eq!(
                reply.json()["error"],
                json!({"type": "authentication_error", "message": "invalid x-api-key"})
            );
        } else {
            assert_eq!(reply.json()["error"]["code"], "invalid_api_key");
        }
    }
}

/// Version and beta headers are demanded where the vendor demands them.
#[test]
fn headers_are_checked() {
    let server = ModelServer::start(always(Turn::done("ok"))).unwrap();
    let key = server.key();
    for (headers, rule) in [
        (
            vec![
                ("x-api-key", key.as_str()),
                ("content-type", "application/json"),
                ("anthropic-beta", "computer-use-2025-01-24"),
            ],
            "version",
        ),
        (
            vec![
                ("x-api-key", key.as_str()),
                ("content-type", "application/json"),
                ("anthropic-version", "2023-06-01"),
                ("anthropic-beta", "computer-use-2025-11-24"),
            ],
            "beta",
        ),
        (
            vec![
                ("x-api-key", key.as_str()),
                ("anthropic-version", "2023-06-01"),
                ("anthropic-beta", "computer-use-2025-01-24"),
            ],
            "content-type",
        ),
    ] {
        let mut stream = connect(&server);
        send(
            &mut stream,
            MESSAGES,
            &headers,
            messages().to_string().as_bytes(),
        );
        assert_eq!(receive(&mut stream).status, 400);
        let rules: Vec<_> = server
            .take_violations()
            .into_iter()
            .map(|violation| violation.rule)
            .collect();
        assert_eq!(rules, [rule]);
    }
}

/// Calls and results come in complete pairs with unique ids, results first and at once.
#[test]
fn pairs_are_checked() {
    let plain = Rules::default;
    let reply = refused_by(plain(), MESSAGES, messages(), "pairs", |body| {
        body["messages"][2]["content"]
            .as_array_mut()
            .unwrap()
            .remove(1);
    });
    assert!(reply.text().contains(
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_2"
    ));
    let reply = refused_by(plain(), MESSAGES, messages(), "pairs", |body| {
        body["messages"][2]["content"][1]["tool_use_id"] = json!("toolu_9");
    });
    assert!(reply.text().contains("toolu_9"));
    refused_by(plain(), MESSAGES, messages(), "pairs", |body| {
        body["messages"][2]["content"]
            .as_array_mut()
            .unwrap()
            .rotate_right(1);
    });
    refused_by(plain(), MESSAGES, messages(), "pairs", |body| {
        body["messages"][1]["content"][2]["id"] = json!("toolu_1");
    });
    let reply = refused_by(plain(), CHAT, chat(), "pairs", |body| {
        body["messages"].as_array_mut().unwrap().remove(4);
    });
    assert!(
        reply
            .text()
            .contains("did not have response messages: call_2")
    );
    refused_by(plain(), RESPONSES, responses(), "pairs", |body| {
        body["input"].as_array_mut().unwrap().pop();
    });
}

/// Roles alternate, begin with the person, and no message is empty.
#[test]
fn roles_are_checked() {
    let user = json!({"role": "user", "content": "again"});
    refused_by(Rules::default(), MESSAGES, messages(), "roles", |body| {
        body["messages"].as_array_mut().unwrap().push(user);
    });
    refused_by(Rules::default(), MESSAGES, messages(), "roles", |body| {
        body["messages"].as_array_mut().unwrap().remove(0);
    });
    refused_by(Rules::default(), CHAT, chat(), "roles", |body| {
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": "fine"}));
    });
    refused_by(Rules::default(), MESSAGES, messages(), "empty", |body| {
        body["messages"][0]["content"] = json!("");
    });
    refused_by(Rules::default(), MESSAGES, messages(), "fields", |body| {
        body["messages_extra"] = json!(1);
    });
    refused_by(Rules::default(), MESSAGES, messages(), "fields", |body| {
        body.as_object_mut().unwrap().remove("max_tokens");
    });
}

/// Pictures must be decodable, of the declared type and as large as the model sees them.
#[test]
fn d02_pictures_are_checked() {
    let set = |body: &mut Value, data: &str| {
        body["messages"][2]["content"][0]["content"][0] = image_block(data);
    };
    let garbage = STANDARD.encode([7; 500]);
    let reply = refused_by(Rules::default(), MESSAGES, messages(), "image", |body| {
        set(body, &garbage);
    });
    assert!(reply.text().contains("Could not process image"));
    refused_by(Rules::default(), MESSAGES, messages(), "image", |body| {
        body["messages"][2]["content"][0]["content"][0]["source"]["media_type"] =
            json!("image/jpeg");
    });
    refused_by(
        Rules::default(),
        MESSAGES,
        messages(),
        "image-class",
        |body| set(body, &picture(1600, 400)),
    );
    refused_by(
        Rules::default(),
        MESSAGES,
        messages(),
        "image-class",
        |body| set(body, &picture(1456, 900)),
    );
    refused_by(
        Rules {
            images: ImageClass::Large,
            ..Rules::default()
        },
        MESSAGES,
        messages(),
        "image-class",
        |body| set(body, &picture(2576, 1500)),
    );
    refused_by(
        Rules {
            max_image_bytes: 900,
            ..Rules::default()
        },
        MESSAGES,
        messages(),
        "image-bytes",
        |_| {},
    );
    refused_by(
        Rules {
            max_images: 0,
            ..Rules::default()
        },
        MESSAGES,
        messages(),
        "image-count",
        |_| {},
    );
    for (class, width, height) in [
        (ImageClass::Standard, 1456, 819),
        (ImageClass::Standard, 1389, 868),
        (ImageClass::Large, 2576, 1449),
    ] {
        assert!(class.fits(width, height), "{width}x{height}");
    }
}

/// The declared display is the size of the newest picture of the screen; zoomed ones don't count.
#[test]
fn d02_the_declared_display_is_checked() {
    let reply = refused_by(Rules::default(), MESSAGES, messages(), "display", |body| {
        body["tools"][0]["display_width_px"] = json!(1024);
    });
    assert!(reply.text().contains("280x210"));
    let server = ModelServer::start(always(Turn::done("ok"))).unwrap();
    let mut body = messages();
    body["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_3", "name": "computer", "input": {"action": "zoom", "region": [0, 0, 10, 10]}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_3", "content": [image_block(&picture(600, 100))]}]}),
    ]);
    assert_eq!(post(&server, MESSAGES, &body).status, 200);
    server.assert_clean();
}

/// Above 20 pictures one of more than 2000 px is a 400 in the vendor's words; 20 are fine.
#[test]
fn d09_many_large_pictures_are_refused() {
    let large = picture(2100, 50);
    let rules = || Rules {
        images: ImageClass::Large,
        ..Rules::default()
    };
    let fill = |count: usize| {
        let mut body = messages();
        body["tools"].as_array_mut().unwrap().remove(0);
        let blocks: Vec<Value> = (0..count).map(|_| image_block(&large)).collect();
        body["messages"][0]["content"] = Value::Array(blocks);
        body
    };
    let server = ModelServer::start_with(always(Turn::done("ok")), rules()).unwrap();
    assert_eq!(post(&server, MESSAGES, &fill(19)).status, 200);
    server.assert_clean();
    let reply = refused_by(rules(), MESSAGES, fill(20), "image-many", |_| {});
    assert_eq!(
        reply.json()["error"],
        json!({"type": "invalid_request_error", "message": "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"})
    );
}

/// A body above the cap is a 413, and secrets in a body are noticed.
#[test]
fn d09_bodies_are_checked() {
    let reply = refused_by(
        Rules {
            max_body: 1000,
            ..Rules::default()
        },
        MESSAGES,
        messages(),
        "body-size",
        |_| {},
    );
    assert_eq!(
        (reply.status, reply.json()["error"]["type"].clone()),
        (413, json!("request_too_large"))
    );
    let key = Rules::default().key.unwrap();
    refused_by(Rules::default(), MESSAGES, messages(), "secret", |body| {
        body["system"] = json!(format!("key {key}"));
    });
    refused_by(
        Rules {
            forbidden: vec!["hunter2".into()],
            ..Rules::default()
        },
        CHAT,
        chat(),
        "secret",
        |body| body["messages"][1]["content"] = json!("my password is hunter2"),
    );
    let server = ModelServer::start(vec![]).unwrap();
    let headers = [
        ("x-api-key", server.key()),
        ("anthropic-version", "2023-06-01".into()),
        ("content-type", "application/json".into()),
    ];
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut stream = connect(&server);
    send(&mut stream, MESSAGES, &headers, b"{\"model\": ");
    assert_eq!(receive(&mut stream).status, 400);
    assert_eq!(server.violations()[0].rule, "json");
}

/// Names, schemas and the number of cache breakpoints are checked.
#[test]
fn tools_are_checked() {
    let tool = |body: &mut Value, field: &str, value: Value| body["tools"][1][field] = value;
    for name in ["Run", "run-command", "", &"x".repeat(65)] {
        refused_by(Rules::default(), MESSAGES, messages(), "tools", |body| {
            tool(body, "name", json!(name));
        });
    }
    refused_by(Rules::default(), MESSAGES, messages(), "tools", |body| {
        tool(body, "name", json!("computer"));
    });
    refused_by(Rules::default(), MESSAGES, messages(), "tools", |body| {
        tool(body, "description", json!(" "));
    });
    refused_by(Rules::default(), MESSAGES, messages(), "tools", |body| {
        body["tools"][0]["type"] = json!("computer_20990101");
    });
    for schema in [
        json!({"type": "string"}),
        json!({"type": "object", "properties": {"a": {"type": "text"}}}),
        json!({"type": "object", "properties": {"a": {"type": "array"}}}),
        json!({"type": "object", "properties": {"a b": {"type": "string"}}}),
        json!({"type": "object", "properties": {}, "required": ["a"]}),
        json!({"type": "object", "anyOf": [{"type": "object"}]}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}}),
    ] {
        refused_by(Rules::default(), MESSAGES, messages(), "schema", |body| {
            tool(body, "input_schema", schema);
        });
    }
    refused_by(Rules::default(), MESSAGES, messages(), "cache", |body| {
        let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
        body["system"] = json!([marked("a"), marked("b"), marked("c"), marked("d")]);
    });
    refused_by(
        Rules {
            models: vec!["other".into()],
            ..Rules::default()
        },
        MESSAGES,
        messages(),
        "model",
        |_| {},
    );
}

/// Pictures are for the person's messages only in Chat Completions.
#[test]
fn chat_pictures_belong_to_the_person() {
    let reply = refused_by(Rules::default(), CHAT, chat(), "image", |body| {
        body["messages"][3]["content"] =
            json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]);
    });
    assert!(
        reply
            .text()
            .contains("Image URLs are only allowed for messages with role 'user'")
    );
}

/// Text, calls and usage arrive the same streamed and whole, in all formats.
#[test]
fn turns_arrive_in_every_format() {
    let usage = Usage {
        input: 11,
        output: 7,
        cache_read: 5,
        cache_write: 3,
    };
    let turn = Turn::click_at((12, 34))
        .saying("Now I press it – 按.")
        .and(Call::shell("ls"))
        .usage(usage);
    let server = ModelServer::start(always(turn)).unwrap();
    let whole = |path, mut body: Value, stream: bool| {
        body["stream"] = json!(stream);
        if path == CHAT && stream {
            body["stream_options"] = json!({"include_usage": true});
        }
        post(&server, path, &body)
    };
    let click = json!({"action": "left_click", "coordinate": [12, 34]});

    let reply = whole(MESSAGES, messages(), false).json();
    assert_eq!(reply["content"][0]["text"], "Now I press it – 按.");
    assert_eq!(reply["content"][1]["input"], click);
    assert_eq!(
        (
            &reply["stop_reason"],
            &reply["usage"]["cache_read_input_tokens"]
        ),
        (&json!("tool_use"), &json!(5))
    );
    let reply = whole(MESSAGES, messages(), true);
    assert!(reply.head.contains("text/event-stream") && reply.complete);
    let events = reply.events();
    let joined = |kind: &str, field: &str, index: u64| -> String {
        events
            .iter()
            .filter(|event| event["delta"]["type"] == kind && event["index"] == index)
            .map(|event| event["delta"][field].as_str().unwrap())
            .collect()
    };
    assert_eq!(joined("text_delta", "text", 0), "Now I press it – 按.");
    assert_eq!(
        serde_json::from_str::<Value>(&joined("input_json_delta", "partial_json", 1)).unwrap(),
        click
    );
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 11);
    assert_eq!(events.last().unwrap()["type"], "message_stop");

    let reply = whole(CHAT, chat(), false).json();
    let message = &reply["choices"][0]["message"];
    assert_eq!(message["content"], "Now I press it – 按.");
    assert_eq!(
        message["tool_calls"][1]["function"],
        json!({"name": "run_command", "arguments": "{\"command\":\"ls\"}"})
    );
    assert_eq!(reply["usage"]["prompt_tokens"], 19);
    let reply = whole(CHAT, chat(), true);
    assert!(reply.text().ends_with("data: [DONE]\n\n"));
    let events = reply.events();
    let text: String = events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, "Now I press it – 按.");
    assert_eq!(
        events.last().unwrap()["usage"]["prompt_tokens_details"]["cached_tokens"],
        5
    );

    let reply = whole(RESPONSES, responses(), false).json();
    assert_eq!(reply["output"][1]["name"], "computer");
    let reply = whole(RESPONSES, responses(), true);
    let last = reply.events().pop().unwrap();
    assert_eq!(
        (
            &last["type"],
            &last["response"]["output"][0]["content"][0]["text"]
        ),
        (&json!("response.completed"), &json!("Now I press it – 按."))
    );
    server.assert_clean();
}

/// Statuses carry their vendor's error body and `retry-after`.
#[test]
fn d10_statuses_have_their_vendors_shape() {
    for (code, kind) in [
        (401, "authentication_error"),
        (404, "not_found_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ] {
        let server =
            ModelServer::start(vec![Turn::status(code, (code == 429).then_some(2))]).unwrap();
        let reply = post(&server, MESSAGES, &messages());
        assert_eq!(reply.status, code);
        let body = reply.json();
        assert_eq!(
            (&body["type"], &body["error"]["type"]),
            (&json!("error"), &json!(kind))
        );
        assert_eq!(reply.head.contains("retry-after: 2"), code == 429);
        server.assert_clean();
    }
    let server = ModelServer::start(vec![
        Turn::status(429, None),
        Turn::fault(Fault::ContextTooLong),
        Turn::fault(Fault::ImageRejected),
    ])
    .unwrap();
    assert_eq!(
        post(&server, CHAT, &chat()).json()["error"]["code"],
        "rate_limit_exceeded"
    );
    assert_eq!(
        post(&server, CHAT, &chat()).json()["error"]["code"],
        "context_length_exceeded"
    );
    let reply = post(&server, MESSAGES, &messages());
    assert_eq!(reply.status, 400);
    assert!(
        reply
            .text()
            .contains("messages.2.content.0.content.0.image.source.base64.data"),
        "{}",
        reply.text()
    );
    assert_eq!(server.turns_left(), 0);
}

/// An overload in the middle of a stream is an event after some of the answer.
#[test]
fn d10_overload_comes_in_the_middle_of_a_stream() {
    let server = ModelServer::start(always(Turn::fault(Fault::OverloadedMidStream))).unwrap();
    let mut body = messages();
    body["stream"] = json!(true);
    let reply = post(&server, MESSAGES, &body);
    assert_eq!(reply.status, 200);
    let events = reply.events();
    assert_eq!(events[0]["type"], "message_start");
    assert_eq!(events.last().unwrap()["error"]["type"], "overloaded_error");
    assert!(!events.iter().any(|event| event["type"] == "message_stop"));
    assert_eq!(post(&server, MESSAGES, &messages()).status, 529);
}

/// A reset breaks the connection after half the answer; a cut ends it as if it were whole.
#[test]
fn d10_connections_break_half_way() {
    for stream in [false, true] {
        let mut body = messages();
        body["stream"] = json!(stream);
        let server =
            ModelServer::start(vec![Turn::fault(Fault::Reset), Turn::fault(Fault::Cut)]).unwrap();
        let reply = post(&server, MESSAGES, &body);
        assert_eq!(
            reply.error,
            Some(std::io::ErrorKind::ConnectionReset),
            "{reply:?}"
        );
        assert!(!reply.complete && !reply.body.is_empty(), "{reply:?}");
        let reply = post(&server, MESSAGES, &body);
        assert!(reply.complete && reply.error.is_none() && !reply.text().contains("message_stop"));
        assert!(stream || serde_json::from_slice::<Value>(&reply.body).is_err());
        assert_eq!(server.dropped(), 0);
    }
}

/// Pages, bytes that are no text, broken and huge arguments arrive as such.
#[test]
fn answers_can_be_nonsense() {
    let turns = vec![
        Turn::fault(Fault::Html),
        Turn::fault(Fault::InvalidUtf8),
        Turn::call(Call::raw("run_command", "{\"command\": \"ls")),
        Turn::call(Call::huge("run_command", "command", 200_000)),
        Turn::done("half").stopping(Stop::MaxTokens),
        Turn::done("Straße 北京").in_fragments(3),
    ];
    let server = ModelServer::start(turns).unwrap();
    let mut body = messages();
    body["stream"] = json!(true);
    let next = || post(&server, MESSAGES, &body);
    let reply = next();
    assert!(
        reply.status == 200
            && reply.head.contains("text/html")
            && reply.text().starts_with("<!DOCTYPE")
    );
    assert!(std::str::from_utf8(&next().body).is_err());
    let arguments = |reply: &Reply| -> String {
        reply
            .events()
            .iter()
            .filter_map(|event| event["delta"]["partial_json"].as_str())
            .collect()
    };
    assert_eq!(arguments(&next()), "{\"command\": \"ls");
    assert!(arguments(&next()).len() > 200_000);
    assert!(next().text().contains("\"stop_reason\":\"max_tokens\""));
    let text: String = next()
        .events()
        .iter()
        .filter_map(|event| event["delta"]["text"].as_str())
        .collect();
    assert_eq!(text, "Straße 北京");
}

/// Slow and silent answers wait, and a client that leaves is noticed.
#[test]
fn d11_a_client_that_leaves_is_noticed() {
    let server = ModelServer::start(vec![
        Turn::done("slowly, word for word").per_delta(Duration::from_secs(30)),
        Turn::fault(Fault::NeverAnswer),
        Turn::fault(Fault::Stall),
    ])
    .unwrap();
    let mut body = messages();
    body["stream"] = json!(true);
    for left in 1..=3 {
        let key = server.key();
        let headers = [
            ("x-api-key", key.as_str()),
            ("anthropic-version", "2023-06-01"),
            ("content-type", "application/json"),
            ("anthropic-beta", "computer-use-2025-01-24"),
        ];
        let mut stream = connect(&server);
        send(&mut stream, MESSAGES, &headers, body.to_string().as_bytes());
        assert!(server.wait_for_requests(left, LIMIT));
        assert!(wait_until(LIMIT, || server.turns_left() == 3 - left));
        drop(stream);
        assert!(wait_until(LIMIT, || server.dropped() == left), "{left}");
    }
    server.assert_clean();
}

/// A script that ends or panics is a violation and not a hang.
#[test]
fn scripts_that_end_are_violations() {
    let server = ModelServer::start(vec![]).unwrap();
    assert_eq!(post(&server, MESSAGES, &messages()).status, 400);
    server.set_script(Script::decide(|_| panic!("unexpected request")));
    assert_eq!(post(&server, MESSAGES, &messages()).status, 400);
    let rules: Vec<_> = server
        .violations()
        .into_iter()
        .map(|violation| violation.rule)
        .collect();
    assert_eq!(rules, ["script", "script"]);
}

/// Reasoning comes back with its signature or is refused.
#[test]
fn reasoning_is_signed() {
    let server = ModelServer::start(always(Turn::done("ok").thinking("Because."))).unwrap();
    let block = post(&server, MESSAGES, &messages()).json()["content"][0].clone();
    let mut body = messages();
    body["messages"][1]["content"]
        .as_array_mut()
        .unwrap()
        .insert(0, block);
    assert_eq!(post(&server, MESSAGES, &body).status, 200);
    server.assert_clean();
    body["messages"][1]["content"][0]["thinking"] = json!("Because not.");
    assert_eq!(post(&server, MESSAGES, &body).status, 400);
    assert_eq!(server.take_violations()[0].rule, "thinking");
}

/// A check for one token is answered without using up a turn.
#[test]
fn a_check_uses_up_no_turn() {
    let server = ModelServer::start(vec![Turn::done("first")]).unwrap();
    let check = json!({"model": "claude-test", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]});
    assert_eq!(
        post(&server, MESSAGES, &check).json()["stop_reason"],
        "max_tokens"
    );
    assert_eq!(
        post(&server, MESSAGES, &messages()).json()["content"][0]["text"],
        "first"
    );
    server.assert_clean();
}

/// A script finds a colour in the picture and answers with where it is.
#[test]
fn a_script_finds_what_is_in_the_picture() {
    let mut image = RgbImage::from_pixel(280, 210, Rgb([220, 220, 220]));
    for (x, y) in (100..120).flat_map(|x| (50..60).map(move |y| (x, y))) {
        image.put_pixel(x, y, Rgb([0, 128, 0]));
    }
    let crop = image::imageops::crop_imm(&image, 96, 46, 28, 18).to_image();
    let mut png = std::io::Cursor::new(Vec::new());
    crop.write_to(&mut png, ImageFormat::Png).unwrap();
    let png = png.into_inner();
    let server = ModelServer::start(Script::decide(move |seen: &SeenRequest| {
        let colour = seen.find_color([0, 128, 0], 40).unwrap();
        let template = seen.find_template(&png).unwrap();
        assert!((colour.x - template.x).abs() <= 1 && (colour.y - template.y).abs() <= 1);
        Turn::click_at(colour)
    }))
    .unwrap();
    let mut body = messages();
    body["messages"][2]["content"][0]["content"][0] = image_block(&encode(&image));
    let reply = post(&server, MESSAGES, &body).json();
    server.assert_clean();
    assert_eq!(reply["content"][0]["input"]["coordinate"], json!([110, 55]));
}

/// The list of models needs the key and has the vendor's shape.
#[test]
fn models_are_listed() {
    let server = ModelServer::start_with(
        vec![],
        Rules {
            models: vec!["m-1".into()],
            ..Rules::default()
        },
    )
    .unwrap();
    let get = |headers: &str| {
        let mut stream = connect(&server);
        stream
            .write_all(
                format!("GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n")
                    .as_bytes(),
            )
            .unwrap();
        receive(&mut stream)
    };
    assert_eq!(get("").status, 401);
    assert_eq!(
        get(&format!("authorization: Bearer {}\r\n", server.key())).json()["data"][0]["object"],
        "model"
    );
    let anthropic = get(&format!(
        "x-api-key: {}\r\nanthropic-version: 2023-06-01\r\n",
        server.key()
    ));
    assert_eq!(anthropic.json()["data"][0]["type"], "model");
    server.assert_clean();
}

/// Starting takes no longer than a test may wait for it, and works inside a runtime.
#[tokio::test]
async fn a_server_starts_inside_a_runtime() {
    let started = Instant::now();
    let server = ModelServer::start(vec![Turn::done("ok")]).unwrap();
    assert!(started.elapsed() < LIMIT);
    let reply = tokio::task::spawn_blocking(move || {
        let reply = post(&server, MESSAGES, &messages());
        server.assert_clean();
        reply
    });
    assert_eq!(reply.await.unwrap().status, 200);
}
