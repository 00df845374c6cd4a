//! Replies of the Messages API.

use openspace_llm::{Content, Delta, Reply, Role, StopReason, ToolCall, Usage};
use serde_json::{Value, json};

use crate::server::{Answer, CLAUDE, Server, anthropic, ask, model, reply};

fn call(id: &str, input: Value, malformed: Option<&str>) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "computer".into(),
        input,
        malformed: malformed.map(str::to_owned),
    })
}

/// Thinking, text, and two calls at once, one of them broken, with the usage of start and end.
#[tokio::test]
async fn a_whole_reply_is_put_together() {
    let events = anthropic(&[
        json!({"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":12,"cache_read_input_tokens":100,"cache_creation_input_tokens":7,"output_tokens":1}}}),
        json!({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}),
        json!({"type":"content_block_stop","index":0}),
        json!({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}),
        json!({"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}),
        json!({"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Click, "}}),
        json!({"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"北京"}}),
        json!({"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"computer","input":{}}}),
        json!({"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"b","name":"computer","input":{}}}),
        json!({"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}),
        json!({"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"action\": "}}),
        json!({"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"action\":\"wait\"}"}}),
        json!({"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"c","name":"computer","input":{}}}),
        json!({"type":"content_block_start","index":6,"content_block":{"type":"from_the_future"}}),
        json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":90}}),
        json!({"type":"message_stop"}),
    ]);
    let server = Server::start(vec![Answer::stream(events)]).await;
    let (reply, deltas) = reply(&model(CLAUDE, &server), &ask("hi")).await;
    assert_eq!(
        reply.unwrap(),
        Reply {
            message: openspace_llm::Message {
                role: Role::Assistant,
                content: vec![
                    Content::Reasoning {
                        text: "Hm".into(),
                        opaque: json!({"type":"thinking","thinking":"Hm","signature":"c2ln"}),
                    },
                    Content::Reasoning {
                        text: String::new(),
                        opaque: json!({"type":"redacted_thinking","data":"xyz"}),
                    },
                    Content::Text("Click, 北京".into()),
                    call("a", json!({"action":"wait"}), None),
                    call("b", Value::Null, Some("{\"action\": ")),
                    call("c", json!({}), None),
                ],
            },
            stop: StopReason::ToolUse,
            usage: Usage {
                input: 12,
                output: 90,
                cache_read: 100,
                cache_write: 7,
                images: 0
            },
            model: "claude-x".into(),
        }
    );
    let started = Delta::ToolCallStarted {
        name: "computer".into(),
    };
    assert_eq!(
        deltas,
        [
            Delta::Reasoning("Hm".into()),
            Delta::Text("Click, ".into()),
            Delta::Text("北京".into()),
            started.clone(),
            started.clone(),
            started,
        ]
    );
}

/// Members of the computer toolset are read as actions of `computer`; a tool of the same name is not.
#[tokio::test]
async fn members_of_the_toolset_are_actions() {
    let start = |index: u32, block: Value| json!({"type":"content_block_start","index":index,"content_block":block});
    let member = |id: &str, name: &str| json!({"type":"tool_use","id":id,"name":name,"toolset_name":"computer","input":{}});
    let events = anthropic(&[
        start(0, member("a", "left_click")),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"coordinate\":[3,4]}"}}),
        start(1, member("b", "screenshot")),
        start(2, member("c", "type")),
        json!({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"text\": "}}),
        start(
            3,
            json!({"type":"tool_use","id":"d","name":"type","input":{"text":"x"}}),
        ),
        json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}),
        json!({"type":"message_stop"}),
    ]);
    let server = Server::start(vec![Answer::stream(events)]).await;
    let (reply, deltas) = reply(&model(CLAUDE, &server), &ask("hi")).await;
    assert_eq!(
        reply.unwrap().message.content,
        [
            call("a", json!({"action":"left_click","coordinate":[3,4]}), None),
            call("b", json!({"action":"screenshot"}), None),
            call("c", json!({"action":"type"}), Some("{\"text\": ")),
            Content::ToolCall(ToolCall {
                id: "d".into(),
                name: "type".into(),
                input: json!({"text":"x"}),
                malformed: None,
            }),
        ]
    );
    assert_eq!(
        deltas[0],
        Delta::ToolCallStarted {
            name: "computer".into()
        }
    );
}

/// Arguments of 200 KB in small pieces arrive whole.
#[tokio::test]
async fn arguments_of_200_kb_arrive_whole() {
    let long = "Ωx\"\\ ".repeat(40_000);
    let text = json!({ "text": long }).to_string();
    let pieces: Vec<char> = text.chars().collect();
    let mut events = vec![
        json!({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"computer","input":{}}}),
    ];
    events.extend(pieces.chunks(100).map(|piece| {
        let piece: String = piece.iter().collect();
        json!({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":piece}})
    }));
    events.push(json!({"type":"message_stop"}));
    let server = Server::start(vec![Answer::stream(anthropic(&events))]).await;
    let reply = reply(&model(CLAUDE, &server), &ask("hi")).await.0.unwrap();
    assert!(text.len() > 200_000);
    assert_eq!(
        reply.tool_calls().next().unwrap().input,
        json!({ "text": long })
    );
}

/// Each reason to stop has its meaning.
#[tokio::test]
async fn reasons_to_stop() {
    for (reason, stop) in [
        ("end_turn", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("refusal", StopReason::Refused),
        ("stop_sequence", StopReason::EndTurn),
    ] {
        let events = anthropic(&[
            json!({"type":"message_delta","delta":{"stop_reason":reason}}),
            json!({"type":"message_stop"}),
        ]);
        let server = Server::start(vec![Answer::stream(events)]).await;
        let reply = reply(&model(CLAUDE, &server), &ask("hi")).await.0.unwrap();
        assert_eq!(reply.stop, stop);
    }
}

/// A gateway that does not stream is understood too.
#[tokio::test]
async fn a_reply_in_one_piece_is_understood() {
    let body = json!({"type":"message","model":"m","stop_reason":"tool_use","content":[
        {"type":"text","text":"ok"},{"type":"tool_use","id":"a","name":"computer","input":{"action":"wait"}}],
        "usage":{"input_tokens":3,"output_tokens":4}});
    let server = Server::start(vec![Answer::json(200, &body)]).await;
    let reply = reply(&model(CLAUDE, &server), &ask("hi")).await.0.unwrap();
    assert_eq!(
        reply.message.content,
        [
            Content::Text("ok".into()),
            call("a", json!({"action":"wait"}), None)
        ]
    );
    assert_eq!(reply.usage.total(), 7);
}
