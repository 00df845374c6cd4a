//! The loop as a pure function: no IO, no clock, no randomness.

use std::collections::BTreeMap;

use openspace_grounding::Evidence;
use openspace_llm::{Content, Message, Reply, Role, StopReason, ToolCall, ToolResult};
use openspace_store::RunStatus;

use crate::{
    CallResult, Effect, Event, Pause, Reason, State,
    prompts::{
        BATCH_HINT, CUT_REPLY, EMPTY_REPLY, INTERRUPTED_CALL, NOT_RUN_AFTER_PAUSE, UNVERIFIED,
        resumed,
    },
    state::Phase,
    turn_end::{ASK_PERSON, GIVE_UP, TurnEnd},
};

/// Empty or cut-off replies in a row that are answered with a nudge before the run fails.
const MOST_NUDGES: u32 = 3;
/// Actions on the screen in a row without any visible effect after which the run fails.
const MOST_WITHOUT_EFFECT: u32 = 6;
/// Attempts to shorten a conversation that a provider refused as too large.
const MOST_RECOVERIES: u32 = 3;
/// Lone screen actions in a row after which the model is reminded of batches, once.
const LONE_ACTIONS_BEFORE_HINT: u32 = 3;

/// Advances a run by one event at `now` (milliseconds of any steady clock).
pub fn step(mut state: State, now: u64, event: Event) -> (State, Vec<Effect>) {
    let mut effects = Vec::new();
    if state.phase == Phase::Ended {
        return (state, effects);
    }
    state.turn_clock(now);
    on(&mut state, now, event, &mut effects);
    state.turn_clock(now);
    if state.phase != Phase::Ended {
        let status = state.derive_status();
        if state.status.as_ref() != Some(&status) {
            state.status = Some(status.clone());
            effects.push(Effect::Status(status.0, status.1));
        }
    }
    (state, effects)
}

fn on(state: &mut State, now: u64, event: Event, effects: &mut Vec<Effect>) {
    match event {
        Event::Started => go_on(state, effects),
        Event::Replied(reply) => on_reply(state, *reply, effects),
        Event::ModelFailed(error) => on_model_failure(state, &error, effects),
        Event::ModelWaiting(waiting) => state.waiting_for_model = waiting,
        Event::CallFinished(result) => on_result(state, result, effects),
        Event::ApprovalAsked(id) => {
            state.approvals.insert(id);
        }
        Event::ApprovalClosed(id) => {
            if state.approvals.remove(&id) && state.approvals.is_empty() {
                state.answered_at = Some(now);
            }
        }
        Event::ScreenBusy => state.waiting_for_screen = true,
        Event::ScreenAcquired => state.waiting_for_screen = false,
        Event::Message(text) => {
            state.said.push(text);
            if matches!(state.phase, Phase::Listening(_)) {
                tell(state, "", effects);
            }
        }
        Event::Hand { .. } if state.expects_a_hand(now) => {}
        Event::Stop | Event::Hand { stops: true } => {
            end(state, RunStatus::Stopped, None, String::new(), effects);
        }
        Event::Hand { stops: false } => pause(state, Pause::HumanInput, effects),
        Event::Pause(why) => pause(state, why, effects),
        Event::Resume { note } => on_resume(state, note.as_deref(), effects),
        // The machine ends only what the machine began.
        Event::ScreenBack if state.is_paused_by_screen() => on_resume(state, None, effects),
        Event::ScreenBack => {}
        Event::Tick => on_tick(state, effects),
        Event::Unheard => on_unheard(state, effects),
        Event::Quiet => {
            if let Phase::Ending(outcome) = std::mem::replace(&mut state.phase, Phase::Ended) {
                let outcome = crate::Outcome {
                    used: state.used,
                    evidence: state.evidence.clone(),
                    ..*outcome
                };
                effects.push(Effect::Finish(Box::new(outcome)));
            }
        }
    }
}

fn pause(state: &mut State, why: Pause, effects: &mut Vec<Effect>) {
    // A person's own pause outranks one that the machine ends by itself.
    if state.pause.is_none() || state.is_paused_by_screen() || why == Pause::TakeOver {
        state.pause = Some(why);
        effects.push(Effect::HaltInput);
    }
}

/// Asks the model for the next turn, unless something forbids it.
fn go_on(state: &mut State, effects: &mut Vec<Effect>) {
    if state.pause.is_some() {
        state.phase = Phase::Idle;
    } else if let Some(limit) = state.limits.reached(&state.used) {
        end(
            state,
            RunStatus::LimitReached,
            Some(Reason::Limit { limit }),
            String::new(),
            effects,
        );
    } else {
        state.phase = Phase::Thinking;
        effects.push(Effect::CallModel);
    }
}

fn remember(state: &mut State, message: Message, effects: &mut Vec<Effect>) {
    effects.push(Effect::Remember(message.clone()));
    state.messages.push(message);
}

fn on_reply(state: &mut State, reply: Reply, effects: &mut Vec<Effect>) {
    state.waiting_for_model = false;
    if state.phase != Phase::Thinking {
        // It comes after a stop: too late to matter.
        return;
    }
    state.used.steps += 1;
    state.recoveries = 0;
    state.count(reply.usage);
    let calls: Vec<ToolCall> = reply.tool_calls().cloned().collect();
    let text = reply.text();
    let is_empty = calls.is_empty() && text.trim().is_empty();
    if !is_empty {
        remember(state, reply.message, effects);
    }
    if reply.stop == StopReason::Refused {
        return end(
            state,
            RunStatus::Failed,
            Some(Reason::Refused),
            text,
            effects,
        );
    }
    if !calls.is_empty() {
        state.empty_replies = 0;
        return act(state, calls, effects);
    }
    let cut = reply.stop == StopReason::MaxTokens;
    if is_empty || cut {
        state.empty_replies += 1;
        if state.empty_replies > MOST_NUDGES {
            return end(
                state,
                RunStatus::Failed,
                Some(Reason::EmptyReplies),
                text,
                effects,
            );
        }
        return tell(state, if cut { CUT_REPLY } else { EMPTY_REPLY }, effects);
    }
    if !state.said.is_empty() {
        return tell(state, "", effects);
    }
    // The last thing done on the screen changed nothing: that is no proof of success.
    if state.without_effect > 0 && !state.asked_to_verify {
        state.asked_to_verify = true;
        state.looked_since = false;
        return tell(state, UNVERIFIED, effects);
    }
    if state.without_effect > 0 && !state.looked_since {
        // Asked to check, it claims the same again without having looked at anything.
        let reason = Reason::NoEffect {
            actions: state.without_effect,
        };
        return end(state, RunStatus::Failed, Some(reason), text, effects);
    }
    end(state, RunStatus::Done, None, text, effects);
}

/// Gives the model a text of ours with whatever the person has said meanwhile, and asks again.
fn tell(state: &mut State, text: &str, effects: &mut Vec<Effect>) {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(Content::Text(text.to_owned()));
    }
    content.extend(state.said.drain(..).map(Content::Text));
    if !content.is_empty() {
        remember(
            state,
            Message {
                role: Role::User,
                content,
            },
            effects,
        );
    }
    go_on(state, effects);
}

fn act(state: &mut State, calls: Vec<ToolCall>, effects: &mut Vec<Effect>) {
    if let Some(turn_end) = TurnEnd::find(&calls) {
        let results = calls.iter().map(|call| turn_end.result(call)).collect();
        remember(
            state,
            Message {
                role: Role::User,
                content: results,
            },
            effects,
        );
        let (status, reason, text) = turn_end.into_parts();
        return end(state, status, Some(reason), text, effects);
    }
    let lone = calls.len() == 1 && calls[0].name == "computer";
    state.lone_actions = if lone { state.lone_actions + 1 } else { 0 };
    if state.lone_actions == LONE_ACTIONS_BEFORE_HINT {
        state.hints.push(BATCH_HINT);
    }
    let paused = state.pause.is_some();
    let mut results = BTreeMap::new();
    if paused {
        for call in &calls {
            results.insert(call.id.clone(), refusal(call, NOT_RUN_AFTER_PAUSE));
        }
    }
    let run = Effect::RunCalls {
        step: state.used.steps,
        calls: calls.clone(),
    };
    state.phase = Phase::Acting { calls, results };
    if paused {
        finish_turn(state, effects);
    } else {
        effects.push(run);
    }
}

fn refusal(call: &ToolCall, text: &str) -> CallResult {
    CallResult {
        call: call.id.clone(),
        content: vec![Content::Text(text.to_owned())],
        is_error: true,
        evidence: Vec::new(),
        visible_change: None,
    }
}

fn on_result(state: &mut State, result: CallResult, effects: &mut Vec<Effect>) {
    state.evidence.extend(result.evidence.iter().cloned());
    state.looked_since |= !result.is_error;
    match result.visible_change {
        Some(true) => {
            state.without_effect = 0;
            state.asked_to_verify = false;
        }
        Some(false) => state.without_effect += 1,
        None => {}
    }
    let Phase::Acting { calls, results } = &mut state.phase else {
        return;
    };
    if calls.iter().any(|call| call.id == result.call) {
        results.insert(result.call.clone(), result);
    }
    if results.len() == calls.len() {
        finish_turn(state, effects);
    }
}

/// One result for each call, in the calls' order.
fn answers(calls: &[ToolCall], mut results: BTreeMap<String, CallResult>) -> Vec<Content> {
    let answer = |call: &ToolCall| {
        let result = results
            .remove(&call.id)
            .unwrap_or_else(|| refusal(call, INTERRUPTED_CALL));
        Content::ToolResult(ToolResult {
            id: result.call,
            content: result.content,
            is_error: result.is_error,
        })
    };
    calls.iter().map(answer).collect()
}

/// All calls of the turn are answered: hand the results to the model.
fn finish_turn(state: &mut State, effects: &mut Vec<Effect>) {
    let Phase::Acting { calls, results } = std::mem::replace(&mut state.phase, Phase::Idle) else {
        return;
    };
    let mut content = answers(&calls, results);
    content.extend(
        state
            .hints
            .drain(..)
            .map(|hint| Content::Text(hint.to_owned())),
    );
    content.extend(state.said.drain(..).map(Content::Text));
    remember(
        state,
        Message {
            role: Role::User,
            content,
        },
        effects,
    );
    if state.without_effect >= MOST_WITHOUT_EFFECT {
        let reason = Reason::NoEffect {
            actions: state.without_effect,
        };
        return end(
            state,
            RunStatus::Failed,
            Some(reason),
            String::new(),
            effects,
        );
    }
    go_on(state, effects);
}

fn on_model_failure(state: &mut State, error: &openspace_llm::Error, effects: &mut Vec<Effect>) {
    use openspace_llm::Error as Model;
    state.waiting_for_model = false;
    if state.phase != Phase::Thinking {
        return;
    }
    let recoverable = matches!(
        error,
        Model::ContextTooLong { .. } | Model::ImageRejected { .. }
    );
    if recoverable && state.recoveries < MOST_RECOVERIES {
        state.recoveries += 1;
        let shortened = match error {
            Model::ContextTooLong { .. } => crate::compact::drop_oldest_half(&mut state.messages),
            _ => crate::compact::drop_all_but_newest_image(&mut state.messages),
        };
        if shortened {
            return go_on(state, effects);
        }
    }
    let retryable = matches!(
        error,
        Model::RateLimited { .. }
            | Model::Overloaded { .. }
            | Model::Network { .. }
            | Model::Timeout { .. }
            | Model::InvalidReply { .. }
    );
    let reason = Reason::Model {
        message: error.to_string(),
        retryable,
    };
    end(
        state,
        RunStatus::Failed,
        Some(reason),
        String::new(),
        effects,
    );
}

fn on_resume(state: &mut State, note: Option<&str>, effects: &mut Vec<Effect>) {
    if state.pause.take().is_none() {
        return;
    }
    effects.push(Effect::AllowInput);
    state.said.insert(0, resumed(note));
    if state.phase == Phase::Idle {
        tell(state, "", effects);
    }
}

/// It does not end with its answer yet, and may act on what it hears.
fn on_unheard(state: &mut State, effects: &mut Vec<Effect>) {
    match std::mem::replace(&mut state.phase, Phase::Ended) {
        Phase::Ending(outcome) if outcome.status == RunStatus::Done => {
            state.phase = Phase::Listening(outcome);
            if state.pause.is_none() {
                effects.push(Effect::AllowInput);
            }
            // They may have come in this very moment.
            if !state.said.is_empty() {
                tell(state, "", effects);
            }
        }
        other => state.phase = other,
    }
}

fn on_tick(state: &mut State, effects: &mut Vec<Effect>) {
    if let Phase::Listening(outcome) = &state.phase {
        // Nothing came: the words were taken back.
        let answer = outcome.answer.clone();
        return if state.said.is_empty() {
            end(state, RunStatus::Done, None, answer, effects);
        } else {
            tell(state, "", effects);
        };
    }
    let working = matches!(state.phase, Phase::Thinking | Phase::Acting { .. });
    // The number of steps binds between turns; time binds in the middle of one.
    let time = state
        .limits
        .active_ms
        .is_some_and(|limit| state.used.active_ms >= limit);
    if working && time {
        let reason = Reason::Limit {
            limit: crate::Limit::Time,
        };
        end(
            state,
            RunStatus::LimitReached,
            Some(reason),
            String::new(),
            effects,
        );
    }
}

/// Ends the run: at once when nothing is under way, otherwise after it has been cancelled.
fn end(
    state: &mut State,
    status: RunStatus,
    reason: Option<Reason>,
    answer: String,
    effects: &mut Vec<Effect>,
) {
    if matches!(state.phase, Phase::Ending(_)) {
        return;
    }
    let answer = if answer.is_empty() {
        state.last_words()
    } else {
        answer
    };
    // What the turn has answered so far stays in the conversation, so that it can be continued.
    if let Phase::Acting { calls, results } = &mut state.phase {
        let (calls, results) = (std::mem::take(calls), std::mem::take(results));
        let content = answers(&calls, results);
        remember(
            state,
            Message {
                role: Role::User,
                content,
            },
            effects,
        );
    }
    let outcome = Box::new(state.outcome(status, reason, answer));
    // Even with nothing under way, input is released and quiet confirmed before the outcome is told.
    state.phase = Phase::Ending(outcome);
    effects.push(Effect::HaltInput);
    effects.push(Effect::CancelAll);
}

/// Names of the tools that end a turn by themselves; offered beside the back ends' tools.
pub const TURN_ENDING_TOOLS: [&str; 2] = [ASK_PERSON, GIVE_UP];

/// Whether `evidence` shows a file that was created or changed.
pub fn changed_files(evidence: &[Evidence]) -> impl Iterator<Item = &std::path::Path> {
    evidence.iter().filter_map(|evidence| match evidence {
        Evidence::File { path, .. } => Some(path.as_path()),
        Evidence::Command { .. } | Evidence::Frame { .. } => None,
    })
}
