//! Long calls as tasks (the extension `io.modelcontextprotocol/tasks`).
//!
//! A task is a call, whose outcome is in the journal, so any process can report it. The task id is the call id, sealed for the
//! caller.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::call::{CallReport, Denial, Done, Outcome};
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallId, CallRecord, CallStatus, Journal as _, QuestionState};
use toolroom::policy::Provenance;
use toolroom::tool::{ErrorKind, Origin, ToolError};

use crate::calls::CallService;
use crate::mcp::calls::approval::{approval_hint, pending};
use crate::mcp::calls::content::{self, OutputContract};
use crate::mcp::calls::request_state::{self, RequestState, TASK_TTL};
use crate::mcp::calls::tool_call::ToolRequest;
use crate::mcp::context::RequestContext;
use crate::mcp::protocol::reply::{Reuse, SERVER_INFO, reply, server_info};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;
use crate::mcp::tool_listing::output_contract;
use crate::telemetry;

/// The name of the extension.
pub(in crate::mcp) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A call becomes a task after this time.
const TASK_AFTER: Duration = Duration::from_millis(1_000);

/// Suggested interval of `tasks/get`.
const POLL_INTERVAL_MS: u32 = 1_000;

/// The outcome of a call, or the result that announces a task.
pub(in crate::mcp) enum CallOrTask<T> {
    Ended(Box<T>),
    Task(String),
}

impl McpServer {
    /// Runs a call, which becomes a task if it takes long. `work` receives the token that stops it.
    pub(in crate::mcp) async fn run_or_detach<T: Send + 'static, W: Future<Output = T> + Send + 'static>(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
        work: impl FnOnce(Arc<CallService>, CancellationToken) -> W,
    ) -> Result<CallOrTask<T>, RpcError> {
        let began = self.app.room.clock().now();
        let name = &request.context.caller.name;
        let carried = RequestState::Task { call: call.clone(), began: began.as_micros() };
        let id = request_state::seal(&*self.app.vault, name, EXTENSION, began, carried)?;
        // A task outlives its request and keeps its permit.
        let guards = (
            request.calls.detached().detach(name).ok_or_else(RpcError::busy)?,
            request.context.permit.clone(),
        );
        let stop = request.calls.closing().child_token();
        let work = work(Arc::clone(request.calls), stop.clone());
        let mut running = tokio::spawn(telemetry::in_current_request(async move {
            let ended = work.await;
            drop(guards);
            ended
        }));
        let ended = tokio::select! {
            ended = &mut running => ended,
            () = request.stop.cancelled() => {
                stop.cancel();
                running.await
            }
            () = tokio::time::sleep(TASK_AFTER) => {
                let mut task = described(&id, "working", began, began);
                task.insert("resultType".to_owned(), "task".into());
                task.insert("_meta".to_owned(), json!({SERVER_INFO: server_info()}));
                return Ok(CallOrTask::Task(Value::Object(task).to_string()));
            }
        };
        ended.map(|ended| CallOrTask::Ended(Box::new(ended))).map_err(|error| RpcError::failure(&error))
    }

    /// `tasks/get`: the state of a task, and its result.
    pub(in crate::mcp) async fn task(
        &self,
        calls: &CallService,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let task = self.task_of(context, params)?;
        // The row is written when the call is admitted, so a call that waits for a permit has none.
        let is_running = calls.running().contains(&context.caller.scope, &task.call);
        let row = self.row_of(context, &task.call).await?;
        let state = match &row {
            None if is_running => TaskState::Working,
            None => TaskState::Ended(self.undelivered.get(&task.call).ok_or_else(missing)?),
            Some(call) => match call.status {
                CallStatus::Begun => TaskState::Working,
                // An approved call that waits for a permit still has the row of a parked one.
                CallStatus::Pending if is_running => TaskState::Working,
                CallStatus::Pending => self.parked_state(context, &task.call).await?,
                CallStatus::Cancelled => TaskState::Cancelled,
                CallStatus::Done | CallStatus::Failed | CallStatus::Denied => {
                    TaskState::Ended(Ok(self.journal_result(context, call).await?))
                }
                CallStatus::Unknown => {
                    let text = "the outcome is unknown, because the process died during the call; check what happened";
                    TaskState::Ended(Err(RpcError::new(RpcError::INTERNAL, text)))
                }
            },
        };
        let changed = row.as_ref().and_then(|call| call.ended_at.or(call.begun_at)).unwrap_or(task.began);
        let told = |status| described(task.id, status, task.began, changed);
        let document = match state {
            TaskState::Working => told("working"),
            TaskState::Cancelled => told("cancelled"),
            TaskState::Ended(Ok(text)) => {
                let result: Value = serde_json::from_str(&text).map_err(|error| RpcError::failure(&error))?;
                let mut document = told("completed");
                document.insert("result".to_owned(), result);
                document
            }
            TaskState::Ended(Err(refusal)) => {
                let mut document = told("failed");
                document.insert("error".to_owned(), json!(refusal));
                document
            }
        };
        reply(context.client.era, Reuse::Never, &document)
    }

    /// The result of a call that is in the journal.
    async fn journal_result(&self, context: &RequestContext, call: &CallRecord) -> Result<String, RpcError> {
        let tool = self.app.room.catalog().find(&context.caller.scope.project, &call.tool).ok();
        let contract = tool.map_or(OutputContract::None, |entry| output_contract(&entry, context.client.era));
        self.add_reading(context, call).await?;
        self.outcome(context, contract, &report(call)).await
    }

    /// The state of a parked call that is not running: it has the result it would have had without a task.
    async fn parked_state(&self, context: &RequestContext, call: &CallId) -> Result<TaskState, RpcError> {
        if let Some(result) = self.undelivered.get(call) {
            return Ok(TaskState::Ended(result));
        }
        let scope = &context.caller.scope;
        let asked =
            self.app.room.question_details(scope, call).await.map_err(|error| RpcError::failure(&error))?;
        let question = asked.ok_or_else(missing)?.question;
        self.parked.remember(
            scope,
            (Arc::clone(&context.caller.name), Arc::clone(&question.record.tool)),
            call,
        );
        let text = match question.state {
            QuestionState::Granted => {
                "approved, but not run yet\nhint: make the same call again to run it".to_owned()
            }
            _ => approval_hint(context, call, &pending(&question)),
        };
        Ok(TaskState::Ended(Ok(content::failed(&text))))
    }

    /// `tasks/cancel`: stops a task. A task that has ended stays as it is.
    pub(in crate::mcp) async fn cancel_task(
        &self,
        calls: &CallService,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let task = self.task_of(context, params)?;
        if !calls.running().cancel(&context.caller.scope, &task.call) {
            self.row_of(context, &task.call).await?.ok_or_else(missing)?;
        }
        reply(context.client.era, Reuse::Never, &json!({}))
    }

    /// `tasks/update`: accepts input for a task. Calls ask for input before they run, so no task waits for any.
    pub(in crate::mcp) async fn update_task(
        &self,
        calls: &CallService,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let task = self.task_of(context, params)?;
        if !calls.running().contains(&context.caller.scope, &task.call) {
            self.row_of(context, &task.call).await?.ok_or_else(missing)?;
        }
        reply(context.client.era, Reuse::Never, &json!({}))
    }

    /// The task that a request names.
    fn task_of<'a>(
        &self,
        context: &RequestContext,
        params: &'a Map<String, Value>,
    ) -> Result<Task<'a>, RpcError> {
        if !context.client.takes_tasks() {
            let needed = json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}});
            return Err(RpcError::needs(EXTENSION).with(needed));
        }
        let id = params.get("taskId").and_then(Value::as_str);
        let id = id.ok_or_else(|| RpcError::invalid("missing `taskId`"))?;
        let now = self.app.room.clock().now();
        match request_state::open(&*self.app.vault, &context.caller.name, EXTENSION, now, id) {
            Ok(RequestState::Task { call, began }) => {
                Ok(Task { id, call, began: Timestamp::from_micros(began) })
            }
            Ok(RequestState::Parked(_) | RequestState::Own(_)) | Err(_) => Err(missing()),
        }
    }

    /// Adds the result to the provenance of the session: another session may have made the call.
    pub(in crate::mcp) async fn add_reading(
        &self,
        context: &RequestContext,
        call: &CallRecord,
    ) -> Result<(), RpcError> {
        let added = self.app.room.add_reading(&context.caller.scope, &context.source(), call).await;
        added.map_err(|error| RpcError::failure(&error))
    }

    pub(in crate::mcp) async fn row_of(
        &self,
        context: &RequestContext,
        call: &CallId,
    ) -> Result<Option<CallRecord>, RpcError> {
        let found = self.app.store.call(&context.caller.scope, call).await;
        found.map_err(|error| RpcError::failure(&error))
    }
}

/// The state of a task.
enum TaskState {
    Working,
    Cancelled,
    /// The fields of its result, or an error.
    Ended(Result<String, RpcError>),
}

/// A task as its id describes it.
struct Task<'a> {
    id: &'a str,
    call: CallId,
    began: Timestamp,
}

fn missing() -> RpcError {
    RpcError::invalid("unknown task")
}

fn described(id: &str, status: &str, began: Timestamp, changed: Timestamp) -> Map<String, Value> {
    let time = |at: Timestamp| {
        jiff::Timestamp::from_microsecond(at.as_micros()).map(|at| at.to_string()).unwrap_or_default()
    };
    let fields = [
        ("taskId", json!(id)),
        ("status", json!(status)),
        ("createdAt", json!(time(began))),
        ("lastUpdatedAt", json!(time(changed))),
        ("ttlMs", json!(u64::try_from(TASK_TTL.as_millis()).unwrap_or(u64::MAX))),
        ("pollIntervalMs", json!(POLL_INTERVAL_MS)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The report of a call that has ended, restored from the journal.
fn report(call: &CallRecord) -> CallReport {
    let error = || call.error.clone().unwrap_or_else(|| "it failed".to_owned());
    let outcome = match call.status {
        CallStatus::Done => Outcome::Done(Done {
            value: call.result.clone().unwrap_or_default(),
            message: call.message.clone(),
            chars: usize::try_from(call.result_chars).unwrap_or(usize::MAX),
            truncated: call.is_shortened(),
            artifact: call.artifact.clone(),
            origin: Origin::Untrusted,
            offers: call.offers.clone(),
        }),
        CallStatus::Denied => {
            Outcome::Denied(Denial::by_rule(call.rule.clone().unwrap_or_default(), error()))
        }
        _ => Outcome::Failed(ToolError::new(call.kind.unwrap_or(ErrorKind::Tool), error())),
    };
    CallReport {
        call_id: call.id.clone(),
        tool: call.tool.to_string(),
        outcome,
        rule: call.rule.clone(),
        // Its provenance was recorded when it ended.
        provenance: Provenance::NONE,
        duration: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use toolroom::scope::Scope;
    use toolroom::tool::Offer;

    use super::*;
    use crate::mcp::calls::artifacts::ResultArtifacts;
    use crate::mcp::protocol::Era;

    #[test]
    fn denials_and_failures_are_restored() {
        let at = Timestamp::from_micros(1);
        let mut call = CallRecord::arrived(CallId::new("call_1"), Scope::project("p"), "app:x", at);
        (call.status, call.error) = (CallStatus::Denied, Some("not here".to_owned()));
        call.rule = Some("preset".into());
        let denied = report(&call).outcome;
        assert!(
            matches!(&denied, Outcome::Denied(denial) if denial.reason == "not here" && denial.rule == "preset")
        );
        call.status = CallStatus::Failed;
        call.kind = Some(ErrorKind::NotFound);
        let failed = report(&call).outcome;
        assert!(matches!(&failed, Outcome::Failed(error) if error.kind() == ErrorKind::NotFound));
    }

    #[test]
    fn a_shortened_result_without_its_whole_is_still_shortened() {
        let at = Timestamp::from_micros(1);
        let mut call = CallRecord::arrived(CallId::new("call_1"), Scope::project("p"), "app:x", at);
        call.status = CallStatus::Done;
        call.result = Some(Arc::new(json!({"rows": "first … last"})));
        let is_truncated =
            |call: &CallRecord| matches!(report(call).outcome, Outcome::Done(done) if done.truncated);
        call.result_chars = 23;
        assert!(!is_truncated(&call));
        call.result_chars = 90_000;
        assert!(is_truncated(&call));
        let era = Era::Modern;
        let told =
            content::outcome_text(&report(&call), era, OutputContract::Schema, &ResultArtifacts::default());
        assert!(told.contains("was not kept") && !told.contains("structuredContent"), "{told}");
        call.result = None;
        assert!(is_truncated(&call));
    }

    #[test]
    fn offers_are_restored() {
        let at = Timestamp::from_micros(1);
        let mut call = CallRecord::arrived(CallId::new("call_1"), Scope::project("p"), "app:x", at);
        call.status = CallStatus::Done;
        call.offers = vec![Offer::OpenUrl { url: "https://example.com/".to_owned() }];
        let offers = call.offers.clone();
        assert!(matches!(report(&call).outcome, Outcome::Done(done) if done.offers == offers));
    }
}
