//! What a request must fulfil.

use super::*;

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
    let insert = |body: &mut Value, index: usize| {
        let messages = body["messages"].as_array_mut().unwrap();
        messages.insert(index, json!({"role": "system", "content": "be brief"}));
    };
    let server = ModelServer::start(always(Turn::done("ok"))).unwrap();
    let mut body = messages();
    insert(&mut body, 1);
    insert(&mut body, 4);
    let reply = post(&server, MESSAGES, &body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    refused_by(Rules::default(), MESSAGES, messages(), "roles", |body| {
        insert(body, 0);
    });
    refused_by(Rules::default(), MESSAGES, messages(), "roles", |body| {
        insert(body, 1);
        insert(body, 1);
    });
    refused_by(Rules::default(), CHAT, chat(), "roles", |body| {
        insert(body, 2);
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
    for name in ["run command", "öffne", "", &"x".repeat(129)] {
        refused_by(Rules::default(), MESSAGES, messages(), "tools", |body| {
            tool(body, "name", json!(name));
        });
    }
    refused_by(Rules::default(), CHAT, chat(), "tools", |body| {
        body["tools"][0]["function"]["name"] = json!("x".repeat(65));
    });
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

/// A right request with the toolset.
fn with_toolset() -> Value {
    let mut body = messages();
    body["model"] = json!("claude-opus-5-5");
    body["tools"][0] = json!({"type": "computer_toolset_20260801"});
    body["messages"][1]["content"][1] = json!({
        "type": "tool_use", "id": "toolu_1", "name": "screenshot", "toolset_name": "computer", "input": {},
    });
    body["messages"][2]["content"][0]["toolset_name"] = json!("computer");
    body
}

/// The toolset has an entry of its own kind, and its calls and results name it; since Claude 5.5 it is
/// the only one there is. The script sees what it sees with the older tools.
#[test]
fn the_toolset_is_checked() {
    let server = ModelServer::start(always(Turn::click_at((3, 4)))).unwrap();
    let reply = post(&server, MESSAGES, &with_toolset());
    assert_eq!(reply.status, 200, "{}", reply.text());
    server.assert_clean();
    let seen = server.requests().remove(0);
    assert_eq!(seen.results()[0].name, "computer");
    assert_eq!(seen.results()[0].input, json!({"action": "screenshot"}));
    let called = &reply.json()["content"][0];
    assert_eq!(called["name"], "left_click");
    assert_eq!(called["toolset_name"], "computer");
    assert_eq!(called["input"], json!({"coordinate": [3, 4]}));

    let call = |body: &mut Value, field: &str, value: Value| {
        body["messages"][1]["content"][1][field] = value;
    };
    let refused = |rule: &str, damage: &dyn Fn(&mut Value)| {
        refused_by(Rules::default(), MESSAGES, with_toolset(), rule, damage);
    };
    refused("toolset", &|body| {
        body["tools"][0]["name"] = json!("computer");
    });
    refused("toolset", &|body| {
        body["tools"][0]["display_width_px"] = json!(280);
    });
    refused("toolset", &|body| {
        call(body, "name", json!("jump"));
    });
    refused("toolset", &|body| {
        call(body, "toolset_name", json!("browser"));
    });
    refused("toolset", &|body| {
        call(body, "input", json!({"action": "screenshot"}));
    });
    refused("toolset", &|body| {
        body["messages"][2]["content"][0]["toolset_name"] = Value::Null;
    });
    refused("toolset", &|body| {
        body["messages"][2]["content"][1]["toolset_name"] = json!("computer");
    });
    refused("tools", &|body| {
        body["tools"][1]["name"] = json!("computer");
    });
    refused("tools", &|body| {
        body["tools"][0] = messages()["tools"][0].clone();
    });
    refused("toolset", &|body| {
        body["tools"].as_array_mut().unwrap().remove(0);
    });
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
