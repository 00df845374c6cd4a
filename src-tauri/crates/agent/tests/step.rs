//! The step function, event by event.

#![expect(
    clippy::expect_used,
    reason = "a test's helpers may fail the test as the test itself may"
)]

use openspace_agent::{
    CallResult, Effect, Event, Limit, Limits, Outcome, Pause, Reason, State, step,
};
use openspace_llm::{Content, Error, Message, Reply, Role, StopReason, ToolCall, Usage};
use openspace_store::RunStatus;
use serde_json::json;

/// A run in the middle of a test, with a clock the test turns.
struct Run {
    state: State,
    now: u64,
}

impl Run {
    fn with(limits: Limits) -> Self {
        Self {
            state: State::new(vec![Message::user("do it")], limits, None),
            now: 0,
        }
    }

    fn started() -> Self {
        let mut run = Self::with(Limits::default());
        assert!(run.on(Event::Started).contains(&Effect::CallModel));
        run
    }

    fn on(&mut self, event: Event) -> Vec<Effect> {
        self.now += 10;
        let (state, effects) = step(self.state.clone(), self.now, event);
        self.state = state;
        effects
    }

    fn says(&mut self, text: &str) -> Vec<Effect> {
        self.on(reply(vec![Content::Text(text.into())]))
    }

    fn calls(&mut self, name: &str) -> Vec<Effect> {
        self.on(reply(vec![call("c1", name)]))
    }

    fn finish(&mut self) -> Outcome {
        let effects = self.on(Event::Quiet);
        let [Effect::Finish(outcome)] = &effects[..] else {
            panic!("no outcome in {effects:?}")
        };
        assert!(self.state.is_over());
        (**outcome).clone()
    }

    fn last_message(&self) -> &Message {
        self.state.messages.last().expect("a message")
    }
}

fn call(id: &str, name: &str) -> Content {
    let input = json!({"question": "Which one?", "reason": "No such file."});
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        input,
        malformed: None,
    })
}

fn reply(content: Vec<Content>) -> Event {
    let calls = content
        .iter()
        .any(|content| matches!(content, Content::ToolCall(_)));
    Event::Replied(Box::new(Reply {
        message: Message {
            role: Role::Assistant,
            content,
        },
        stop: if calls {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        },
        usage: Usage {
            input: 100,
            output: 10,
            ..Usage::default()
        },
        model: "m".into(),
    }))
}

fn result(visible_change: Option<bool>) -> Event {
    Event::CallFinished(CallResult {
        call: "c1".into(),
        content: vec![Content::Text("ok".into())],
        is_error: false,
        evidence: vec![],
        visible_change,
    })
}

fn statuses(effects: &[Effect]) -> Vec<RunStatus> {
    let status = |effect: &Effect| match effect {
        Effect::Status(status, _) => Some(*status),
        _ => None,
    };
    effects.iter().filter_map(status).collect()
}

/// A final answer without tool calls ends the run as done, with what was used.
#[test]
fn an_answer_without_calls_is_the_end() {
    let mut run = Run::started();
    let effects = run.says("All done.");
    assert!(
        effects.contains(&Effect::CancelAll),
        "input is released before the outcome is told"
    );
    let outcome = run.finish();
    assert_eq!(
        (outcome.status, outcome.answer.as_str()),
        (RunStatus::Done, "All done.")
    );
    assert_eq!((outcome.used.steps, outcome.used.usage.total()), (1, 110));
}

/// Calls of one turn are answered together, in order, whatever order they end in.
#[test]
fn results_keep_the_order_of_the_calls() {
    let mut run = Run::started();
    let effects = run.on(reply(vec![call("c1", "a"), call("c2", "b")]));
    assert!(
        effects.iter().any(
            |effect| matches!(effect, Effect::RunCalls { step: 1, calls } if calls.len() == 2)
        )
    );
    let second = CallResult {
        call: "c2".into(),
        content: vec![],
        is_error: true,
        evidence: vec![],
        visible_change: None,
    };
    assert!(
        !run.on(Event::CallFinished(second))
            .contains(&Effect::CallModel),
        "one is still missing"
    );
    assert!(run.on(result(None)).contains(&Effect::CallModel));
    let ids = run
        .last_message()
        .content
        .iter()
        .map(|content| match content {
            Content::ToolResult(result) => (result.id.as_str(), result.is_error),
            other => panic!("{other:?}"),
        });
    assert_eq!(ids.collect::<Vec<_>>(), [("c1", false), ("c2", true)]);
}

/// A question ends the turn: nothing runs until the person answers.
#[test]
fn a_question_ends_the_run_and_is_answered_in_the_conversation() {
    let mut run = Run::started();
    let effects = run.on(reply(vec![call("c0", "shell"), call("c1", "ask_person")]));
    assert!(
        !effects
            .iter()
            .any(|effect| matches!(effect, Effect::RunCalls { .. }))
    );
    let outcome = run.finish();
    assert_eq!(outcome.status, RunStatus::NeedsYou);
    assert_eq!(
        outcome.reason,
        Some(Reason::Question {
            text: "Which one?".into()
        })
    );
    assert_eq!(
        run.last_message().content.len(),
        2,
        "each call has its result, so the run can go on"
    );
}

/// Giving up is a failure with its reason, not a success with an excuse.
#[test]
fn giving_up_fails_the_run() {
    let mut run = Run::started();
    run.calls("give_up");
    let outcome = run.finish();
    assert_eq!(outcome.status, RunStatus::Failed);
    assert_eq!(
        outcome.reason,
        Some(Reason::GaveUp {
            text: "No such file.".into()
        })
    );
}

/// d11: a reply that comes after a stop is ignored, and the status is `stopped`.
#[test]
fn d11_a_late_reply_is_ignored() {
    let mut run = Run::started();
    let effects = run.on(Event::Stop);
    assert_eq!(effects[..2], [Effect::HaltInput, Effect::CancelAll]);
    assert_eq!(statuses(&effects), [RunStatus::Stopping]);
    assert_eq!(run.calls("shell"), [], "too late");
    assert_eq!(run.finish().status, RunStatus::Stopped);
    assert_eq!(run.on(Event::Started), [], "what is over stays over");
}

/// A stop in the middle of a turn leaves every call answered, so the conversation can go on.
#[test]
fn a_stop_while_acting_answers_the_open_calls() {
    let mut run = Run::started();
    run.on(reply(vec![call("c1", "a"), call("c2", "b")]));
    run.on(result(None));
    run.on(Event::Stop);
    let answered: Vec<_> = run
        .last_message()
        .content
        .iter()
        .map(|content| match content {
            Content::ToolResult(result) => (result.id.clone(), result.is_error),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        answered,
        [("c1".to_owned(), false), ("c2".to_owned(), true)]
    );
}

/// d04: success is not believed while the last action changed nothing; repeated ones fail the run.
#[test]
fn d04_without_visible_effect_nothing_is_completed() {
    let mut run = Run::started();
    run.calls("computer");
    run.on(result(Some(false)));
    assert!(
        run.says("Clicked it, done!").contains(&Effect::CallModel),
        "asked to verify first"
    );
    for _ in 0..5 {
        run.calls("computer");
        run.on(result(Some(false)));
    }
    let outcome = run.finish();
    assert_eq!(outcome.status, RunStatus::Failed);
    assert_eq!(outcome.reason, Some(Reason::NoEffect { actions: 6 }));
}

/// d04: asked to check, a model that only repeats its claim is not believed; one that looked is.
#[test]
fn d04_a_claim_is_believed_after_a_look_only() {
    for looks in [false, true] {
        let mut run = Run::started();
        run.calls("computer");
        run.on(result(Some(false)));
        run.says("Clicked it, done!");
        if looks {
            run.calls("computer");
            run.on(result(None));
        }
        run.says("It is done, really.");
        let status = run.finish().status;
        let wanted = if looks {
            RunStatus::Done
        } else {
            RunStatus::Failed
        };
        assert_eq!(status, wanted, "looked: {looks}");
    }
}

/// Limits bind before the next turn, time also within one.
#[test]
fn limits_end_the_run_where_they_are_reached() {
    let mut run = Run::with(Limits {
        steps: Some(1),
        ..Limits::default()
    });
    run.on(Event::Started);
    run.calls("shell");
    assert!(!run.on(result(None)).contains(&Effect::CallModel));
    let outcome = run.finish();
    assert_eq!(
        outcome.reason,
        Some(Reason::Limit {
            limit: Limit::Steps
        })
    );
    assert_eq!(outcome.status, RunStatus::LimitReached);

    let mut run = Run::with(Limits {
        active_ms: Some(1_000),
        ..Limits::default()
    });
    run.on(Event::Started);
    run.now += 900;
    assert!(!run.on(Event::Tick).contains(&Effect::CancelAll));
    run.now += 100;
    assert!(run.on(Event::Tick).contains(&Effect::CancelAll));
    assert_eq!(
        run.finish().reason,
        Some(Reason::Limit { limit: Limit::Time })
    );
}

/// Time spent waiting for a person is not run time.
#[test]
fn waiting_for_an_approval_costs_no_time() {
    let mut run = Run::started();
    run.calls("shell");
    assert_eq!(
        statuses(&run.on(Event::ApprovalAsked("a".into()))),
        [RunStatus::NeedsApproval]
    );
    run.now += 3_600_000;
    assert_eq!(
        statuses(&run.on(Event::ApprovalClosed("a".into()))),
        [RunStatus::Running]
    );
    assert!(run.state.used().active_ms < 100);
}

/// A person's hand on the mouse pauses or stops a run, but not while they answer a question or a moment
/// after: the hand is there because of the question.
#[test]
fn a_hand_that_answers_is_no_objection() {
    for stops in [false, true] {
        let mut run = Run::started();
        run.calls("shell");
        run.on(Event::ApprovalAsked("a".into()));
        assert_eq!(run.on(Event::Hand { stops }), []);
        run.on(Event::ApprovalClosed("a".into()));
        run.now += 1_000;
        assert_eq!(run.on(Event::Hand { stops }), []);
        run.now += 1_000;
        let wanted = if stops {
            RunStatus::Stopping
        } else {
            RunStatus::Paused
        };
        assert_eq!(statuses(&run.on(Event::Hand { stops })), [wanted]);
    }
}

/// What the person says meanwhile reaches the model with the next turn, even if it wanted to end.
#[test]
fn a_message_while_running_is_heard() {
    let mut run = Run::started();
    run.on(Event::Message("Also bold.".into()));
    assert!(run.says("Done.").contains(&Effect::CallModel));
    assert_eq!(*run.last_message(), Message::user("Also bold."));
    run.says("Done, bold too.");
    assert_eq!(run.finish().status, RunStatus::Done);
}

/// Words that are on their way when the run would end are waited for, and it may act on them; taken
/// back, they keep nobody.
#[test]
fn words_on_their_way_are_waited_for() {
    let mut run = Run::started();
    run.says("Done.");
    assert_eq!(run.on(Event::Unheard), [Effect::AllowInput]);
    assert!(
        run.on(Event::Message("Also bold.".into()))
            .contains(&Effect::CallModel)
    );
    assert_eq!(*run.last_message(), Message::user("Also bold."));
    run.says("Done, bold too.");
    // This one came before the run was told of it.
    assert_eq!(run.on(Event::Message("And red.".into())), []);
    assert!(run.on(Event::Unheard).contains(&Effect::CallModel));
    assert_eq!(*run.last_message(), Message::user("And red."));
    run.says("Done, bold and red.");
    run.on(Event::Unheard);
    assert!(run.on(Event::Tick).contains(&Effect::CancelAll));
    let outcome = run.finish();
    assert_eq!(
        (outcome.status, outcome.answer.as_str()),
        (RunStatus::Done, "Done, bold and red.")
    );
}

/// A screen that is back ends the pause it began, and none of the person's own.
#[test]
fn the_screen_ends_its_own_pause_only() {
    for machine in [Pause::ScreenLocked, Pause::ScreenOff] {
        let mut run = Run::started();
        run.on(Event::Pause(machine.clone()));
        assert!(run.on(Event::ScreenBack).contains(&Effect::AllowInput));
        assert!(!run.state.is_paused());
        for own in [Pause::Asked, Pause::HumanInput, Pause::TakeOver] {
            let mut run = Run::started();
            run.on(Event::Pause(machine.clone()));
            run.on(Event::Pause(own));
            assert_eq!(run.on(Event::ScreenBack), []);
            assert!(run.state.is_paused());
        }
    }
}

/// Calls decided before a take-over are not run after it: the world has changed.
#[test]
fn a_reply_from_before_a_pause_is_not_carried_out() {
    let mut run = Run::started();
    assert!(
        run.on(Event::Pause(Pause::TakeOver))
            .contains(&Effect::HaltInput)
    );
    let effects = run.calls("computer");
    assert!(
        !effects
            .iter()
            .any(|effect| matches!(effect, Effect::RunCalls { .. } | Effect::CallModel))
    );
    let effects = run.on(Event::Resume {
        note: Some("I logged in.".into()),
    });
    assert!(effects.contains(&Effect::AllowInput) && effects.contains(&Effect::CallModel));
    let Content::Text(text) = &run.last_message().content[0] else {
        panic!()
    };
    assert!(text.contains("I logged in."), "{text}");
}

/// Empty replies are answered with a nudge three times, then the run fails instead of looping.
#[test]
fn empty_replies_do_not_loop() {
    let mut run = Run::started();
    for _ in 0..3 {
        assert!(run.on(reply(vec![])).contains(&Effect::CallModel));
    }
    run.on(reply(vec![]));
    assert_eq!(run.finish().reason, Some(Reason::EmptyReplies));
}

/// d10: when the retries are used up the run fails in a way that says whether later may be better.
#[test]
fn d10_a_model_failure_is_told_apart() {
    let cases = [
        (
            Error::Overloaded {
                provider: "p".into(),
                message: "m".into(),
            },
            true,
        ),
        (
            Error::Authentication {
                provider: "p".into(),
                message: "m".into(),
            },
            false,
        ),
    ];
    for (error, expected) in cases {
        let mut run = Run::started();
        run.on(Event::ModelFailed(error));
        let Some(Reason::Model { retryable, .. }) = run.finish().reason else {
            panic!()
        };
        assert_eq!(retryable, expected);
    }
}
