//! Changes that keep a conversation acceptable.

use openspace_llm::history::{fit_request, prune_images, repair_pairs, shrink_images};
use openspace_llm::preflight::{images, prepare};
use openspace_llm::{
    Content, Image, Message, Overrides, Profile, Request, Role, ToolCall, ToolResult,
};
use serde_json::json;

use crate::server::{ask, picture};

fn call(id: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "computer".into(),
        input: json!({}),
        malformed: None,
    })
}

fn result(id: &str, text: &str, is_error: bool) -> Content {
    let content = vec![Content::Text(text.into())];
    Content::ToolResult(ToolResult {
        id: id.into(),
        content,
        is_error,
    })
}

fn model(content: Vec<Content>) -> Message {
    Message {
        role: Role::Assistant,
        content,
    }
}

fn person(content: Vec<Content>) -> Message {
    Message {
        role: Role::User,
        content,
    }
}

/// A run of so many steps, each with a picture of this size.
fn run(steps: usize, width: u32, height: u32) -> Vec<Message> {
    let mut messages = vec![Message::user("go")];
    for step in 0..steps {
        let id = format!("s{step}");
        messages.push(model(vec![call(&id)]));
        messages.push(person(vec![Content::ToolResult(ToolResult {
            id,
            content: vec![Content::Image(picture(width, height))],
            is_error: false,
        })]));
    }
    messages
}

fn acceptable(messages: &[Message], profile: &Profile) -> bool {
    let request = Request {
        messages: messages.to_vec(),
        ..ask("")
    };
    prepare(&request, profile, false).is_ok()
}

/// Missing results are added as errors, strays dropped, order and ids put right; then it is stable.
#[test]
fn pairs_are_repaired() {
    let mut messages = vec![
        model(vec![Content::Text("hi".into())]),
        person(vec![
            result("stray", "x", false),
            Content::Text("go".into()),
        ]),
        model(vec![call("a"), call("b")]),
        person(vec![Content::Text("wait".into())]),
        person(vec![
            result("b", "late", false),
            result("b", "twice", false),
        ]),
        model(vec![call("a")]),
        person(vec![result("a", "second", false)]),
        model(vec![call("c")]),
    ];
    repair_pairs(&mut messages);
    let lost = "No result: the run was interrupted before this call finished. It may or may not have taken effect.";
    assert_eq!(
        messages,
        [
            Message::user("(The beginning of this conversation was left out.)"),
            model(vec![Content::Text("hi".into())]),
            person(vec![Content::Text("go".into())]),
            model(vec![call("a"), call("b")]),
            person(vec![
                result("a", lost, true),
                result("b", "late", false),
                Content::Text("wait".into())
            ]),
            model(vec![call("a_2")]),
            person(vec![result("a_2", "second", false)]),
            model(vec![call("c")]),
            person(vec![result("c", lost, true)]),
        ]
    );
    assert!(acceptable(
        &messages,
        &Profile::lookup("anthropic/claude-opus-4-7")
    ));
    let before = messages.clone();
    repair_pairs(&mut messages);
    assert_eq!(messages, before);
}

/// Dropping a stray may empty a turn; what then stands side by side is merged and still paired.
#[test]
fn a_turn_emptied_by_repair_leaves_no_gap() {
    let mut messages = vec![
        Message::user("go"),
        model(vec![Content::Text("one".into())]),
        person(vec![result("stray", "x", false)]),
        model(vec![call("a")]),
        person(vec![result("a", "ok", false)]),
    ];
    repair_pairs(&mut messages);
    assert_eq!(
        messages,
        [
            Message::user("go"),
            model(vec![Content::Text("one".into()), call("a")]),
            person(vec![result("a", "ok", false)]),
        ]
    );
}

/// Pictures go 40 at a time, so the beginning stays the same from step to step, whether the history
/// that is pruned was pruned before or not.
#[test]
fn pruning_keeps_the_prefix() {
    let mut kept = run(0, 0, 0);
    let mut changes = 0;
    for step in 0..130 {
        let added = run(step + 1, 100, 100);
        kept.extend(added[added.len() - 2..].iter().cloned());
        let before = kept.clone();
        changes += usize::from(prune_images(&mut kept, 3, 40) > 0);
        let mut fresh = added;
        prune_images(&mut fresh, 3, 40);
        assert_eq!(kept, fresh, "step {step}");
        let count = images(&kept).count();
        assert!((1..43).contains(&count));
        if count != 3 {
            assert_eq!(kept, before);
        }
    }
    assert_eq!(changes, 3);
    let Content::ToolResult(first) = &kept[2].content[0] else {
        panic!()
    };
    assert_eq!(
        first.content,
        [Content::Text(
            "[Picture 1, 100x100, left out to save room: newer ones follow.]".into()
        )]
    );
}

/// A long run on a 4K screen stays within every limit, with the newest picture in place.
#[test]
fn d09_a_long_run_fits() {
    let mut profile = Profile::lookup("anthropic/claude-opus-4-7");
    for steps in [1, 20, 21, 30, 100, 700] {
        let mut messages = run(steps, 2576, 1449);
        fit_request(&mut messages, &profile);
        assert!(acceptable(&messages, &profile), "{steps}");
        assert!(images(&messages).count() > 0);
        let again = fit_request(&mut messages.clone(), &profile);
        assert_eq!(again, 0);
    }
    // Bedrock takes 11 MB; these are 1 MB each as base64.
    profile = profile.with(&Overrides {
        max_request_bytes: Some(11_000_000),
        ..Overrides::default()
    });
    let mut messages = run(15, 1456, 819);
    let heavy = |content: &mut Content| {
        if let Content::ToolResult(result) = content {
            result.content = vec![Content::Image(Image {
                data: vec![0; 750_000].into(),
                ..picture(1456, 819)
            })];
        }
    };
    messages
        .iter_mut()
        .flat_map(|message| &mut message.content)
        .for_each(heavy);
    assert!(!acceptable(&messages, &profile));
    assert_eq!(fit_request(&mut messages, &profile), 8);
    assert!(acceptable(&messages, &profile));
}

/// A picture that is too big by itself is replaced, whatever its age.
#[test]
fn a_picture_too_big_by_itself_is_replaced() {
    let profile = Profile::lookup("anthropic/claude-opus-4-7");
    let mut messages = run(2, 9000, 100);
    assert_eq!(fit_request(&mut messages, &profile), 2);
    assert!(acceptable(&messages, &profile));
}

/// After a rejection all but the newest picture are shrunk, once; the second time says it is pointless.
#[test]
fn d09_shrinking_recovers_once() {
    let mut messages = run(3, 2000, 1000);
    let half = |image: &Image, max: u32| (image.width <= 2000).then(|| picture(max, max / 2));
    assert!(shrink_images(&mut messages, 1000, &half));
    let sizes: Vec<_> = images(&messages)
        .map(|image| (image.width, image.height))
        .collect();
    assert_eq!(sizes, [(1000, 500), (1000, 500), (2000, 1000)]);
    assert!(!shrink_images(&mut messages, 1000, &half));

    let mut messages = run(2, 2000, 1000);
    assert!(shrink_images(&mut messages, 1000, &|_, _| None));
    assert_eq!(images(&messages).count(), 1);
}
