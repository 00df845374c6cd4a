//! Finds out before the first step whether address, key and model are right.

use bytes::Bytes;
use serde_json::Value;

use crate::client::HttpModel;
use crate::failure::Reported;
use crate::provider::ListProves;
use crate::{Error, Message, Request, Result};

impl HttpModel {
    /// The list of models costs nothing; where it proves nothing, a reply of one token does.
    pub(crate) async fn prove(&self) -> Result<()> {
        let get = self.http.get(self.endpoints.models.clone());
        let listed = match self.send(get.headers(self.headers.clone()), false).await {
            Ok(response) => self.lists(response).await?,
            // No such list there; that says nothing yet about the endpoint for conversations.
            Err(failure) => match failure.error {
                Error::InvalidReply { .. }
                | Error::ModelNotFound { .. }
                | Error::InvalidRequest { .. } => None,
                error => return Err(error),
            },
        };
        let key_proven = self.list == ListProves::Key || !self.has_key;
        if listed == Some(true) && key_proven {
            return Ok(());
        }
        // An unlisted name may be an alias, so only the provider itself can say.
        self.ask_for_a_token().await
    }

    /// Whether the list names our model; `None` if it is no list.
    async fn lists(&self, response: reqwest::Response) -> Result<Option<bool>> {
        let text = response.text().await.unwrap_or_default();
        let Ok(body) = serde_json::from_str::<Value>(&text) else {
            return Ok(None);
        };
        let models = body.get("data").or(body.get("models")).unwrap_or(&body);
        let Some(models) = models.as_array() else {
            // LM Studio reports a path it does not know with status 200.
            return match Reported::read(&body) {
                Some(reported) if body.get("error").is_some() => {
                    Err(self.peer.invalid_reply(&reported.message))
                }
                _ => Ok(None),
            };
        };
        let wanted = self.peer.model.as_str();
        let names = models.iter().flat_map(|model| {
            let keys = ["id", "name", "model"].iter();
            keys.filter_map(|key| model.get(key).and_then(Value::as_str))
        });
        let mut names = names.map(|name| name.trim_start_matches("models/"));
        Ok(Some(names.any(|name| {
            // Ollama lists the tag that may be left out.
            name == wanted || name.strip_suffix(":latest") == Some(wanted)
        })))
    }

    async fn ask_for_a_token(&self) -> Result<()> {
        let request = Request {
            system: String::new(),
            tools: Vec::new(),
            messages: vec![Message::user("Hi")],
            max_tokens: 1,
        };
        for _ in 0..3 {
            let body = self.wire.body(&request, &request.messages).to_string();
            let attempt = self.attempt(&request, &request.messages, Bytes::from(body), &|_| {});
            let error = match attempt.await {
                Ok(_) => return Ok(()),
                Err(failure) => failure.error,
            };
            let Error::InvalidRequest { message } = &error else {
                return Err(error);
            };
            if self.wire.learns_from(message) {
                continue;
            }
            // Who finds one token too few has accepted key and model.
            let too_few = [
                "max_tokens",
                "max_completion_tokens",
                "max_output_tokens",
                "output limit",
            ];
            return if too_few.iter().any(|name| message.contains(name)) {
                Ok(())
            } else {
                Err(error)
            };
        }
        Ok(())
    }
}
