//! What people see and say: approvals, messages, rules, and which processes are alive.

use std::sync::Barrier;

use openspace_store::{
    Answer, ApprovalState, Decision, Error, Fence, NewApproval, RuleDecision, RunStatus, Windows,
};
use serde_json::json;

use crate::home::Home;

fn ask(home: &Home, fence: &Fence) -> openspace_store::ApprovalId {
    ask_about(home, fence, false)
}

fn ask_about(home: &Home, fence: &Fence, editable: bool) -> openspace_store::ApprovalId {
    let new = NewApproval {
        step: 2,
        call: "call_1".to_owned(),
        question: json!({ "command": ["rm", "notes.txt"] }),
        risk: "high".to_owned(),
        irreversible: true,
        editable,
    };
    home.store
        .call_blocking(|db| db.approvals().ask(fence, &new))
        .unwrap()
}

fn answer(decision: Decision) -> Answer {
    Answer {
        decision,
        edited: None,
        note: Some("as you like".to_owned()),
    }
}

/// Of answers given at the same moment the first counts and the others change nothing.
#[test]
fn an_approval_is_answered_once() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let id = ask(&home, &fence);
    let pending = home
        .store
        .read_blocking(|db| db.approvals().pending())
        .unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(
        pending[0].question,
        json!({ "command": ["rm", "notes.txt"] })
    );
    assert!(pending[0].irreversible);

    let decisions = [
        Decision::AllowOnce,
        Decision::AllowForRun,
        Decision::Deny,
        Decision::Deny,
    ];
    let stores: Vec<_> = decisions.iter().map(|_| home.another()).collect();
    let barrier = Barrier::new(decisions.len());
    let counted: Vec<_> = std::thread::scope(|scope| {
        let answers: Vec<_> = stores
            .iter()
            .zip(decisions)
            .map(|(store, decision)| {
                let (id, barrier) = (&id, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let first = store
                        .call_blocking(|db| {
                            db.approvals()
                                .answer(id, &answer(decision), decision.as_str())
                        })
                        .unwrap();
                    first.then_some(decision)
                })
            })
            .collect();
        answers
            .into_iter()
            .filter_map(|answer| answer.join().unwrap())
            .collect()
    });

    assert_eq!(counted.len(), 1, "one answer counts");
    let row = home
        .store
        .read_blocking(|db| db.approvals().get(&id))
        .unwrap();
    let expected = match counted[0] {
        Decision::AllowOnce => ApprovalState::AllowedOnce,
        Decision::AllowForRun => ApprovalState::AllowedForRun,
        Decision::Deny => ApprovalState::Denied,
    };
    assert_eq!(
        (row.state, row.answered_by.as_deref()),
        (expected, Some(counted[0].as_str()))
    );
    assert_eq!(row.note.as_deref(), Some("as you like"));
    let kinds: Vec<_> = home
        .store
        .read_blocking(|db| db.events().of("run", fence.run().as_str(), 2, 100))
        .unwrap()
        .into_iter()
        .map(|event| (event.kind, event.payload["approval"].clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("run.approval_asked".to_owned(), json!(id)),
            ("run.approval_answered".to_owned(), json!(id))
        ],
        "asked and answered are told once each"
    );
}

/// A command is changed only where it would be run, and only by allowing it once; it is kept.
#[test]
fn an_edited_command_is_kept_with_the_answer() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let fixed = ask_about(&home, &fence, false);
    let editable = ask_about(&home, &fence, true);
    let edited = |decision| Answer {
        edited: Some("rm draft.txt".to_owned()),
        ..answer(decision)
    };
    let give = |id, answer: Answer| {
        home.store
            .call_blocking(move |db| db.approvals().answer(id, &answer, "app"))
    };
    for (id, decision) in [
        (&fixed, Decision::AllowOnce),
        (&editable, Decision::AllowForRun),
        (&editable, Decision::Deny),
    ] {
        let refused = give(id, edited(decision));
        assert!(
            matches!(&refused, Err(Error::NotEditable { approval }) if approval == id),
            "{refused:?}"
        );
    }
    let pending = home
        .store
        .read_blocking(|db| db.approvals().pending())
        .unwrap();
    assert_eq!(pending.len(), 2, "what is refused answers nothing");

    assert!(give(&editable, edited(Decision::AllowOnce)).unwrap());
    assert!(!give(&editable, answer(Decision::AllowOnce)).unwrap());

    let row = home
        .store
        .read_blocking(|db| db.approvals().get(&editable))
        .unwrap();
    assert_eq!(
        (row.state, row.edited.as_deref()),
        (ApprovalState::AllowedOnce, Some("rm draft.txt"))
    );
    assert_eq!(row.question, json!({ "command": ["rm", "notes.txt"] }));
}

/// Open questions of a run that ends are withdrawn; answering one of them changes nothing.
#[test]
fn an_ended_run_asks_nothing() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let answered = ask(&home, &fence);
    let open = ask(&home, &fence);
    home.store
        .call_blocking(|db| {
            db.approvals()
                .answer(&answered, &answer(Decision::Deny), "app")
        })
        .unwrap();
    home.time
        .store(i64::MAX / 2, std::sync::atomic::Ordering::SeqCst);
    let pending = home
        .store
        .read_blocking(|db| db.approvals().pending())
        .unwrap();
    assert_eq!(pending.len(), 1, "no time makes a question go away");

    home.store
        .call_blocking(|db| db.runs().finish(&fence, RunStatus::Stopped, None, None))
        .unwrap();

    let late = home
        .store
        .call_blocking(|db| {
            db.approvals()
                .answer(&open, &answer(Decision::AllowOnce), "app")
        })
        .unwrap();
    assert!(!late);
    let states: Vec<_> = home
        .store
        .read_blocking(|db| db.approvals().of_run(fence.run()))
        .unwrap()
        .into_iter()
        .map(|row| row.state)
        .collect();
    assert_eq!(states, [ApprovalState::Denied, ApprovalState::Withdrawn]);
    let found = home
        .store
        .read_blocking(|db| db.approvals().find(&open.as_str()[..9]))
        .unwrap();
    assert_eq!(found.id, open);
}

/// A conversation is read back in the order it was held, over several runs.
#[test]
fn messages_keep_their_order() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let session = home
        .store
        .read_blocking(|db| db.runs().get(fence.run()))
        .unwrap()
        .session;
    home.store
        .call_blocking(|db| {
            db.messages()
                .append(&session, None, "user", &json!("count them"))?;
            db.messages()
                .append_fenced(&fence, "assistant", &json!([{ "text": "12" }]))
        })
        .unwrap();
    home.store
        .call_blocking(|db| {
            db.messages()
                .append(&session, None, "user", &json!("and now?"))
        })
        .unwrap();
    let said: Vec<_> = home
        .store
        .read_blocking(|db| db.messages().of_session(&session))
        .unwrap()
        .into_iter()
        .map(|message| (message.role, message.content, message.run))
        .collect();
    assert_eq!(
        said,
        [
            ("user".to_owned(), json!("count them"), None),
            (
                "assistant".to_owned(),
                json!([{ "text": "12" }]),
                Some(fence.run().clone())
            ),
            ("user".to_owned(), json!("and now?"), None),
        ]
    );
    let own = home
        .store
        .read_blocking(|db| db.messages().of_run(fence.run()))
        .unwrap();
    assert_eq!(own.len(), 1);
    let told = home
        .store
        .read_blocking(|db| db.events().of("session", session.as_str(), 0, 9))
        .unwrap();
    assert_eq!(told.len(), 3, "each message is told");
}

/// Rules are listed in the order they were made and can be removed.
#[test]
fn rules_come_and_go() {
    let home = Home::new();
    let make = |pattern: &str, decision| {
        home.store
            .call_blocking(|db| db.rules().insert("command", pattern, decision, "app"))
            .unwrap()
    };
    let first = make("git *", RuleDecision::Allow);
    make("sudo *", RuleDecision::Deny);
    let list = || {
        let rules = home.store.read_blocking(|db| db.rules().list()).unwrap();
        rules
            .into_iter()
            .map(|rule| (rule.pattern, rule.decision))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        list(),
        [
            ("git *".to_owned(), RuleDecision::Allow),
            ("sudo *".to_owned(), RuleDecision::Deny)
        ]
    );
    home.store
        .call_blocking(|db| db.rules().remove(&first))
        .unwrap();
    assert_eq!(list(), [("sudo *".to_owned(), RuleDecision::Deny)]);
    let again = home.store.call_blocking(|db| db.rules().remove(&first));
    assert!(matches!(again, Err(Error::NotFound { .. })));
}

/// An instance is alive for as long as its value lives, as seen from the same and other handles.
#[test]
fn instances_live_as_long_as_their_lock() {
    let home = Home::new();
    let other = home.another();
    let first = home.instance();
    let second = home.instance();
    let alive = || {
        let rows = other.read_blocking(|db| db.instances().alive()).unwrap();
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(alive(), [first.id().clone(), second.id().clone()]);
    assert!(
        other
            .read_blocking(|db| db.instances().claimer_alive())
            .unwrap()
    );
    let windows = Windows {
        ids: vec![1 << 40],
        pids: vec![5],
    };
    second.set_windows(&windows).unwrap();
    let row = other
        .read_blocking(|db| db.instances().get(second.id()))
        .unwrap();
    assert_eq!(row.windows, windows);

    let gone = first.id().clone();
    drop(first);

    assert_eq!(alive(), [second.id().clone()]);
    let row = other.read_blocking(|db| db.instances().get(&gone)).unwrap();
    assert_eq!(row.gone_at, Some(1_000), "it said goodbye");
    drop(second);
    assert!(
        !other
            .read_blocking(|db| db.instances().claimer_alive())
            .unwrap()
    );
    let locks = std::fs::read_dir(home.folder().join("instances"))
        .unwrap()
        .count();
    assert_eq!(locks, 0, "no lock file is left");
}
