//! Wrong key, wrong model, wrong address: found before the first step.

use openspace_llm::{Error, connect};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::{
    Answer, CLAUDE, FakeTiming, GPT, Server, anthropic_text, openai_text, options,
};

async fn check(name: &str, answers: Vec<Answer>) -> (Result<(), Error>, Vec<String>) {
    let server = Server::start(answers).await;
    let model = connect(options(name, &server.base, FakeTiming::new(0.0))).unwrap();
    let result = model.check(&CancellationToken::new()).await;
    (
        result,
        server.seen().into_iter().map(|seen| seen.line).collect(),
    )
}

fn list(names: &[&str]) -> Answer {
    let models: Vec<Value> = names.iter().map(|name| json!({ "id": name })).collect();
    Answer::json(200, &json!({ "data": models }))
}

/// A list that names the model, and that only the key opens, proves everything for free.
#[tokio::test]
async fn the_list_of_models_is_enough() {
    let (result, seen) = check(CLAUDE, vec![list(&["claude-sonnet-4-6"])]).await;
    assert_eq!(result, Ok(()));
    assert_eq!(seen, ["GET /v1/models HTTP/1.1"]);
    let (result, seen) = check(GPT, vec![list(&["o3", "gpt-4o"])]).await;
    assert_eq!((result, seen.len()), (Ok(()), 1));
}

/// A wrong key is found by the list.
#[tokio::test]
async fn a_wrong_key() {
    let refusal = Answer::json(
        401,
        &json!({"error":{"type":"authentication_error","message":"invalid x-api-key"}}),
    );
    let (result, seen) = check(CLAUDE, vec![refusal]).await;
    assert!(matches!(result, Err(Error::Authentication { .. })));
    assert_eq!(seen.len(), 1);
}

/// Where everybody may read the list, the key is proven by one token.
#[tokio::test]
async fn an_open_list_does_not_prove_the_key() {
    let refusal = Answer::json(
        401,
        &json!({"error":{"code":401,"message":"No auth credentials found"}}),
    );
    let (result, seen) = check("openrouter/x/y", vec![list(&["x/y"]), refusal]).await;
    assert!(matches!(result, Err(Error::Authentication { .. })));
    assert_eq!(seen.len(), 2);
}

/// A name that is not listed may be an alias, so the provider itself is asked.
#[tokio::test]
async fn an_unlisted_model_is_asked_for() {
    let (result, _) = check(GPT, vec![list(&["o3"]), Answer::stream(openai_text("a"))]).await;
    assert_eq!(result, Ok(()));
    let missing = Answer::json(
        404,
        &json!({"error":{"code":"model_not_found","message":"The model does not exist"}}),
    );
    let (result, _) = check(GPT, vec![list(&["o3"]), missing]).await;
    assert!(matches!(result, Err(Error::ModelNotFound { .. })));
}

/// No list at this server: one token decides, and asks for no more than one.
#[tokio::test]
async fn a_server_without_a_list() {
    let none = Answer::json(404, &json!({"detail":"Not Found"}));
    let server = Server::start(vec![none, Answer::stream(anthropic_text("a"))]).await;
    let model = connect(options(CLAUDE, &server.base, FakeTiming::new(0.0))).unwrap();
    assert_eq!(model.check(&CancellationToken::new()).await, Ok(()));
    assert_eq!(server.seen()[1].body["max_tokens"], 1);
}

/// A reasoning model that finds one token too few has accepted key and model.
#[tokio::test]
async fn one_token_too_few_is_good_enough() {
    let few = Answer::json(
        400,
        &json!({"error":{"message":"Could not finish the message because max_tokens or model output limit was reached."}}),
    );
    let (result, _) = check(GPT, vec![list(&[]), few]).await;
    assert_eq!(result, Ok(()));
}

/// The tag that Ollama adds is the model's own.
#[tokio::test]
async fn ollama_s_latest_tag() {
    let server = Server::start(vec![list(&["qwen3:latest"])]).await;
    let options = openspace_llm::Options {
        key: None,
        ..options("ollama/qwen3", &server.base, FakeTiming::new(0.0))
    };
    assert_eq!(
        connect(options)
            .unwrap()
            .check(&CancellationToken::new())
            .await,
        Ok(())
    );
    assert_eq!(server.seen().len(), 1);
}

/// A wrong address answers with a web page: said, with the address.
#[tokio::test]
async fn a_wrong_address() {
    for name in [CLAUDE, GPT] {
        let (result, _) = check(name, vec![Answer::html(404)]).await;
        assert!(
            matches!(result, Err(Error::InvalidReply { .. })),
            "{result:?}"
        );
        let (result, _) = check(name, vec![Answer::html(200)]).await;
        assert!(
            matches!(result, Err(Error::InvalidReply { .. })),
            "{result:?}"
        );
    }
}

/// A cancelled check ends at once.
#[tokio::test]
async fn a_check_can_be_cancelled() {
    let server = Server::start(vec![Answer::Cut(vec![], true)]).await;
    let model = connect(options(GPT, &server.base, FakeTiming::new(0.0))).unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(model.check(&cancel).await, Err(Error::Cancelled));
}
