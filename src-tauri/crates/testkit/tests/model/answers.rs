//! What the server answers.

use super::*;

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
