//! Errors by what the caller can do about them.

use openspace_llm::{Content, Error, Message, Options, Role, connect};
use serde_json::{Value, json};

use crate::server::{
    Answer, CLAUDE, FakeTiming, GPT, KEY, Server, ask, both, options, picture, reply,
};

async fn refused(name: &str, answer: Answer, with_picture: bool) -> (Error, usize) {
    let server = Server::start(vec![answer]).await;
    let model = connect(options(name, &server.base, FakeTiming::new(0.0))).unwrap();
    let mut request = ask("hi");
    if with_picture {
        request.messages.push(Message {
            role: Role::User,
            content: vec![Content::Image(picture(100, 100))],
        });
    }
    let error = reply(&model, &request).await.0.unwrap_err();
    (error, server.seen().len())
}

/// The name of the variant.
fn kind(error: &Error) -> String {
    let text = format!("{error:?}");
    text.split([' ', '{']).next().unwrap().to_owned()
}

/// Real-shaped refusals of the providers lead to the right variant, and none is sent twice.
#[tokio::test]
async fn refusals_are_sorted() {
    let anthropic =
        |kind: &str, message: &str| json!({"type":"error","error":{"type":kind,"message":message}});
    let openai = |code: &str, message: &str| json!({"error":{"message":message,"type":"invalid_request_error","code":code}});
    let cases: Vec<(&str, u16, Value, &str)> = vec![
        (
            CLAUDE,
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            "Authentication",
        ),
        (
            CLAUDE,
            403,
            anthropic("permission_error", "no access"),
            "Authentication",
        ),
        (
            CLAUDE,
            400,
            anthropic("invalid_request_error", "Your credit balance is too low"),
            "Authentication",
        ),
        (
            CLAUDE,
            404,
            anthropic("not_found_error", "model: claude-x"),
            "ModelNotFound",
        ),
        (
            CLAUDE,
            400,
            anthropic(
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            "ContextTooLong",
        ),
        (
            CLAUDE,
            400,
            anthropic(
                "invalid_request_error",
                "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
            ),
            "ImageRejected",
        ),
        (
            CLAUDE,
            400,
            anthropic(
                "invalid_request_error",
                "messages.1: `tool_use` ids were found without `tool_result` blocks",
            ),
            "InvalidRequest",
        ),
        (
            CLAUDE,
            400,
            anthropic(
                "invalid_request_error",
                "max_tokens: 900000 > 128000, which is the maximum allowed number of output tokens",
            ),
            "InvalidRequest",
        ),
        (
            CLAUDE,
            413,
            anthropic("request_too_large", "Request exceeds the maximum size"),
            "ImageRejected",
        ),
        (
            GPT,
            401,
            openai("invalid_api_key", "Incorrect API key provided"),
            "Authentication",
        ),
        (
            GPT,
            429,
            openai("insufficient_quota", "You exceeded your current quota"),
            "Authentication",
        ),
        (
            GPT,
            404,
            openai("model_not_found", "The model `gpt-x` does not exist"),
            "ModelNotFound",
        ),
        (
            GPT,
            400,
            openai(
                "context_length_exceeded",
                "This model's maximum context length is 128000 tokens",
            ),
            "ContextTooLong",
        ),
        (
            GPT,
            400,
            openai("invalid_image_format", "You uploaded an unsupported image."),
            "ImageRejected",
        ),
        (
            GPT,
            400,
            openai("content_policy_violation", "Rejected"),
            "Refused",
        ),
        (
            "openrouter/x/y",
            402,
            json!({"error":{"code":402,"message":"Insufficient credits"}}),
            "Authentication",
        ),
        (
            "openrouter/x/y",
            400,
            json!({"error":{"code":400,"message":"x/y is not a valid model ID"}}),
            "ModelNotFound",
        ),
        (
            "openrouter/x/y",
            403,
            json!({"error":{"code":403,"message":"Your input was flagged"}}),
            "Refused",
        ),
        (
            "ollama/x",
            404,
            json!({"error":{"message":"model \"x\" not found, try pulling it first"}}),
            "ModelNotFound",
        ),
        (
            "ollama/x",
            404,
            json!({"error":"model 'x' not found"}),
            "ModelNotFound",
        ),
        (
            "ollama/x",
            400,
            json!({"error":{"message":"x does not support tools"}}),
            "InvalidRequest",
        ),
        (
            "lmstudio/x",
            200,
            json!({"error":"Unexpected endpoint or method. (POST /v1/x)"}),
            "InvalidReply",
        ),
        (
            "lmstudio/x",
            404,
            json!({"error":{"message":"No models loaded. Please load a model"}}),
            "ModelNotFound",
        ),
        (
            "llamacpp/x",
            400,
            json!({"error":{"code":400,"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}),
            "ContextTooLong",
        ),
        (
            "gemini/x",
            400,
            json!([{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"API key not valid. Please pass a valid API key."}}]),
            "Authentication",
        ),
        (
            "deepseek/x",
            400,
            json!({"error":{"message":"Model Not Exist"}}),
            "ModelNotFound",
        ),
        ("vllm/x", 404, json!({"detail":"Not Found"}), "InvalidReply"),
    ];
    for (name, status, body, expected) in cases {
        let with_picture = name == CLAUDE || name == GPT;
        let (error, requests) = refused(name, Answer::json(status, &body), with_picture).await;
        assert_eq!(
            kind(&error),
            expected,
            "{name} {status} {body} gave {error}"
        );
        assert_eq!(requests, 1, "{name} {status} {body}");
    }
}

/// An error inside a good response is sorted like one with a status.
#[tokio::test]
async fn errors_within_a_stream_are_sorted() {
    let event = json!({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}});
    let (error, _) = refused(
        CLAUDE,
        Answer::stream(format!("event: error\ndata: {event}\n\n")),
        false,
    )
    .await;
    assert_eq!(kind(&error), "ContextTooLong");
    let chunk = json!({"error":{"code":401,"message":"No auth credentials found"}});
    let (error, _) = refused(
        "openrouter/x/y",
        Answer::stream(format!(": OPENROUTER PROCESSING\n\ndata: {chunk}\n\n")),
        false,
    )
    .await;
    assert_eq!(kind(&error), "Authentication");
}

/// A web page is not a reply, whatever its status; the address is named.
#[tokio::test]
async fn a_web_page_is_not_a_reply() {
    for (name, _) in both() {
        for (status, requests) in [(200, 1), (404, 1), (403, 1), (502, 5)] {
            let (error, seen) = refused(name, Answer::html(status), false).await;
            let text = error.to_string();
            assert_eq!(kind(&error), "InvalidReply");
            assert!(
                text.contains("http://127.0.0.1:") && text.contains("web page"),
                "{text}"
            );
            assert_eq!(seen, requests);
        }
        let (error, _) = refused(name, Answer::html(401), false).await;
        assert_eq!(kind(&error), "Authentication");
    }
}

/// In the middle of a conversation a web page, or a redirect to one, is the network's fault and passes.
#[tokio::test]
async fn a_login_page_in_between_is_waited_out() {
    for (name, answer) in both() {
        let elsewhere = vec![("location", "http://login.invalid/".into())];
        let server = Server::start(vec![
            Answer::stream(answer.clone()),
            Answer::html(200),
            Answer::html(403),
            Answer::Full(302, elsewhere, vec![]),
            Answer::stream(answer),
        ])
        .await;
        let model = connect(options(name, &server.base, FakeTiming::new(0.0))).unwrap();
        for _ in 0..2 {
            assert_eq!(reply(&model, &ask("hi")).await.0.unwrap().text(), "Hello");
        }
        assert_eq!(server.seen().len(), 5);
    }
}

/// Broken bytes, broken JSON and nothing at all are asked for once more, not five times.
#[tokio::test]
async fn broken_replies_are_asked_for_once_more() {
    for (name, _) in both() {
        for body in [
            b"data: \xff\xfe\n\n".to_vec(),
            b"data: {broken\n\n".to_vec(),
            b"{\"broken\"".to_vec(),
            vec![],
        ] {
            let (error, seen) = refused(name, Answer::stream(body.clone()), false).await;
            assert_eq!(kind(&error), "InvalidReply", "{body:?}");
            assert_eq!(seen, 2, "{body:?}");
        }
    }
}

/// A key never goes to another origin, and a redirect there is said.
#[tokio::test]
async fn redirects_to_another_origin_are_not_followed() {
    let other = Server::start(vec![Answer::stream(both()[0].1.clone())]).await;
    for status in [301, 302, 307, 308] {
        let to = format!("{}/v1/messages?token=secret", other.base);
        let answer = Answer::Full(status, vec![("location", to)], vec![]);
        let (error, _) = refused(CLAUDE, answer, false).await;
        assert_eq!(kind(&error), "InvalidReply");
        let text = error.to_string();
        assert!(
            text.contains(&other.base) && !text.contains("secret"),
            "{text}"
        );
    }
    assert!(other.seen().is_empty());
}

/// Within the same origin a redirect that keeps the request is followed.
#[tokio::test]
async fn redirects_within_the_origin_are_followed() {
    let server = Server::start(vec![
        Answer::Full(308, vec![("location", "/other/v1/messages".into())], vec![]),
        Answer::stream(both()[0].1.clone()),
    ])
    .await;
    let model = connect(options(CLAUDE, &server.base, FakeTiming::new(0.0))).unwrap();
    assert_eq!(reply(&model, &ask("hi")).await.0.unwrap().text(), "Hello");
    assert_eq!(server.seen()[1].line, "POST /other/v1/messages HTTP/1.1");
    assert_eq!(server.seen()[1].body, server.seen()[0].body);
}

/// A server that echoes our key or header does not get it into an error.
#[tokio::test]
async fn echoed_secrets_are_redacted() {
    let words = format!(
        "Bad key {KEY} and header topsecretvalue\n{}",
        "x".repeat(2000)
    );
    let body = json!({"error":{"message":words,"type":"authentication_error"}});
    for (name, _) in both() {
        let server = Server::start(vec![Answer::json(401, &body)]).await;
        let options = Options {
            headers: vec![("x-extra".into(), "topsecretvalue".into())],
            ..options(name, &server.base, FakeTiming::new(0.0))
        };
        let model = connect(options).unwrap();
        let error = reply(&model, &ask("hi")).await.0.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(
            !text.contains(KEY) && !text.contains("topsecretvalue"),
            "{text}"
        );
        assert!(text.contains("[redacted]") && text.len() < 2000, "{text}");
        assert_eq!(server.seen()[0].header("x-extra"), Some("topsecretvalue"));
    }
}
