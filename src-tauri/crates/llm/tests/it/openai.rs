//! Replies of Chat Completions, in the dialects of those who imitate it.

use openspace_llm::{Content, Delta, Error, Message, Reply, Role, StopReason, ToolCall, Usage};
use serde_json::{Value, json};

use crate::server::{Answer, GPT, Server, ask, chunks, model, openai_text, reply};

async fn answered(name: &'static str, answer: Answer) -> (Result<Reply, Error>, Vec<Delta>) {
    let server = Server::start(vec![answer]).await;
    reply(&model(name, &server), &ask("hi")).await
}

fn delta(delta: &Value) -> Value {
    json!({"choices":[{"index":0,"delta":delta}]})
}

fn calls(reply: &Reply) -> Vec<(String, String, Value)> {
    let calls = reply.tool_calls();
    calls
        .map(|call| (call.id.clone(), call.name.clone(), call.input.clone()))
        .collect()
}

/// Text, usage with cached tokens, and the model's own name.
#[tokio::test]
async fn text_and_usage() {
    let (reply, deltas) = answered(GPT, Answer::stream(openai_text("Hello"))).await;
    let expected = Reply {
        message: Message::assistant("Hello"),
        stop: StopReason::EndTurn,
        usage: Usage {
            input: 19,
            output: 9,
            cache_read: 100,
            cache_write: 0,
            images: 0,
        },
        model: "gpt-x".into(),
    };
    assert_eq!(reply.unwrap(), expected);
    assert_eq!(deltas, [Delta::Text("Hello".into())]);
}

/// Calls in pieces by index; calls in one piece; without ids; all with index 0; arguments as objects.
#[tokio::test]
async fn tool_calls_in_every_dialect() {
    let by_index = chunks(&[
        delta(
            &json!({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":""}}]}),
        ),
        delta(
            &json!({"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}]}),
        ),
        delta(&json!({"tool_calls":[{"index":0,"function":{"arguments":"{\"k\":"}}]})),
        delta(&json!({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]})),
        json!({"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}),
    ]);
    let whole = chunks(&[
        delta(&json!({"tool_calls":[
        {"id":"a","function":{"name":"x","arguments":"{\"k\":1}"}},
        {"id":"b","function":{"name":"y","arguments":"{}"}}]})),
        json!({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}),
    ]);
    let always_zero = chunks(&[
        delta(
            &json!({"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":{"k":1}}}]}),
        ),
        delta(
            &json!({"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":null}}]}),
        ),
    ]);
    for answer in [by_index, whole, always_zero] {
        let reply = answered(GPT, Answer::stream(answer)).await.0.unwrap();
        assert_eq!(
            calls(&reply),
            [
                ("a".into(), "x".into(), json!({"k":1})),
                ("b".into(), "y".into(), json!({})),
            ]
        );
        assert_eq!(reply.stop, StopReason::ToolUse);
    }

    let no_ids = chunks(&[delta(&json!({"tool_calls":[
        {"function":{"name":"x","arguments":"{\"k\":1}"}},{"function":{"name":"x","arguments":"{"}}]}))]);
    let reply = answered("ollama/qwen3", Answer::stream(no_ids))
        .await
        .0
        .unwrap();
    let found: Vec<&ToolCall> = reply.tool_calls().collect();
    assert_eq!(found.len(), 2);
    assert!(!found[0].id.is_empty() && !found[1].id.is_empty() && found[0].id != found[1].id);
    assert_eq!(found[1].malformed.as_deref(), Some("{"));
    assert_eq!(found[1].input, Value::Null);
}

/// A server that numbers its calls anew in each turn gets them told apart.
#[tokio::test]
async fn ids_used_before_are_replaced() {
    let again = chunks(&[delta(
        &json!({"tool_calls":[{"index":0,"id":"call_0","function":{"name":"x","arguments":"{}"}}]}),
    )]);
    let server = Server::start(vec![Answer::stream(again)]).await;
    let model = model("llamacpp/any", &server);
    let mut request = ask("hi");
    for _ in 0..3 {
        let reply = reply(&model, &request).await.0.unwrap();
        let id = reply.tool_calls().next().unwrap().id.clone();
        request.messages.push(reply.message);
        request.messages.push(Message {
            role: Role::User,
            content: vec![Content::ToolResult(openspace_llm::ToolResult {
                id,
                content: vec![],
                is_error: false,
            })],
        });
    }
    assert_eq!(server.seen().len(), 3);
}

/// No usage, no closing line, no stream at all: still a reply.
#[tokio::test]
async fn sparing_servers_are_understood() {
    let no_done =
        b"data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}"
            .to_vec();
    let reply = answered("ollama/x", Answer::stream(no_done))
        .await
        .0
        .unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.usage),
        ("ok", Usage::default())
    );
    assert_eq!(reply.model, "x");

    let body = json!({"model":"m","choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":2}});
    let reply = answered("vllm/x", Answer::json(200, &body))
        .await
        .0
        .unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.stop, reply.usage.total()),
        ("ok", StopReason::MaxTokens, 7)
    );
}

/// Reasoning is no answer, whether it has its own field or stands in marks within the text.
#[tokio::test]
async fn reasoning_is_told_apart_from_the_answer() {
    let field = chunks(&[
        delta(&json!({"reasoning_content":"Hm"})),
        delta(&json!({"content":"ok"})),
    ]);
    let marks = chunks(&[
        delta(&json!({"content":"<th"})),
        delta(&json!({"content":"ink>Hm"})),
        delta(&json!({"content":"</think>\n\nok"})),
    ]);
    for answer in [field, marks] {
        let (reply, deltas) = answered("vllm/x", Answer::stream(answer)).await;
        let reply = reply.unwrap();
        assert_eq!(reply.text(), "ok");
        assert!(
            matches!(&reply.message.content[0], Content::Reasoning { text, .. } if text == "Hm")
        );
        let shown = deltas.iter().filter_map(|delta| match delta {
            Delta::Text(text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(shown.collect::<String>().trim(), "ok");
    }
}

/// Gemini's signatures come back on the calls they belong to.
#[tokio::test]
async fn gemini_s_signatures_are_returned() {
    let signed = json!({"google":{"thought_signature":"c2ln"}});
    let answer = chunks(&[delta(&json!({"tool_calls":[
        {"index":0,"id":"a","function":{"name":"x","arguments":"{}"},"extra_content":signed}]}))]);
    let server = Server::start(vec![
        Answer::stream(answer),
        Answer::stream(openai_text("ok")),
    ])
    .await;
    let model = model("gemini/gemini-3-pro", &server);
    let mut request = ask("hi");
    let first = reply(&model, &request).await.0.unwrap();
    request.messages.push(first.message);
    openspace_llm::history::repair_pairs(&mut request.messages);
    reply(&model, &request).await.0.unwrap();
    assert_eq!(
        server.seen()[1].body["messages"][2]["tool_calls"][0]["extra_content"],
        signed
    );
}

/// A refusal is one, in either form.
#[tokio::test]
async fn refusals() {
    let field = chunks(&[
        delta(&json!({"refusal":"I cannot"})),
        json!({"choices":[{"delta":{},"finish_reason":"stop"}]}),
    ]);
    let filter =
        chunks(&[json!({"choices":[{"delta":{"content":"I"},"finish_reason":"content_filter"}]})]);
    for answer in [field, filter] {
        let reply = answered(GPT, Answer::stream(answer)).await.0.unwrap();
        assert_eq!(reply.stop, StopReason::Refused);
    }
}
