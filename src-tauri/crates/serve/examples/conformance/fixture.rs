//! The handler: our server's tools, and beside them what the suite asks for.

#![allow(
    deprecated,
    reason = "the suite also asks for what the newest protocol dropped"
)]

use std::{sync::Arc, time::Duration};

use openspace_serve::mcp::Server;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities,
        CompleteRequestParams, CompleteResult, CreateMessageRequestParams, GetPromptRequestParams,
        GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, InputRequiredResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
        ProgressNotificationParam, Prompt, PromptArgument, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, RequestStateCodec, Resource, ResourceTemplate,
        ResultType, SamplingMessage, ServerCapabilities, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::RequestContext,
    task_manager::TaskManager,
};
use serde_json::{Value, json};

use crate::{
    inputs::{self, failed, said},
    jobs,
    words::{Fixed, TaskSupport, Words},
};

const STEP: Duration = Duration::from_millis(50);

/// Ours, with what the suite asks for.
#[derive(Clone)]
pub(crate) struct Fixture {
    ours: Server,
    words: Arc<Words>,
    tasks: TaskManager,
    seal: Arc<RequestStateCodec>,
}

impl Fixture {
    pub(crate) fn new(ours: Server) -> anyhow::Result<Self> {
        Ok(Self {
            ours,
            words: Arc::new(Words::read()?),
            tasks: TaskManager::new(),
            seal: Arc::new(RequestStateCodec::new([7; 32])),
        })
    }

    async fn fixed(
        &self,
        tool: &Fixed,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |name: &str| {
            let value = request.arguments.as_ref().and_then(|it| it.get(name));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        if let Some(result) = &tool.result {
            let mut result = result.clone();
            // Newer clients want it; the server leaves it out for the others.
            result.result_type.get_or_insert(ResultType::COMPLETE);
            return Ok(result.into());
        }
        if let Some(form) = &tool.asks {
            let message = match text("message") {
                message if message.is_empty() => "Please fill this in".to_owned(),
                message => message,
            };
            return Ok(inputs::form(&message, form, context).await.into());
        }
        if !tool.rounds.is_empty() {
            let answer = inputs::rounds(&self.words, tool, &request, context, &self.seal)?;
            if tool.task != TaskSupport::Never && matches!(answer, CallToolResponse::Complete(_)) {
                let told = serde_json::to_string(&request.input_responses).unwrap_or_default();
                return Ok(jobs::begin(&self.tasks, &self.words, tool, None, told));
            }
            return Ok(answer);
        }
        if tool.task != TaskSupport::Never {
            let client = context.client_capabilities();
            if !client.is_some_and(|client| client.supports_tasks()) {
                if tool.task == TaskSupport::Optional {
                    return Ok(jobs::compute(request.arguments.as_ref()).await.into());
                }
                return Err(ErrorData::missing_required_client_capability(
                    ClientCapabilities::builder().enable_tasks().build(),
                ));
            }
            let arguments = request.arguments;
            return Ok(jobs::begin(
                &self.tasks,
                &self.words,
                tool,
                arguments,
                String::new(),
            ));
        }
        match tool.name.as_str() {
            "greet" => return Ok(said(format!("Hello, {}!", text("name"))).into()),
            "test_tool_with_progress" => {
                for step in [0, 50, 100] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let told = ProgressNotificationParam::new(token, f64::from(step))
                            .with_total(100.0);
                        let _gone = context.peer.notify_progress(told).await;
                    }
                    tokio::time::sleep(STEP).await;
                }
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                let legacy = context
                    .protocol_version()
                    .is_some_and(|version| version.has_initialize());
                let wanted = legacy || context.meta.log_level().is_some();
                for words in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    if wanted {
                        let told =
                            LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
                        let _gone = context.peer.notify_logging_message(told).await;
                    }
                    tokio::time::sleep(STEP).await;
                }
            }
            "test_reconnection" => tokio::time::sleep(STEP).await,
            "test_missing_capability" => {
                let client = context.client_capabilities().unwrap_or_default();
                if client.sampling.is_none() {
                    return Err(ErrorData::missing_required_client_capability(
                        ClientCapabilities::builder().enable_sampling().build(),
                    ));
                }
            }
            "test_sampling" => {
                let client = context.client_capabilities().unwrap_or_default();
                if client.sampling.is_none() {
                    return Ok(failed("the client does not support sampling").into());
                }
                let asked = CreateMessageRequestParams::new(
                    vec![SamplingMessage::user_text(text("prompt"))],
                    100,
                );
                return Ok(match context.peer.create_message(asked).await {
                    Ok(answer) => said(format!("LLM response: {}", json!(answer.message.content))),
                    Err(error) => failed(error),
                }
                .into());
            }
            _ => {}
        }
        Ok(said("done").into())
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let mut told = self.ours.get_info();
        told.capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_tasks()
            .build();
        told
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.ours.list_tools(page, context).await?;
        let fixed = self.words.tools.iter();
        listed
            .tools
            .extend(fixed.filter_map(|tool| self.get_tool(&tool.name)));
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let Some(tool) = self.words.tool(name) else {
            return self.ours.get_tool(name);
        };
        let nothing = || {
            json!({ "type": "object" })
                .as_object()
                .cloned()
                .unwrap_or_default()
        };
        let schema = tool.schema.clone().unwrap_or_else(nothing);
        let about = tool.description.clone();
        let about = about.unwrap_or_else(|| "A fixture of the conformance suite".to_owned());
        Some(Tool::new(tool.name.clone(), about, Arc::new(schema)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.words.tool(&request.name) {
            Some(tool) => self.fixed(&tool.clone(), request, &context).await,
            None => self.ours.call_tool(request, context).await,
        }
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |said: &crate::words::Said| {
            let arguments: Vec<_> = said
                .arguments
                .iter()
                .map(|name| PromptArgument::new(name).with_required(true))
                .collect();
            Prompt::new(&said.name, Some("A fixture"), Some(arguments))
        };
        let prompts = self.words.prompts.iter().map(prompt).collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params("there is no such prompt", None);
        let mut prompts = self.words.prompts.iter();
        let said = prompts
            .find(|it| it.name == request.name)
            .ok_or_else(unknown)?;
        if !said.asks.is_empty() && request.input_responses.is_none() {
            let requests = self.words.requests(&said.asks);
            return Ok(InputRequiredResult::new(Some(requests), None).into());
        }
        let messages = said
            .filled(request.arguments.as_ref())
            .ok_or_else(unknown)?;
        Ok(GetPromptResult::new(messages).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |it: &Value| {
            let uri = it["uri"].as_str().unwrap_or_default();
            Resource::new(uri, uri)
                .with_description("A fixture")
                .with_mime_type(it["mimeType"].as_str().unwrap_or_default())
        };
        let resources = self.words.resources.iter().map(resource).collect();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match self.words.resource(&request.uri) {
            Some(content) => Ok(ReadResourceResult::new(vec![content]).into()),
            None => Err(ErrorData::resource_not_found(
                "Resource not found",
                Some(json!({ "uri": request.uri })),
            )),
        }
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks
            .get_task(&request.task_id)
            .map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks
            .update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}
