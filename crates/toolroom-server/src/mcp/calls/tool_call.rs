//! `tools/call`.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolroom::call::{CallReport, CallRequest, Outcome, Progress, ProgressSink};
use toolroom::catalog::Entry;
use toolroom::ledger::CallId;

use crate::calls::CallService;
use crate::mcp::calls::content::{self, OutputContract};
use crate::mcp::calls::dialogue::{ClientInput, Dialogue, MissingInput, RegisteredDialogue};
use crate::mcp::calls::progress::ProgressNotifier;
use crate::mcp::calls::request_state::{self, RequestState};
use crate::mcp::calls::tasks::CallOrTask;
use crate::mcp::context::RequestContext;
use crate::mcp::protocol::params::Params;
use crate::mcp::protocol::reply::{Reuse, finish};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;
use crate::mcp::tool_listing::output_contract;
use crate::mcp::tool_names;

/// The entrance of MCP calls in the journal.
pub(in crate::mcp) const ENTRANCE: &str = "mcp";

/// A request to call a tool.
pub(in crate::mcp) struct ToolRequest<'a> {
    pub(in crate::mcp) calls: &'a Arc<CallService>,
    pub(in crate::mcp) context: &'a RequestContext,
    /// The tool.
    pub(in crate::mcp) entry: &'a Entry,
    pub(in crate::mcp) stop: &'a CancellationToken,
    /// Receives progress.
    pub(in crate::mcp) progress: Option<ProgressSink>,
}

impl ToolRequest<'_> {
    /// The call, under this id.
    fn call(&self, id: CallId, arguments: Map<String, Value>) -> CallRequest {
        let (tool, caller) = (self.entry.spec().id.as_str(), &self.context.caller);
        let request = CallRequest::through(ENTRANCE, tool, caller.scope.clone(), self.stop.clone());
        let request = request
            .id(id)
            .arguments(arguments)
            .metadata(caller.facts.clone())
            .source(self.context.source())
            .user_location(caller.user_location);
        let caller = Some(Arc::clone(&caller.name));
        CallRequest { caller, progress: self.progress.clone(), ..request }
    }
}

impl McpServer {
    /// Calls a tool, or resumes a parked call.
    pub(in crate::mcp) async fn call(
        &self,
        calls: &Arc<CallService>,
        context: &RequestContext,
        mut params: Box<Params>,
        stop: &CancellationToken,
    ) -> Result<String, RpcError> {
        let Some(Value::String(name)) = params.name.take() else {
            return Err(RpcError::invalid("missing `name` of the tool"));
        };
        let project = &context.caller.scope.project;
        let catalog = self.app.room.catalog();
        let entry = tool_names::find(catalog, project, &name);
        let entry = entry.ok_or_else(|| unknown(&name, tool_names::hint(catalog, project, &name)))?;
        let arguments = content::object(params.arguments.take());
        let arguments = arguments.ok_or_else(|| RpcError::invalid("`arguments` must be an object"))?;
        let input = ClientInput::take(context, &mut params.others)?;
        let token = params.meta.progress_token.take();
        let notifier = ProgressNotifier::new(&context.channel, &name, token, context.client.level);
        let progress = notifier
            .map(|notifier| Arc::new(move |progress: Progress| notifier.notify(&progress)) as ProgressSink);
        let request = ToolRequest { calls, context, entry: &entry, stop, progress };
        let state = match &input.state {
            Some(text) => {
                let now = self.app.room.clock().now();
                let about = entry.spec().id.as_str();
                Some(request_state::open(&*self.app.vault, &context.caller.name, about, now, text)?)
            }
            None => None,
        };
        let own = match state {
            Some(RequestState::Own(own)) => Some(own),
            Some(RequestState::Parked(call)) => {
                return Box::pin(self.accept_reply(&request, &call, &arguments, &input.answers)).await;
            }
            Some(RequestState::Task { .. }) => {
                return Err(RpcError::invalid("`requestState` belongs to a task; use `tasks/get`"));
            }
            None => match self.parked_before(&request, &arguments).await? {
                Some(call) => return Box::pin(self.resume_call(&request, call)).await,
                None => None,
            },
        };
        self.make(&request, arguments, input.answers, own).await
    }

    /// Makes a new call.
    async fn make(
        &self,
        request: &ToolRequest<'_>,
        arguments: Map<String, Value>,
        answers: Map<String, Value>,
        own: Option<Value>,
    ) -> Result<String, RpcError> {
        let id = CallId::fresh(self.app.room.clock());
        let call = request.call(id.clone(), arguments);
        let fixtures = self.fixtures();
        let dialogue = fixtures.map(|_| Arc::new(Dialogue::new(request.context.clone(), answers, own)));
        let registered = fixtures.zip(dialogue.as_ref()).map(|(fixtures, dialogue)| {
            RegisteredDialogue::new(Arc::clone(&fixtures.dialogues), id.clone(), Arc::clone(dialogue))
        });
        let report = if request.context.client.takes_tasks() {
            let work = |calls: Arc<CallService>, stop| async move {
                let report = calls.call(call.cancellation(stop)).await;
                drop(registered);
                report
            };
            match Box::pin(self.run_or_detach(request, &id, work)).await? {
                CallOrTask::Ended(report) => *report,
                CallOrTask::Task(text) => return Ok(text),
            }
        } else {
            let report = request.calls.call(call).await;
            drop(registered);
            report
        };
        match dialogue.and_then(|dialogue| dialogue.wanted()) {
            // A client with a session cannot be asked afterwards.
            Some(MissingInput::Capability(_) | MissingInput::Answers { .. })
                if !request.context.is_modern() =>
            {
                self.call_result(request, &report).await
            }
            Some(wanted) => self.asks_for(request.context, request.entry.spec().id.as_str(), wanted),
            None => self.call_result(request, &report).await,
        }
    }

    /// The result of `tools/call`. A parked call asks for approval.
    pub(in crate::mcp) async fn call_result(
        &self,
        request: &ToolRequest<'_>,
        report: &CallReport,
    ) -> Result<String, RpcError> {
        let era = request.context.client.era;
        if let Outcome::Pending(pending) = &report.outcome {
            return Box::pin(self.ask_caller_to_approve(request, &report.call_id, pending)).await;
        }
        let text = self.outcome(request.context, output_contract(request.entry, era), report).await?;
        Ok(finish(era, Reuse::Never, text))
    }

    /// The outcome of a call as the fields of a result.
    pub(in crate::mcp) async fn outcome(
        &self,
        context: &RequestContext,
        promise: OutputContract,
        report: &CallReport,
    ) -> Result<String, RpcError> {
        let kept = self.kept(&context.caller.scope, report, promise).await?;
        Ok(content::outcome_text(report, context.client.era, promise, &kept))
    }
}

fn unknown(name: &str, hint: Option<String>) -> RpcError {
    let name: String = name.chars().take(128).collect();
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    RpcError::invalid(format!("unknown tool `{name}`; see `tools/list`{hint}"))
}
