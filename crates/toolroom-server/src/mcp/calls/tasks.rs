//! Calls that take long, as tasks (the extension `io.modelcontextprotocol/tasks`).
//!
//! A task is its call, and what became of it is in the journal: it can be asked for in whichever process. Its id is the
//! call's, sealed for whoever made it, and leads nobody else there.

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
use crate::mcp::calls::approval::{how_to_approve, pending};
use crate::mcp::calls::content::{self, OutputContract};
use crate::mcp::calls::request_state::{self, RequestState, TASK_LASTS};
use crate::mcp::calls::tool_call::ToolRequest;
use crate::mcp::context::RequestContext;
use crate::mcp::protocol::reply::{Reuse, SERVER_INFO, reply, server_info};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;
use crate::mcp::tool_listing::promise;
use crate::telemetry;

/// The extension.
pub(in crate::mcp) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How long a call is waited for before it becomes a task.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// How soon to ask how far a task is.
const ASK_EVERY_MS: u32 = 1_000;

/// What a call came to, or that it goes on.
pub(in crate::mcp) enum CallOrTask<T> {
    Ended(Box<T>),
    Task(String),
}

impl McpServer {
    /// Works on a call, which becomes a task if it takes long. `work` is told how it is stopped.
    pub(in crate::mcp) async fn or_go_on<T: Send + 'static, W: Future<Output = T> + Send + 'static>(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
        work: impl FnOnce(Arc<CallService>, CancellationToken) -> W,
    ) -> Result<CallOrTask<T>, RpcError> {
        let began = self.app.room.clock().now();
        let name = &request.context.caller.name;
        let carried = RequestState::Task { call: call.clone(), began: began.as_micros() };
        let id = request_state::seal(&*self.app.vault, name, EXTENSION, began, carried)?;
        // It outlives whoever asked for it, once they know its name, and keeps their place.
        let kept = (
            request.calls.detached().detach(name).ok_or_else(RpcError::busy)?,
            request.context.place.clone(),
        );
        let stop = request.calls.closing().child_token();
        let work = work(Arc::clone(request.calls), stop.clone());
        let mut running = tokio::spawn(telemetry::carried(async move {
            let ended = work.await;
            drop(kept);
            ended
        }));
        let ended = tokio::select! {
            ended = &mut running => ended,
            () = request.stop.cancelled() => {
                stop.cancel();
                running.await
            }
            () = tokio::time::sleep(PATIENCE) => {
                let mut task = described(&id, "working", began, began);
                task.insert("resultType".to_owned(), "task".into());
                task.insert("_meta".to_owned(), json!({SERVER_INFO: server_info()}));
                return Ok(CallOrTask::Task(Value::Object(task).to_string()));
            }
        };
        ended.map(|ended| CallOrTask::Ended(Box::new(ended))).map_err(|error| RpcError::failure(&error))
    }

    /// How far a task is, and what came of it.
    pub(in crate::mcp) async fn task(
        &self,
        calls: &CallService,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let task = self.named(context, params)?;
        // Its row is written when it has a place, so one that waits for that has none.
        let is_running = calls.running().contains(&context.caller.scope, &task.call);
        let row = self.row_of(context, &task.call).await?;
        let stage = match &row {
            None if is_running => Stage::Working,
            None => Stage::Ended(self.unheard.of(&task.call).ok_or_else(missing)?),
            Some(call) => match call.status {
                CallStatus::Begun => Stage::Working,
                // What was approved and waits for its place has the row of one that waits for a person.
                CallStatus::Pending if is_running => Stage::Working,
                CallStatus::Pending => self.waits(context, &task.call).await?,
                CallStatus::Cancelled => Stage::Cancelled,
                CallStatus::Done | CallStatus::Failed | CallStatus::Denied => {
                    Stage::Ended(Ok(self.came_of(context, call).await?))
                }
                CallStatus::Unknown => {
                    let text = "it began, and its outcome is unknown; check what happened";
                    Stage::Ended(Err(RpcError::new(RpcError::INTERNAL, text)))
                }
            },
        };
        let changed = row.as_ref().and_then(|call| call.ended_at.or(call.begun_at)).unwrap_or(task.began);
        let told = |status| described(task.id, status, task.began, changed);
        let told = match stage {
            Stage::Working => told("working"),
            Stage::Cancelled => told("cancelled"),
            Stage::Ended(Ok(text)) => {
                let result: Value = serde_json::from_str(&text).map_err(|error| RpcError::failure(&error))?;
                let mut told = told("completed");
                told.insert("result".to_owned(), result);
                told
            }
            Stage::Ended(Err(refusal)) => {
                let mut told = told("failed");
                told.insert("error".to_owned(), json!(refusal));
                told
            }
        };
        reply(context.client.era, Reuse::Never, &told)
    }

    /// What the journal says came of a call, as the fields of a result.
    async fn came_of(&self, context: &RequestContext, call: &CallRecord) -> Result<String, RpcError> {
        let tool = self.app.room.catalog().find(&context.caller.scope.project, &call.tool).ok();
        let promise = tool.map_or(OutputContract::None, |entry| promise(&entry, context.client.era));
        self.add_reading(context, call).await?;
        self.outcome(context, promise, &report(call)).await
    }

    /// What is told of a call that waits, and that nobody works on: as when it had not become a task.
    async fn waits(&self, context: &RequestContext, call: &CallId) -> Result<Stage, RpcError> {
        if let Some(unheard) = self.unheard.of(call) {
            return Ok(Stage::Ended(unheard));
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
                "it was approved, and has not run\nhint: make the same call again, and it runs".to_owned()
            }
            _ => how_to_approve(context, call, &pending(&question)),
        };
        Ok(Stage::Ended(Ok(content::failed(&text))))
    }

    /// Stops a task. One that has ended stays as it is.
    pub(in crate::mcp) async fn cancel_task(
        &self,
        calls: &CallService,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let task = self.named(context, params)?;
        if !calls.running().cancel(&context.caller.scope, &task.call) {
            self.row_of(context, &task.call).await?.ok_or_else(missing)?;
        }
        reply(context.client.era, Reuse::Never, &json!({}))
    }

    /// Takes answers for a task: calls ask before they run, so none waits for any.
    pub(in crate::mcp) async fn update_task(
        &self,
        calls: &CallService,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let task = self.named(context, params)?;
        if !calls.running().contains(&context.caller.scope, &task.call) {
            self.row_of(context, &task.call).await?.ok_or_else(missing)?;
        }
        reply(context.client.era, Reuse::Never, &json!({}))
    }

    /// The task that a request is about.
    fn named<'a>(
        &self,
        context: &RequestContext,
        params: &'a Map<String, Value>,
    ) -> Result<Task<'a>, RpcError> {
        if !context.client.takes_tasks() {
            let needed = json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}});
            return Err(RpcError::needs(EXTENSION).with(needed));
        }
        let id = params.get("taskId").and_then(Value::as_str);
        let id = id.ok_or_else(|| RpcError::invalid("`taskId` says which task"))?;
        let now = self.app.room.clock().now();
        match request_state::open(&*self.app.vault, &context.caller.name, EXTENSION, now, id) {
            Ok(RequestState::Task { call, began }) => {
                Ok(Task { id, call, began: Timestamp::from_micros(began) })
            }
            Ok(RequestState::Parked(_) | RequestState::Own(_)) | Err(_) => Err(missing()),
        }
    }

    /// Counts what the client reads of a call that it need not have made itself, or not lately.
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

/// How far a task is.
enum Stage {
    Working,
    Cancelled,
    /// The fields of its result, or why there is none.
    Ended(Result<String, RpcError>),
}

/// A task as its id names it.
struct Task<'a> {
    id: &'a str,
    call: CallId,
    began: Timestamp,
}

fn missing() -> RpcError {
    RpcError::invalid("there is no such task, or it is not yours")
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
        ("ttlMs", json!(u64::try_from(TASK_LASTS.as_millis()).unwrap_or(u64::MAX))),
        ("pollIntervalMs", json!(ASK_EVERY_MS)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What the journal keeps of a call that has ended, as it was reported.
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
        // What came of it was counted when it ended.
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
    use crate::mcp::protocol::version::Era;

    #[test]
    fn a_denial_is_told_as_one_and_a_failure_as_one() {
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
    fn a_result_whose_whole_is_gone_is_still_a_shortened_one() {
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
        let told = content::called(&report(&call), era, OutputContract::Schema, &ResultArtifacts::default());
        assert!(told.contains("was not kept") && !told.contains("structuredContent"), "{told}");
        call.result = None;
        assert!(is_truncated(&call));
    }

    #[test]
    fn what_a_call_has_offered_is_told_again() {
        let at = Timestamp::from_micros(1);
        let mut call = CallRecord::arrived(CallId::new("call_1"), Scope::project("p"), "app:x", at);
        call.status = CallStatus::Done;
        call.offers = vec![Offer::OpenUrl { url: "https://example.com/".to_owned() }];
        let offers = call.offers.clone();
        assert!(matches!(report(&call).outcome, Outcome::Done(done) if done.offers == offers));
    }
}
