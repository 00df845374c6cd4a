//! Asking the model, and telling what it says while it says it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use openspace_llm::{ChatModel, Delta, Request};
use openspace_store::{Fence, NewModelCall, Store, Usage};
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::{Event, calls::tell, cost};

/// Streamed text is gathered this long before it is told: often enough to watch, seldom enough to store.
const GATHER: Duration = Duration::from_millis(200);

pub(crate) struct ModelCalls {
    pub(crate) store: Store,
    pub(crate) fence: Fence,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) cancel: CancellationToken,
    pub(crate) events: UnboundedSender<Event>,
}

#[derive(Default)]
struct Streamed {
    text: String,
    notices: Vec<(&'static str, serde_json::Value)>,
}

impl ModelCalls {
    /// Sends a request and reports how it went by one event.
    pub(crate) async fn call(&self, step: u32, request: Request) {
        let began = Instant::now();
        let streamed = Arc::new(Mutex::new(Streamed::default()));
        let hearing = Arc::clone(&streamed);
        let events = self.events.clone();
        let on = move |delta: Delta| {
            let mut streamed = hearing.lock().unwrap_or_else(PoisonError::into_inner);
            match delta {
                Delta::Text(text) => streamed.text.push_str(&text),
                Delta::Reasoning(_) | Delta::ToolCallStarted { .. } => {}
                Delta::Waiting {
                    reason,
                    attempt,
                    after_ms,
                } => {
                    let _gone = events.send(Event::ModelWaiting(true));
                    let notice = json!({ "step": step, "reason": reason, "attempt": attempt, "afterMs": after_ms });
                    streamed.notices.push(("model.waiting", notice));
                }
                Delta::Restarted => {
                    streamed.text.clear();
                    streamed
                        .notices
                        .push(("model.restarted", json!({ "step": step })));
                }
            }
        };
        let reply = self.model.reply(&request, &self.cancel, &on);
        tokio::pin!(reply);
        let mut ticks = tokio::time::interval(GATHER);
        let result = loop {
            tokio::select! {
                result = &mut reply => break result,
                _ = ticks.tick() => self.tell_streamed(step, &streamed).await,
            }
        };
        self.tell_streamed(step, &streamed).await;
        self.count(step, began.elapsed(), &result).await;
        let event = match result {
            Ok(reply) => Event::Replied(Box::new(reply)),
            // Whoever cancelled knows.
            Err(openspace_llm::Error::Cancelled) => return,
            Err(error) => Event::ModelFailed(error),
        };
        let _gone = self.events.send(event);
    }

    async fn tell_streamed(&self, step: u32, streamed: &Mutex<Streamed>) {
        let (text, notices) = {
            let mut streamed = streamed.lock().unwrap_or_else(PoisonError::into_inner);
            (
                std::mem::take(&mut streamed.text),
                std::mem::take(&mut streamed.notices),
            )
        };
        for (kind, payload) in notices {
            tell(&self.store, &self.fence, kind, payload).await;
        }
        if !text.is_empty() {
            tell(
                &self.store,
                &self.fence,
                "step.text",
                json!({ "step": step, "text": text }),
            )
            .await;
        }
    }

    async fn count(
        &self,
        step: u32,
        took: Duration,
        result: &openspace_llm::Result<openspace_llm::Reply>,
    ) {
        let usage = result.as_ref().map(|reply| reply.usage).unwrap_or_default();
        let price = self.model.profile().price;
        let call = NewModelCall {
            run: Some(self.fence.run().clone()),
            step,
            role: "plan".to_owned(),
            model: self.model.profile().name.clone(),
            usage: Usage {
                input: usage.input,
                output: usage.output,
                cache_read: usage.cache_read,
                cache_write: usage.cache_write,
                images: usage.images,
                microdollars: price.map_or(0, |price| {
                    (cost(&usage, &price) * 1_000_000.0).round() as u64
                }),
            },
            milliseconds: u32::try_from(took.as_millis()).unwrap_or(u32::MAX),
            error: result.as_ref().err().map(ToString::to_string),
        };
        if let Err(error) = self
            .store
            .call(move |db| db.model_calls().record(&call))
            .await
        {
            tracing::warn!(%error, "counting a call of the model");
        }
    }
}
