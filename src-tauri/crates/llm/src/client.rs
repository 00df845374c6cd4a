//! One model behind one address: sends, reads, retries, and can be dropped at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, Peer, Reported, Retry};
use crate::provider::{Endpoints, ListProves};
use crate::retry::{RetryPolicy, asked_to_wait};
use crate::sse::{Decoder, Malformed};
use crate::timing::Timing;
use crate::wire::{Fault, Reader, Sink, WireFormat};
use crate::{
    ChatModel, Content, Delta, Error, Message, Profile, Reply, Request, Result, preflight,
};

/// Most bytes of an answer; far above any reply, far below the machine's memory.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;
/// Most bytes of an error that are read.
const LONGEST_ERROR: usize = 64 * 1024;

/// How long to wait for a server before giving up on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// Until the first byte of the reply: covers reading the whole prompt, which takes a machine
    /// at home minutes.
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    pub idle: Duration,
}

impl Timeouts {
    /// For services on the internet.
    pub const REMOTE: Self = Self {
        connect: Duration::from_secs(15),
        first_byte: Duration::from_secs(300),
        idle: Duration::from_secs(120),
    };
    /// For servers on this machine.
    pub const LOCAL: Self = Self {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(900),
        idle: Duration::from_secs(300),
    };
}

/// A model reached over HTTP.
pub(crate) struct HttpModel {
    pub(crate) http: reqwest::Client,
    pub(crate) endpoints: Endpoints,
    pub(crate) headers: HeaderMap,
    pub(crate) wire: Box<dyn WireFormat>,
    pub(crate) peer: Peer,
    pub(crate) profile: Profile,
    pub(crate) timeouts: Timeouts,
    pub(crate) retry: RetryPolicy,
    pub(crate) timing: Arc<dyn Timing>,
    pub(crate) list: ListProves,
    pub(crate) has_key: bool,
    /// The address has answered before, so it is the right one.
    pub(crate) answered: AtomicBool,
}

#[async_trait]
impl ChatModel for HttpModel {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn check(&self, cancel: &CancellationToken) -> Result<()> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Error::Cancelled),
            result = self.prove() => {
                if result.is_ok() {
                    self.answered.store(true, Ordering::Relaxed);
                }
                result
            }
        }
    }

    async fn reply(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Reply> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Error::Cancelled),
            result = self.persist(request, on) => result,
        }
    }
}

impl HttpModel {
    /// Sends until there is a reply or trying again is pointless.
    async fn persist(&self, request: &Request, on: Sink<'_>) -> Result<Reply> {
        let hosted = self.wire.offers_hosted(request);
        let messages = preflight::prepare(request, &self.profile, hosted)?;
        let mut body = self.body(request, &messages)?;
        let mut attempt = 1;
        let mut learned = 0;
        loop {
            let streamed = AtomicBool::new(false);
            let watch = |delta: Delta| {
                streamed.store(true, Ordering::Relaxed);
                on(delta);
            };
            let failure = match self.attempt(request, &messages, body.clone(), &watch).await {
                Ok(reply) => {
                    self.answered.store(true, Ordering::Relaxed);
                    return Ok(self.finish(reply, request, &messages));
                }
                Err(failure) => failure,
            };
            // Each lesson is about one parameter; there are not more than these.
            if learned < 3
                && let Error::InvalidRequest { message } = &failure.error
                && self.wire.learns_from(message)
            {
                learned += 1;
                body = self.body(request, &messages)?;
                continue;
            }
            let Some(retry) = failure.retry else {
                return Err(failure.error);
            };
            if attempt >= self.retry.attempts.min(retry.attempts) {
                return Err(failure.error);
            }
            let random = self.timing.random();
            let Some(wait) = self.retry.delay(attempt, retry.after, random) else {
                return Err(Error::RateLimited {
                    provider: self.peer.provider.clone(),
                    retry_after: retry.after,
                    message: failure.error.to_string(),
                });
            };
            attempt += 1;
            tracing::debug!(provider = %self.peer.provider, attempt, ?wait, error = %failure.error, "asking again");
            if streamed.into_inner() {
                on(Delta::Restarted);
            }
            on(Delta::Waiting {
                reason: retry.reason,
                attempt,
                after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            });
            self.timing.sleep(wait).await;
        }
    }

    fn body(&self, request: &Request, messages: &[Message]) -> Result<Bytes> {
        let body = serde_json::to_vec(&self.wire.body(request, messages));
        let body = body.map_err(|error| Error::InvalidRequest {
            message: error.to_string(),
        })?;
        preflight::check_size(body.len() as u64, messages, &self.profile)?;
        Ok(body.into())
    }

    /// Sends once.
    pub(crate) async fn attempt(
        &self,
        request: &Request,
        messages: &[Message],
        body: Bytes,
        on: Sink<'_>,
    ) -> Result<Reply, Failure> {
        let with_images = self.profile.vision && preflight::images(messages).next().is_some();
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in self.wire.headers(request) {
            merge(&mut headers, &name, value);
        }
        let post = self.http.post(self.endpoints.chat.clone());
        let mut response = self
            .send(post.headers(headers).body(body), with_images)
            .await?;
        self.read(&mut response, self.wire.reader(), with_images, on)
            .await
    }

    /// Sends a request and returns the response if its status is good.
    pub(crate) async fn send(
        &self,
        request: reqwest::RequestBuilder,
        with_images: bool,
    ) -> Result<reqwest::Response, Failure> {
        let limit = self.timeouts.first_byte;
        let response = tokio::time::timeout(limit, request.send())
            .await
            .map_err(|_| self.peer.silent(limit))?
            .map_err(|error| self.transport(error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refusal(response, with_images).await)
    }

    async fn refusal(&self, mut response: reqwest::Response, with_images: bool) -> Failure {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        if let Some(target) = headers
            .get("location")
            .filter(|_| response.status().is_redirection())
        {
            let target = target.to_str().unwrap_or("another address");
            let target = target.split(['?', '#']).next().unwrap_or_default();
            let what = format!("a redirect to {target}, which is not followed");
            return self.stranger(&what);
        }
        let mut body = Vec::new();
        // Whatever can be had of the reason; its absence is no reason to fail differently.
        while body.len() < LONGEST_ERROR
            && let Ok(Some(piece)) = self.piece(&mut response, self.timeouts.idle).await
        {
            body.extend_from_slice(&piece);
        }
        let text = String::from_utf8_lossy(&body);
        let json: Option<Value> = serde_json::from_str(&text).ok();
        let reported = json.as_ref().and_then(Reported::read);
        let html = is_html(&text);
        let mut failure = match &reported {
            Some(reported) => self.peer.reported(Some(status), reported, with_images),
            None if html || status != 413 => self.peer.unreadable(status, &text, html),
            None => self
                .peer
                .reported(Some(status), &Reported::default(), with_images),
        };
        if html && failure.retry.is_none() && matches!(failure.error, Error::InvalidReply { .. }) {
            failure.retry = self.if_answered();
        }
        let after = asked_to_wait(&headers, self.timing.now());
        if let Error::RateLimited { retry_after, .. } = &mut failure.error {
            *retry_after = after;
        }
        if let Some(retry) = &mut failure.retry {
            retry.after = after;
        }
        // Anthropic and OpenAI say outright when it is pointless.
        if headers
            .get("x-should-retry")
            .is_some_and(|value| value == "false")
        {
            failure.retry = None;
        }
        failure
    }

    async fn read(
        &self,
        response: &mut reqwest::Response,
        mut reader: Box<dyn Reader>,
        with_images: bool,
        on: Sink<'_>,
    ) -> Result<Reply, Failure> {
        let fault = |fault| self.fault(fault, with_images);
        let malformed = |error: Malformed| self.peer.broken_reply(&error.to_string());

        // What comes is told by its first byte; not every server names the type of what it sends.
        let mut start = Vec::new();
        let first = loop {
            let Some(piece) = self.piece(response, self.timeouts.first_byte).await? else {
                return Err(self.peer.broken_reply("an empty answer"));
            };
            start.extend_from_slice(&piece);
            if let Some(first) = start.iter().find(|byte| !byte.is_ascii_whitespace()) {
                break *first;
            }
        };
        if matches!(first, b'{' | b'[' | b'<') {
            return self
                .read_whole(response, start, reader, with_images, on)
                .await;
        }

        let mut decoder = Decoder::new();
        let mut total = start.len();
        let mut piece = Bytes::from(start);
        loop {
            for event in decoder.push(&piece).map_err(malformed)? {
                if reader.event(&event, on).map_err(fault)? {
                    return reader.finish().map_err(fault);
                }
            }
            match self.piece(response, self.timeouts.idle).await? {
                Some(next) => piece = next,
                None => break,
            }
            total += piece.len();
            if total > LONGEST_ANSWER {
                return Err(self.peer.invalid_reply("an endless answer").into());
            }
        }
        if let Some(event) = decoder.finish().map_err(malformed)? {
            reader.event(&event, on).map_err(fault)?;
        }
        reader.finish().map_err(fault)
    }

    /// The answer is no stream: a reply in one piece, an error, or a web page.
    async fn read_whole(
        &self,
        response: &mut reqwest::Response,
        mut body: Vec<u8>,
        mut reader: Box<dyn Reader>,
        with_images: bool,
        on: Sink<'_>,
    ) -> Result<Reply, Failure> {
        while let Some(piece) = self.piece(response, self.timeouts.idle).await? {
            body.extend_from_slice(&piece);
            if body.len() > LONGEST_ANSWER {
                return Err(self.peer.invalid_reply("an endless answer").into());
            }
        }
        let text = std::str::from_utf8(&body).map_err(|_| self.peer.broken_reply("no text"))?;
        if is_html(text) {
            return Err(self.stranger("a web page"));
        }
        let body: Value = serde_json::from_str(text)
            .map_err(|error| self.peer.broken_reply(&format!("broken JSON ({error})")))?;
        if body.get("error").is_some_and(|error| !error.is_null())
            && let Some(reported) = Reported::read(&body)
        {
            // LM Studio answers so to a path it does not know.
            if reported
                .message
                .to_lowercase()
                .starts_with("unexpected endpoint")
            {
                return Err(self.peer.invalid_reply(&reported.message).into());
            }
            return Err(self.peer.reported(None, &reported, with_images));
        }
        reader
            .whole(&body, on)
            .map_err(|fault| self.fault(fault, with_images))?;
        reader
            .finish()
            .map_err(|fault| self.fault(fault, with_images))
    }

    /// Somebody else answered. At an address that has never been right that is a mistake to be told
    /// at once; in the middle of a conversation it is the network: a proxy, or a hotel's login page.
    fn stranger(&self, what: &str) -> Failure {
        Failure {
            error: self.peer.invalid_reply(what),
            retry: self.if_answered(),
        }
    }

    fn if_answered(&self) -> Option<Retry> {
        let answered = self.answered.load(Ordering::Relaxed);
        answered.then(|| Retry::because("network"))
    }

    fn fault(&self, fault: Fault, with_images: bool) -> Failure {
        match fault {
            Fault::Reported(reported) => self.peer.reported(None, &reported, with_images),
            Fault::NotAReply(what) => self.peer.broken_reply(&what),
            Fault::Cut => Failure {
                error: self.peer.invalid_reply("a reply that was cut off"),
                retry: Some(Retry::because("network")),
            },
        }
    }

    async fn piece(
        &self,
        response: &mut reqwest::Response,
        limit: Duration,
    ) -> Result<Option<Bytes>, Failure> {
        let piece = tokio::time::timeout(limit, response.chunk()).await;
        piece
            .map_err(|_| self.peer.silent(limit))?
            .map_err(|error| self.transport(error))
    }

    fn transport(&self, error: reqwest::Error) -> Failure {
        if error.is_timeout() {
            return self.peer.silent(self.timeouts.connect);
        }
        // The address is named already, without the query that this would show.
        let error = error.without_url();
        let mut deepest: &dyn std::error::Error = &error;
        while let Some(source) = deepest.source() {
            deepest = source;
        }
        self.peer.unreachable(&deepest.to_string())
    }

    fn finish(&self, mut reply: Reply, request: &Request, messages: &[Message]) -> Reply {
        if reply.model.is_empty() {
            reply.model.clone_from(&self.peer.model);
        }
        if self.profile.vision {
            reply.usage.images = preflight::images(messages).count() as u64;
        }
        self.distinguish(&mut reply, request);
        reply
    }

    /// Some servers number their calls anew in every turn; in a conversation an id must be unique.
    fn distinguish(&self, reply: &mut Reply, request: &Request) {
        let contents = request.messages.iter().flat_map(|message| &message.content);
        let mut used: std::collections::HashSet<String> = contents
            .filter_map(|content| match content {
                Content::ToolCall(call) => Some(call.id.clone()),
                _ => None,
            })
            .collect();
        for content in &mut reply.message.content {
            if let Content::ToolCall(call) = content {
                let mut taken = call.id.is_empty() || used.contains(&call.id);
                let mut number = used.len();
                while taken {
                    call.id = format!(
                        "call_{number}_{:08x}",
                        (self.timing.random() * 4_294_967_296.0) as u32
                    );
                    number += 1;
                    taken = used.contains(&call.id);
                }
                used.insert(call.id.clone());
            }
        }
    }
}

/// Adds a header; where it is a list that is there already, to that list.
fn merge(headers: &mut HeaderMap, name: &reqwest::header::HeaderName, value: HeaderValue) {
    let value = match headers.get(name).and_then(|before| before.to_str().ok()) {
        Some(before) if before.split(',').any(|one| one.trim() == value) => return,
        Some(before) => {
            let both = format!("{before},{}", value.to_str().unwrap_or_default());
            HeaderValue::from_str(&both).unwrap_or(value)
        }
        None => value,
    };
    headers.insert(name, value);
}

pub(crate) fn is_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<head")
}
