//! Tools that are done as tasks.

use std::time::Duration;

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, CreateTaskResult, InputRequest, JsonObject},
    task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions},
};
use serde_json::Value;

use crate::{
    inputs::{failed, said},
    words::{Fixed, Words},
};

/// Begins the task of a tool.
pub(crate) fn begin(
    tasks: &TaskManager,
    words: &Words,
    tool: &Fixed,
    arguments: Option<JsonObject>,
    told: String,
) -> CallToolResponse {
    let asks: Vec<_> = tool
        .requests
        .iter()
        .filter_map(|name| words.request(name))
        .collect();
    let name = tool.name.clone();
    let options = TaskOptions::new().with_poll_interval_ms(100);
    let task = tasks.spawn(options, move |context| {
        Box::pin(async move {
            match name.as_str() {
                "failing_job" => Ok(failed("the job failed")),
                "protocol_error_job" => {
                    Err(TaskExit::Error(ErrorData::internal_error("broken", None)))
                }
                "slow_compute" => tokio::select! {
                    computed = compute(arguments.as_ref()) => Ok(computed),
                    () = context.cancelled() => Err(TaskExit::Cancelled),
                },
                _ => {
                    let answers = ask(&context, asks).await?;
                    Ok(said(format!("done {told} {answers:?}")))
                }
            }
        })
    });
    CreateTaskResult::new(task).into()
}

/// Takes as many seconds as it was asked to.
pub(crate) async fn compute(arguments: Option<&JsonObject>) -> CallToolResult {
    let seconds = arguments.and_then(|it| it.get("seconds")?.as_f64());
    tokio::time::sleep(Duration::from_secs_f64(seconds.unwrap_or(1.0))).await;
    said("computed")
}

/// All at once; each may be answered alone.
async fn ask(context: &TaskContext, asks: Vec<InputRequest>) -> Result<Vec<Value>, TaskExit> {
    let asking = asks
        .into_iter()
        .enumerate()
        .map(|(number, request)| context.request_input(format!("input-{number}"), request));
    futures_util::future::try_join_all(asking).await
}
