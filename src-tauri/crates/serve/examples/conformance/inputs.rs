//! Asking the client: in the middle of a call, as before 2026-07-28, or by asking it to call again.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequestParams,
        InputRequest, InputRequiredResult, RequestStateCodec,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::words::{Fixed, Words};

pub(crate) fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

pub(crate) fn failed(error: impl std::fmt::Display) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.to_string())])
}

/// A form, sent in the middle of the call.
pub(crate) async fn form(
    message: &str,
    form: &Value,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let can = context
        .client_capabilities()
        .is_some_and(|client| client.elicitation.is_some());
    if !can {
        return failed("the client does not support elicitation");
    }
    let params = json!({ "mode": "form", "message": message, "requestedSchema": form });
    let Ok(params) = serde_json::from_value::<ElicitRequestParams>(params) else {
        return failed("the form cannot be read");
    };
    match context.peer.create_elicitation(params).await {
        Ok(answer) => {
            let filled = answer.content.unwrap_or(Value::Null);
            let action = json!(answer.action);
            let action = action.as_str().unwrap_or_default();
            said(format!(
                "Elicitation completed: User response: action={action}, content={filled}"
            ))
        }
        Err(error) => failed(error),
    }
}

/// The rounds of a tool: which one it is, is in the sealed state that the client echoes.
pub(crate) fn rounds(
    words: &Words,
    tool: &Fixed,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    seal: &RequestStateCodec,
) -> Result<CallToolResponse, ErrorData> {
    let state = request.request_state.as_deref();
    let round = match state.map(|state| seal.open(state)) {
        None => 0,
        Some(Ok(opened)) => opened.first().copied().map_or(0, usize::from),
        Some(Err(error)) => {
            return Err(ErrorData::invalid_params(
                format!("the request state was changed: {error}"),
                None,
            ));
        }
    };
    let given = request.input_responses.clone().unwrap_or_default();
    let asked = tool.rounds.get(round);
    let fits = |key: &String| given.get(key).is_some_and(Value::is_object);
    let answered = asked.is_some_and(|asked| asked.requests.keys().all(fits));
    let next = if answered { round + 1 } else { round };
    let Some(ask) = tool.rounds.get(next) else {
        let answers = serde_json::to_string(&given).unwrap_or_default();
        let done = tool.done.as_deref().unwrap_or("Hello");
        return Ok(said(format!("{done}: {answers}")).into());
    };
    let mut requests = words.requests(&ask.requests);
    if let Some(client) = context.client_capabilities() {
        requests.retain(|_, request| match request {
            InputRequest::Elicitation(_) => client.elicitation.is_some(),
            InputRequest::CreateMessage(_) => client.sampling.is_some(),
            _ => client.roots.is_some(),
        });
    }
    let sealed = ask
        .sealed
        .then(|| seal.seal(&[u8::try_from(next).unwrap_or(u8::MAX)]));
    Ok(InputRequiredResult::new(Some(requests), sealed).into())
}
