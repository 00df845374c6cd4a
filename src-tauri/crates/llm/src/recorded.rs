//! A plan that is played back in place of a model: no network, no key, no tokens.
//!
//! Positions in a plan are not pixels but descriptions: `{"$find": …}` anywhere in the input of a call
//! becomes the `[x, y]` that a [`Finder`] gives for the newest picture of the conversation.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    ChatModel, Content, Delta, Error, Image, Message, Profile, Reply, Request, Result, Role,
    StopReason, ToolCall, Usage, preflight,
};

/// Finds things in a picture.
pub trait Finder: Send + Sync {
    /// The point, in pixels of `image`, of what `what` describes (the value of `$find`); `None` if
    /// it is not there (yet).
    fn find(&self, what: &Value, image: &Image) -> Option<(u32, u32)>;
}

/// A plan with the eyes to play it.
#[derive(Clone)]
pub struct Recording {
    /// What is played.
    pub plan: Plan,
    /// Who looks.
    pub finder: Arc<dyn Finder>,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("Recording")
            .field(&self.plan)
            .finish()
    }
}

/// Turns of a model, written down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Played in order, one for each request.
    pub turns: Vec<Turn>,
    /// What to do while something is not there yet; by default the `computer` tool waits half a
    /// second and looks again.
    #[serde(default = "Plan::wait_and_look")]
    pub waiting: Vec<Call>,
    /// How often that is done for one turn before the plan has failed.
    #[serde(default = "Plan::default_tries")]
    pub tries: u32,
}

impl Plan {
    fn wait_and_look() -> Vec<Call> {
        let call = |input| Call {
            name: "computer".into(),
            input,
        };
        vec![
            call(json!({ "action": "wait", "duration": 0.5 })),
            call(json!({ "action": "screenshot" })),
        ]
    }

    fn default_tries() -> u32 {
        20
    }

    /// A plan of these turns that waits as usual.
    pub fn new(turns: Vec<Turn>) -> Self {
        Self {
            turns,
            waiting: Self::wait_and_look(),
            tries: Self::default_tries(),
        }
    }
}

/// One turn of a plan. Without calls it is the final answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// What is said.
    pub text: String,
    /// Which tools are called.
    pub calls: Vec<Call>,
    /// The turn waits until this is found, beyond what its calls need; a value as that of `$find`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_until: Option<Value>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Name of the tool.
    pub name: String,
    /// Its arguments, with `{"$find": …}` in place of positions; `"offset": [dx, dy]` beside it moves
    /// the point found by that many pixels.
    #[serde(default)]
    pub input: Value,
}

/// The model that plays a [`Plan`].
pub(crate) struct Recorded {
    recording: Recording,
    profile: Profile,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    turn: usize,
    tries: u32,
    /// Calls made, for their ids.
    calls: u64,
}

/// Something is not in the picture.
struct Missing(Value);

impl Recorded {
    pub(crate) fn new(recording: Recording, profile: Profile) -> Self {
        Self {
            recording,
            profile,
            progress: Mutex::default(),
        }
    }

    fn play(&self, request: &Request) -> Result<(String, Vec<Call>, u64)> {
        let Plan {
            turns,
            waiting,
            tries,
        } = &self.recording.plan;
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(turn) = turns.get(progress.turn) else {
            return Err(Error::InvalidReply {
                provider: "recorded".into(),
                message: format!("the plan has only {} turns", turns.len()),
            });
        };
        let newest = preflight::images(&request.messages).last();
        let (text, calls) = match self.resolve_turn(turn, newest) {
            Ok(calls) => {
                progress.turn += 1;
                progress.tries = 0;
                (turn.text.clone(), calls)
            }
            Err(Missing(what)) if progress.tries >= *tries => {
                return Err(Error::Refused {
                    message: format!(
                        "turn {} of the recorded plan did not find {what} on the screen in {} looks",
                        progress.turn + 1,
                        tries + 1
                    ),
                });
            }
            Err(Missing(_)) => {
                progress.tries += 1;
                (String::new(), waiting.clone())
            }
        };
        let first = progress.calls;
        progress.calls += calls.len() as u64;
        Ok((text, calls, first))
    }

    fn resolve_turn(&self, turn: &Turn, image: Option<&Image>) -> Result<Vec<Call>, Missing> {
        if let Some(what) = &turn.retry_until {
            self.find(what, image)?;
        }
        let calls = turn.calls.iter().map(|call| {
            Ok(Call {
                name: call.name.clone(),
                input: match &call.input {
                    Value::Null => json!({}),
                    input => self.resolve(input, image)?,
                },
            })
        });
        calls.collect()
    }

    fn resolve(&self, value: &Value, image: Option<&Image>) -> Result<Value, Missing> {
        match value {
            Value::Object(fields) => {
                if let Some(what) = fields.get("$find") {
                    let (x, y) = self.find(what, image)?;
                    let offset = |axis: usize| {
                        let offset = fields.get("offset").and_then(|offset| offset.get(axis));
                        offset.and_then(Value::as_i64).unwrap_or(0)
                    };
                    return Ok(json!([i64::from(x) + offset(0), i64::from(y) + offset(1)]));
                }
                let fields = fields.iter();
                let fields =
                    fields.map(|(key, value)| Ok((key.clone(), self.resolve(value, image)?)));
                Ok(Value::Object(fields.collect::<Result<Map<_, _>, _>>()?))
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.resolve(item, image));
                Ok(Value::Array(items.collect::<Result<_, _>>()?))
            }
            plain => Ok(plain.clone()),
        }
    }

    fn find(&self, what: &Value, image: Option<&Image>) -> Result<(u32, u32), Missing> {
        image
            .and_then(|image| self.recording.finder.find(what, image))
            .ok_or_else(|| Missing(what.clone()))
    }
}

#[async_trait]
impl ChatModel for Recorded {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn check(&self, _: &CancellationToken) -> Result<()> {
        Ok(())
    }

    async fn reply(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Reply> {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let (text, calls, first) = self.play(request)?;
        let mut content = Vec::new();
        if !text.is_empty() {
            on(Delta::Text(text.clone()));
            content.push(Content::Text(text));
        }
        let stop = if calls.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        };
        for (number, call) in (first..).zip(calls) {
            on(Delta::ToolCallStarted {
                name: call.name.clone(),
            });
            content.push(Content::ToolCall(ToolCall {
                id: format!("recorded_{number}"),
                name: call.name,
                input: call.input,
                malformed: None,
            }));
        }
        Ok(Reply {
            message: Message {
                role: Role::Assistant,
                content,
            },
            stop,
            usage: Usage::default(),
            model: self.profile.name.clone(),
        })
    }
}
