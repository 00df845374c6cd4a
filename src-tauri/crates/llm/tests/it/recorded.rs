//! Plans that are played back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use openspace_llm::recorded::{Call, Finder, Plan, Recording, Turn};
use openspace_llm::{
    Content, Error, Image, Message, Options, Request, Role, StopReason, ToolResult, Usage, connect,
};
use serde_json::{Value, json};

use crate::server::{ask, picture, reply};

/// Finds everything from the given look on.
struct Eyes {
    from: u32,
    looks: AtomicU32,
}

impl Finder for Eyes {
    fn find(&self, what: &Value, image: &Image) -> Option<(u32, u32)> {
        assert_eq!(what, &json!({"text": "Save"}));
        let look = self.looks.fetch_add(1, Ordering::SeqCst);
        (look >= self.from).then_some((image.width / 2, image.height / 2))
    }
}

fn model(plan: Plan, from: u32) -> Arc<dyn openspace_llm::ChatModel> {
    let finder = Arc::new(Eyes {
        from,
        looks: AtomicU32::new(0),
    });
    connect(Options {
        recording: Some(Recording { plan, finder }),
        ..Options::new("recorded/demo")
    })
    .unwrap()
}

fn plan() -> Plan {
    serde_json::from_value(json!({
        "turns": [
            {"text": "I look.", "calls": [{"name": "computer", "input": {"action": "screenshot"}}]},
            {"text": "I save.", "calls": [{"name": "computer_batch", "input": {"actions": [
                {"action": "left_click", "coordinate": {"$find": {"text": "Save"}, "offset": [5, -2]}},
                {"action": "type", "text": "a"}]}}]},
            {"text": "Saved."}
        ],
        "tries": 3
    }))
    .unwrap()
}

fn continued(request: &mut Request, message: Message) {
    let results = message.content.iter().filter_map(|content| match content {
        Content::ToolCall(call) => Some(Content::ToolResult(ToolResult {
            id: call.id.clone(),
            content: vec![Content::Image(picture(200, 100))],
            is_error: false,
        })),
        _ => None,
    });
    let results = results.collect();
    request.messages.push(message);
    request.messages.push(Message {
        role: Role::User,
        content: results,
    });
}

/// Positions are found in the newest picture; while they are not there the plan waits and looks.
#[tokio::test]
async fn a_plan_waits_for_what_it_needs() {
    let model = model(plan(), 2);
    let mut request = ask("save it");
    let mut said = Vec::new();
    for _ in 0..5 {
        let reply = reply(&model, &request).await.0.unwrap();
        assert_eq!(reply.usage, Usage::default());
        let inputs: Vec<Value> = reply.tool_calls().map(|call| call.input.clone()).collect();
        said.push((reply.text(), inputs, reply.stop));
        if reply.stop == StopReason::EndTurn {
            break;
        }
        continued(&mut request, reply.message);
    }
    let wait = vec![
        json!({"action": "wait", "duration": 0.5}),
        json!({"action": "screenshot"}),
    ];
    let click = json!({"actions": [
        {"action": "left_click", "coordinate": [105, 48]}, {"action": "type", "text": "a"}]});
    assert_eq!(
        said,
        [
            (
                "I look.".into(),
                vec![json!({"action": "screenshot"})],
                StopReason::ToolUse
            ),
            (String::new(), wait.clone(), StopReason::ToolUse),
            (String::new(), wait, StopReason::ToolUse),
            ("I save.".into(), vec![click], StopReason::ToolUse),
            ("Saved.".to_owned(), vec![], StopReason::EndTurn),
        ]
    );
    // What was made is a conversation that any provider would take.
    let profile = openspace_llm::Profile::lookup("anthropic/claude-sonnet-4-6");
    openspace_llm::preflight::prepare(&request, &profile, false).unwrap();
    assert!(matches!(
        reply(&model, &request).await.0,
        Err(Error::InvalidReply { .. })
    ));
}

/// What never appears ends the plan with its reason, after the tries it may have.
#[tokio::test]
async fn a_plan_gives_up() {
    let model = model(plan(), u32::MAX);
    let mut request = ask("save it");
    for _ in 0..4 {
        let reply = reply(&model, &request).await.0.unwrap();
        continued(&mut request, reply.message);
    }
    let error = reply(&model, &request).await.0.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }));
    assert!(error.to_string().contains("Save"), "{error}");
}

/// A turn can wait for something it does not touch, also before its final words.
#[tokio::test]
async fn a_turn_can_wait_for_a_sight() {
    let turn = Turn {
        text: "Done.".into(),
        retry_until: Some(json!({"text": "Save"})),
        ..Turn::default()
    };
    let look = Call {
        name: "look".into(),
        input: Value::Null,
    };
    let model = model(
        Plan {
            waiting: vec![look],
            ..Plan::new(vec![turn])
        },
        0,
    );
    let mut request = ask("hi");
    let first = reply(&model, &request).await.0.unwrap();
    assert_eq!(first.tool_calls().next().unwrap().name, "look");
    continued(&mut request, first.message);
    assert_eq!(reply(&model, &request).await.0.unwrap().text(), "Done.");
}

/// Without its recording there is no such model.
#[test]
fn a_recording_must_be_there() {
    assert!(matches!(
        connect(Options::new("recorded/demo")).err(),
        Some(Error::InvalidRequest { .. })
    ));
}
