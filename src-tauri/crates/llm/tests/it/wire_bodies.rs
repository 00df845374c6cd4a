//! What is sent, byte for byte in spirit: snapshots of both wire formats.

use openspace_llm::{
    Content, Hosted, HostedTool, Message, Options, Overrides, Request, Role, ToolCall, ToolResult,
    connect,
};
use serde_json::{Value, json};

use crate::server::{
    Answer, CLAUDE, FakeTiming, GPT, Seen, Server, anthropic_text, openai_text, options, picture,
    reply, tool,
};

fn call(id: &str, name: &str, input: Value) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        input,
        malformed: None,
    })
}

fn result(id: &str, content: Vec<Content>, is_error: bool) -> Content {
    Content::ToolResult(ToolResult {
        id: id.into(),
        content,
        is_error,
    })
}

fn turn(role: Role, content: Vec<Content>) -> Message {
    Message { role, content }
}

/// Pictures, parallel calls, an error with a picture, a malformed call, reasoning, an interjection.
pub(crate) fn conversation() -> Request {
    let mut computer = tool("computer");
    computer.hosted = Some(Hosted::Computer {
        width: 1456,
        height: 819,
    });
    let thinking = json!({"type": "thinking", "thinking": "Look first.", "signature": "c2ln"});
    Request {
        system: "You operate a computer.".into(),
        tools: vec![computer, tool("run_command")],
        messages: vec![
            Message::user("Open the editor"),
            turn(
                Role::Assistant,
                vec![
                    Content::Reasoning {
                        text: "Look first.".into(),
                        opaque: thinking,
                    },
                    Content::Text("I look.".into()),
                    call("t1", "computer", json!({"action": "screenshot"})),
                    call("t2", "run_command", json!({"line": "which mousepad"})),
                ],
            ),
            turn(
                Role::User,
                vec![
                    Content::Text("  ".into()),
                    Content::Text("Hurry up".into()),
                    result("t1", vec![Content::Image(picture(1456, 819))], false),
                    result("t2", vec![Content::Text("/usr/bin/mousepad".into())], false),
                ],
            ),
            turn(
                Role::Assistant,
                vec![call(
                    "t3",
                    "computer",
                    json!({"action": "left_click", "coordinate": [10, 20]}),
                )],
            ),
            turn(
                Role::User,
                vec![result(
                    "t3",
                    vec![
                        Content::Text("Nothing changed".into()),
                        Content::Image(picture(1456, 819)),
                    ],
                    true,
                )],
            ),
            turn(
                Role::Assistant,
                vec![Content::ToolCall(ToolCall {
                    id: "t4".into(),
                    name: "run_command".into(),
                    input: Value::Null,
                    malformed: Some("{\"line\": ".into()),
                })],
            ),
            turn(
                Role::User,
                vec![result(
                    "t4",
                    vec![Content::Text("not valid JSON".into())],
                    true,
                )],
            ),
            Message::user("Go on"),
        ],
        max_tokens: 4096,
    }
}

async fn sent(options: Options, answer: Vec<u8>, request: &Request) -> Seen {
    let server = Server::start(vec![Answer::stream(answer)]).await;
    let options = Options {
        base: Some(server.base.clone()),
        ..options
    };
    let model = connect(options).unwrap();
    reply(&model, request).await.0.unwrap();
    server.seen().remove(0)
}

/// The Messages body: hosted tool, marks for the cache, pictures within results.
#[tokio::test]
async fn messages_body() {
    let seen = sent(
        options(CLAUDE, "", FakeTiming::new(0.0)),
        anthropic_text("ok"),
        &conversation(),
    )
    .await;
    insta::assert_json_snapshot!(seen.body);
    assert_eq!(seen.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(
        seen.header("anthropic-beta"),
        Some("computer-use-2025-11-24")
    );
    assert_eq!(seen.header("x-api-key"), Some(crate::server::KEY));
    let agent = seen.header("user-agent").unwrap();
    assert!(agent.starts_with("OpenSpace-Desktop/"), "{agent}");
}

/// The Chat Completions body: pictures follow the results of tools, labelled.
#[tokio::test]
async fn chat_completions_body() {
    let seen = sent(
        options(GPT, "", FakeTiming::new(0.0)),
        openai_text("ok"),
        &conversation(),
    )
    .await;
    insta::assert_json_snapshot!(seen.body);
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    let bearer = format!("Bearer {}", crate::server::KEY);
    assert_eq!(seen.header("authorization"), Some(bearer.as_str()));
}

/// At most four marks: one on tools and system, three on the newest turns of the person, and they
/// move on as the conversation grows.
#[tokio::test]
async fn cache_marks_move_with_the_newest_turns() {
    for turns in 1..8 {
        let mut request = crate::server::ask("0");
        for number in 1..turns {
            request.messages.push(Message::assistant("yes"));
            request.messages.push(Message::user(number.to_string()));
        }
        let seen = sent(
            options(CLAUDE, "", FakeTiming::new(0.0)),
            anthropic_text("ok"),
            &request,
        )
        .await;
        let messages = seen.body["messages"].as_array().unwrap();
        let marked: Vec<usize> = (0..messages.len())
            .filter(|&at| !messages[at]["content"][0]["cache_control"].is_null())
            .collect();
        let users: Vec<usize> = (0..messages.len()).step_by(2).collect();
        assert_eq!(marked, users[users.len().saturating_sub(3)..]);
        assert_eq!(seen.body["system"][0]["cache_control"]["type"], "ephemeral");
        assert_eq!(
            seen.body.to_string().matches("cache_control").count(),
            marked.len() + 1
        );
    }
}

/// The vendor's tool can be switched off, and a beta header of the person's stays beside ours.
#[tokio::test]
async fn the_hosted_tool_is_a_setting() {
    let off = Options {
        hosted_tool: HostedTool::Off,
        ..options(CLAUDE, "", FakeTiming::new(0.0))
    };
    let seen = sent(off, anthropic_text("ok"), &conversation()).await;
    assert_eq!(seen.body["tools"][0]["input_schema"]["type"], "object");
    assert_eq!(seen.header("anthropic-beta"), None);

    let with = Options {
        headers: vec![("anthropic-beta".into(), "other-1".into())],
        ..options(CLAUDE, "", FakeTiming::new(0.0))
    };
    let seen = sent(with, anthropic_text("ok"), &conversation()).await;
    assert_eq!(
        seen.header("anthropic-beta"),
        Some("other-1,computer-use-2025-11-24")
    );
}

/// The computer toolset: no name and no display, actions are member tools, their results say so.
#[tokio::test]
async fn messages_body_with_the_toolset() {
    let mut request = conversation();
    let own = call("c1", "computer", json!({"action": "clipboard_read"}));
    let drag =
        json!({"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]});
    request.messages.push(turn(
        Role::Assistant,
        vec![own, call("c2", "computer", drag)],
    ));
    request.messages.push(turn(
        Role::User,
        vec![
            result("c1", vec![Content::Text("copied".into())], false),
            result("c2", vec![Content::Text("no".into())], true),
        ],
    ));
    let name = "anthropic/claude-opus-5-5";
    let seen = sent(
        options(name, "", FakeTiming::new(0.0)),
        anthropic_text("ok"),
        &request,
    )
    .await;
    assert_eq!(
        seen.body["tools"][0],
        json!({"type": "computer_toolset_20260801"})
    );
    assert_eq!(seen.body["tools"][1]["name"], "run_command");
    assert_eq!(seen.header("anthropic-beta"), None);
    let blocks: Vec<&Value> = seen.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap())
        .collect();
    let calls = |id: &str| {
        let of = |field: &str| {
            let found = blocks.iter().find(|block| block[field] == id);
            let mut block = (*found.unwrap()).clone();
            block.as_object_mut().unwrap().remove("cache_control");
            block
        };
        (of("id"), of("tool_use_id"))
    };
    let (look, looked) = calls("t1");
    assert_eq!(
        look,
        json!({"type": "tool_use", "id": "t1", "name": "screenshot", "toolset_name": "computer", "input": {}})
    );
    assert_eq!(looked["toolset_name"], "computer");
    let (other, answer) = calls("t2");
    assert_eq!(other["name"], "run_command");
    assert_eq!(
        (&other["toolset_name"], &answer["toolset_name"]),
        (&Value::Null, &Value::Null)
    );
    // What the toolset has not stays what it was.
    let (own, answer) = calls("c1");
    assert_eq!(own["input"], json!({"action": "clipboard_read"}));
    assert_eq!(answer["toolset_name"], Value::Null);
    let (drag, failed) = calls("c2");
    assert_eq!(
        drag,
        json!({
            "type": "tool_use", "id": "c2", "name": "left_click_drag", "toolset_name": "computer",
            "input": {"start_coordinate": [1, 2], "coordinate": [3, 4]},
        })
    );
    assert_eq!(
        failed,
        json!({
            "type": "tool_result", "tool_use_id": "c2", "toolset_name": "computer", "is_error": true,
            "content": [{"type": "text", "text": "no"}],
        })
    );
}

/// A model without eyes is told about pictures, never sent one, in both formats.
#[tokio::test]
async fn a_blind_model_gets_words_for_pictures() {
    let blind = Overrides {
        vision: Some(false),
        ..Overrides::default()
    };
    for (name, answer) in crate::server::both() {
        let options = Options {
            profile: blind.clone(),
            ..options(name, "", FakeTiming::new(0.0))
        };
        let text = sent(options, answer, &conversation())
            .await
            .body
            .to_string();
        assert!(
            !text.contains("base64") && text.contains("1456x819 pixels that this model cannot see"),
            "{text}"
        );
    }
}

/// OpenRouter passes marks on to Claude, and only to Claude.
#[tokio::test]
async fn openrouter_marks_the_cache_for_claude_only() {
    let marks = |name: &'static str| async move {
        let options = options(name, "", FakeTiming::new(0.0));
        let seen = sent(options, openai_text("ok"), &conversation()).await;
        seen.body.to_string().matches("cache_control").count()
    };
    assert_eq!(marks("openrouter/anthropic/claude-sonnet-4.5").await, 4);
    assert_eq!(marks("openrouter/openai/gpt-4o").await, 0);
}

/// A parameter that a server does not know is left out from then on, without using up an attempt.
#[tokio::test]
async fn a_server_s_dialect_is_learned() {
    let refusal = |text: &str| Answer::json(400, &json!({"error": {"message": text}}));
    let server = Server::start(vec![
        refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        refusal("Unrecognized request argument supplied: stream_options"),
        Answer::stream(openai_text("ok")),
    ])
    .await;
    let timing = FakeTiming::new(0.0);
    let model = connect(options("openai-compatible/x", &server.base, timing.clone())).unwrap();
    for _ in 0..2 {
        reply(&model, &crate::server::ask("hi")).await.0.unwrap();
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    assert!(seen[0].body["max_tokens"].is_number() && !seen[0].body["stream_options"].is_null());
    for seen in &seen[2..] {
        assert!(seen.body["max_completion_tokens"].is_number());
        assert!(seen.body["max_tokens"].is_null() && seen.body["stream_options"].is_null());
    }
    assert!(timing.waits().is_empty());
}

/// Reasoning that the service no longer accepts, because the history before it was pruned, is left
/// out from then on; the step goes through.
#[tokio::test]
async fn refused_reasoning_is_left_out() {
    let refusal = json!({"type":"error","error":{"type":"invalid_request_error","message":
        "messages.1.content.0: `thinking` blocks cannot be modified. These blocks must remain as they were in the original response."}});
    let server = Server::start(vec![
        Answer::json(400, &refusal),
        Answer::stream(anthropic_text("ok")),
    ])
    .await;
    let model = connect(options(CLAUDE, &server.base, FakeTiming::new(0.0))).unwrap();
    reply(&model, &conversation()).await.0.unwrap();
    let bodies: Vec<String> = server
        .seen()
        .iter()
        .map(|seen| seen.body.to_string())
        .collect();
    let with: Vec<bool> = bodies
        .iter()
        .map(|body| body.contains("thinking"))
        .collect();
    assert_eq!(with, [true, false]);
}
