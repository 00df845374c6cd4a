//! When a request is sent again, after how long, and how it shows.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use openspace_llm::{Delta, Error, Options, RetryPolicy, Timeouts, connect};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::server::{
    Answer, CLAUDE, FakeTiming, GPT, Server, anthropic, ask, both, chunks, options, reply,
};

fn overloaded(name: &str) -> Answer {
    if name == CLAUDE {
        let error =
            json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}});
        let start = json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"He"}});
        Answer::stream(anthropic(&[start, error]))
    } else {
        Answer::stream(chunks(&[
            json!({"choices":[{"delta":{"content":"He"}}]}),
            json!({"error":{"code":502,"message":"Provider returned error"},"choices":[{"finish_reason":"error"}]}),
        ]))
    }
}

fn half(answer: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(answer).unwrap();
    let end = text.find("Hello").unwrap() + 5;
    let end = end + text[end..].find("\n\n").unwrap() + 2;
    answer[..end].to_vec()
}

/// The whole matrix: 429 with retry-after 2, 529, 500 and a mid-stream overload; then, in a second
/// run, a reset half-way and a success. The waits are those that must be; nothing streamed twice
/// stays valid.
#[tokio::test]
async fn d10_rate_limit_and_overload() {
    for (name, answer) in both() {
        let error = json!({"error":{"type":"x","message":"later"}});
        let server = Server::start(vec![
            Answer::json(429, &error).header("retry-after", "2"),
            Answer::json(529, &error),
            Answer::json(500, &error),
            overloaded(name),
            Answer::stream(answer.clone()),
        ])
        .await;
        let timing = FakeTiming::new(0.5);
        let model = connect(options(name, &server.base, timing.clone())).unwrap();
        let (result, deltas) = reply(&model, &ask("hi")).await;
        assert_eq!(result.unwrap().text(), "Hello");
        let wait = Duration::from_millis;
        // 2 s as asked and half of 500 ms; then half of 1, 2 and 4 s.
        assert_eq!(
            timing.waits(),
            [wait(2250), wait(500), wait(1000), wait(2000)]
        );
        let waiting = |reason, attempt, after_ms| Delta::Waiting {
            reason,
            attempt,
            after_ms,
        };
        assert_eq!(
            deltas,
            [
                waiting("rate_limited", 2, 2250),
                waiting("overloaded", 3, 500),
                waiting("overloaded", 4, 1000),
                Delta::Text("He".into()),
                Delta::Restarted,
                waiting("overloaded", 5, 2000),
                Delta::Text("Hello".into()),
            ]
        );
        let bodies: Vec<_> = server.seen().into_iter().map(|seen| seen.body).collect();
        assert!(
            bodies.iter().all(|body| *body == bodies[0]),
            "the same step is asked again"
        );

        let server = Server::start(vec![
            Answer::Cut(vec![half(&answer)], false),
            Answer::stream(half(&answer)),
            Answer::stream(answer.clone()),
        ])
        .await;
        let timing = FakeTiming::new(0.5);
        let model = connect(options(name, &server.base, timing.clone())).unwrap();
        let (result, deltas) = reply(&model, &ask("hi")).await;
        assert_eq!(result.unwrap().text(), "Hello");
        let hello = Delta::Text("Hello".into());
        assert_eq!(
            deltas,
            [
                hello.clone(),
                Delta::Restarted,
                waiting("network", 2, 250),
                hello.clone(),
                Delta::Restarted,
                waiting("network", 3, 500),
                hello,
            ]
        );
    }
}

/// Five attempts, then the error, with what the provider asked for; nothing more is sent.
#[tokio::test]
async fn d10_gives_up_with_the_reason() {
    let error = json!({"error":{"message":"slow down"}});
    for (name, _) in both() {
        let server =
            Server::start(vec![Answer::json(429, &error).header("retry-after", "7")]).await;
        let timing = FakeTiming::new(0.0);
        let model = connect(options(name, &server.base, timing.clone())).unwrap();
        let error = reply(&model, &ask("hi")).await.0.unwrap_err();
        assert!(
            matches!(error, Error::RateLimited { retry_after: Some(after), .. } if after.as_secs() == 7)
        );
        assert_eq!(server.seen().len(), 5);
        assert_eq!(timing.waits(), [Duration::from_secs(7); 4]);
    }
}

/// Seconds, dates and milliseconds are understood; more than five minutes is not waited for.
#[tokio::test]
async fn retry_after_in_every_form() {
    let timing = FakeTiming::new(0.0);
    let at = |seconds| httpdate::fmt_http_date(timing.now + Duration::from_secs(seconds));
    let past = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH);
    for (name, value, expected) in [
        ("retry-after", "2".to_owned(), Some(2000)),
        ("retry-after", "0.5".into(), Some(500)),
        ("retry-after", at(90), Some(90_000)),
        ("retry-after", past, Some(0)),
        ("retry-after-ms", "1500".into(), Some(1500)),
        ("retry-after", "soon".into(), Some(0)),
        ("retry-after", "-5".into(), Some(0)),
        ("retry-after", "300".into(), Some(300_000)),
        ("retry-after", "301".into(), None),
        ("retry-after", at(3600), None),
        ("retry-after", "1e300".into(), Some(0)),
    ] {
        let timing = FakeTiming::new(0.0);
        let body = json!({"error":{"message":"later"}});
        let limited = Answer::json(503, &body).header(name, value.clone());
        let server = Server::start(vec![limited, Answer::stream(both()[0].1.clone())]).await;
        let model = connect(options(CLAUDE, &server.base, timing.clone())).unwrap();
        let result = reply(&model, &ask("hi")).await.0;
        if let Some(ms) = expected {
            result.unwrap();
            assert_eq!(timing.waits(), [Duration::from_millis(ms)], "{value}");
        } else {
            let Err(Error::RateLimited { retry_after, .. }) = result else {
                panic!("{value}: {result:?}");
            };
            assert!(retry_after > Some(Duration::from_secs(300)) && timing.waits().is_empty());
        }
    }
}

/// Waits double up to the cap and are spread over the whole range below.
#[test]
fn backoff_doubles_up_to_the_cap() {
    let policy = RetryPolicy::default();
    let bounds: Vec<u128> = (1..10)
        .map(|failed| policy.delay(failed, None, 1.0).unwrap().as_millis())
        .collect();
    assert_eq!(
        bounds,
        [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]
    );
    assert_eq!(policy.delay(3, None, 0.0), Some(Duration::ZERO));
    assert_eq!(
        policy.delay(u32::MAX, None, 0.5),
        Some(Duration::from_secs(15))
    );
}

/// `x-should-retry: false` is believed.
#[tokio::test]
async fn a_provider_can_forbid_another_attempt() {
    let body = json!({"error":{"message":"no"}});
    let server = Server::start(vec![
        Answer::json(500, &body).header("x-should-retry", "false"),
    ])
    .await;
    let model = connect(options(GPT, &server.base, FakeTiming::new(0.0))).unwrap();
    assert!(matches!(
        reply(&model, &ask("hi")).await.0,
        Err(Error::Overloaded { .. })
    ));
    assert_eq!(server.seen().len(), 1);
}

/// Silence between two bytes, and before the first, is a timeout that is tried again.
#[tokio::test]
async fn silence_is_a_timeout() {
    for (name, answer) in both() {
        for pieces in [vec![half(&answer)], vec![]] {
            let server = Server::start(vec![
                Answer::Cut(pieces, true),
                Answer::stream(answer.clone()),
            ])
            .await;
            let short = Duration::from_millis(300);
            let options = Options {
                timeouts: Some(Timeouts {
                    connect: Duration::from_secs(5),
                    first_byte: short,
                    idle: short,
                }),
                ..options(name, &server.base, FakeTiming::new(0.0))
            };
            let (result, deltas) = reply(&connect(options).unwrap(), &ask("hi")).await;
            assert_eq!(result.unwrap().text(), "Hello");
            assert!(
                deltas.contains(&Delta::Waiting {
                    reason: "timeout",
                    attempt: 2,
                    after_ms: 0
                }),
                "{deltas:?}"
            );
        }
    }
}

/// A cancelled call hangs up at once, in the middle of a reply.
#[tokio::test]
async fn d11_cancelling_drops_the_connection() {
    for (name, answer) in both() {
        let server = Server::start(vec![Answer::Cut(vec![half(&answer)], true)]).await;
        let model = connect(options(name, &server.base, FakeTiming::new(0.0))).unwrap();
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let request = ask("hi");
        let on = move |delta| {
            if matches!(delta, Delta::Text(_)) {
                stop.cancel();
            }
        };
        let result = model.reply(&request, &cancel, &on).await;
        assert_eq!(result, Err(Error::Cancelled));
        assert!(server.notices_hang_up().await, "{name}");
    }
}

/// A call is cancelled while it waits for its next attempt, without sending anything more.
#[tokio::test]
async fn d11_cancelling_ends_a_wait() {
    let timing = Arc::new(FakeTiming {
        waits: Mutex::default(),
        random: 0.5,
        now: SystemTime::UNIX_EPOCH,
        forever: true,
    });
    let server = Server::start(vec![Answer::json(
        529,
        &json!({"error":{"message":"later"}}),
    )])
    .await;
    let model = connect(options(CLAUDE, &server.base, timing)).unwrap();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let request = ask("hi");
    let on = move |delta| {
        if matches!(delta, Delta::Waiting { .. }) {
            stop.cancel();
        }
    };
    let reply = model.reply(&request, &cancel, &on);
    let result = tokio::time::timeout(Duration::from_secs(20), reply)
        .await
        .unwrap();
    assert_eq!(result, Err(Error::Cancelled));
    assert_eq!(server.seen().len(), 1);
}

/// Nobody listens: said with the address, after the attempts.
#[tokio::test]
async fn an_address_where_nobody_listens() {
    let port = {
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        free.local_addr().unwrap().port()
    };
    let timing = FakeTiming::new(0.0);
    let base = format!("http://127.0.0.1:{port}");
    let model = connect(options("ollama/x", &base, timing.clone())).unwrap();
    let error = reply(&model, &ask("hi")).await.0.unwrap_err();
    assert!(
        matches!(&error, Error::Network { address, .. } if *address == base),
        "{error}"
    );
    assert_eq!(timing.waits().len(), 4);
}
