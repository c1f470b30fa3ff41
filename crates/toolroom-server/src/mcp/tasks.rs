//! Calls that take long, as tasks (the extension `io.modelcontextprotocol/tasks`).
//!
//! A task is its call, and what became of it is in the journal: it can be asked for in whichever process. Its id is the
//! call's, sealed for whoever made it, and leads nobody else there.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolroom::call::{CallReport, CallRequest, Done, Outcome};
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallRecord, CallStatus, Journal as _};
use toolroom::tool::{ErrorKind, Origin, ToolError};

use super::call::Wish;
use super::content::{self, Promise};
use super::desk::{Calls, Desk};
use super::peer::Asker;
use super::refusal::Refusal;
use super::reply::{Reuse, reply, server_info};
use super::state::{self, Carried, TASK_LASTS};
use crate::telemetry;

/// The extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How long a call is waited for before it becomes a task.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// How soon to ask how far a task is.
const ASK_EVERY_MS: u32 = 1_000;

/// What a call came to, or that it goes on.
pub(super) enum Made {
    Report(Box<CallReport>),
    Task(String),
}

impl Desk {
    /// Makes a call that becomes a task if it takes long. `held` is kept until the call has ended.
    pub(super) async fn make_or_go_on(
        &self,
        wish: &Wish<'_>,
        mut request: CallRequest,
        held: impl Send + 'static,
    ) -> Result<Made, Refusal> {
        let began = self.app.room.clock().now();
        let id = match &request.id {
            Some(id) => {
                let (name, carried) = (&wish.asker.peer.name, Carried::Task(id.clone()));
                state::seal(&*self.app.vault, name, EXTENSION, began, carried)?
            }
            None => String::new(),
        };
        let calls = wish.calls.clone();
        // It outlives whoever asked for it, once they know its name.
        let stop = calls.closing();
        request.cancellation = stop.clone();
        let mut running = tokio::spawn(telemetry::carried(async move {
            let report = calls.call(request).await;
            drop(held);
            report
        }));
        let ended = tokio::select! {
            report = &mut running => report,
            () = wish.stop.cancelled() => {
                stop.cancel();
                running.await
            }
            () = tokio::time::sleep(PATIENCE) => {
                let mut task = described(&id, "working", began, began);
                task.insert("resultType".to_owned(), "task".into());
                task.insert("_meta".to_owned(), json!({"io.modelcontextprotocol/serverInfo": server_info()}));
                return Ok(Made::Task(Value::Object(task).to_string()));
            }
        };
        ended.map(|report| Made::Report(Box::new(report))).map_err(|error| Refusal::failure(&error))
    }

    /// How far a task is, and what came of it.
    pub(super) async fn task(&self, asker: &Asker, params: &Map<String, Value>) -> Result<String, Refusal> {
        let (id, call) = self.call_of(asker, params).await?;
        let status = match call.status {
            CallStatus::Begun | CallStatus::Pending => "working",
            CallStatus::Cancelled => "cancelled",
            CallStatus::Done | CallStatus::Failed | CallStatus::Denied => "completed",
            CallStatus::Unknown => "failed",
        };
        let began = call.begun_at.unwrap_or(call.asked_at);
        let mut task = described(id, status, began, call.ended_at.unwrap_or(began));
        match status {
            "completed" => {
                let text = content::called(&report(&call), asker.client.era, Promise::None, None);
                let result: Value = serde_json::from_str(&text).map_err(|error| Refusal::failure(&error))?;
                task.insert("result".to_owned(), result);
            }
            "failed" => {
                let text = "it began, and nobody knows how it ended; check what happened";
                task.insert("error".to_owned(), json!(Refusal::new(Refusal::INTERNAL, text)));
            }
            _ => {}
        }
        reply(asker.client.era, Reuse::Never, &task)
    }

    /// Stops a task. One that has ended stays as it is.
    pub(super) async fn cancel_task(
        &self,
        calls: &dyn Calls,
        asker: &Asker,
        params: &Map<String, Value>,
    ) -> Result<String, Refusal> {
        let (_, call) = self.call_of(asker, params).await?;
        calls.stop(&asker.peer.scope, &call.id);
        reply(asker.client.era, Reuse::Never, &json!({}))
    }

    /// Takes answers for a task: calls ask before they run, so none waits for any.
    pub(super) async fn update_task(
        &self,
        asker: &Asker,
        params: &Map<String, Value>,
    ) -> Result<String, Refusal> {
        self.call_of(asker, params).await?;
        reply(asker.client.era, Reuse::Never, &json!({}))
    }

    async fn call_of<'a>(
        &self,
        asker: &Asker,
        params: &'a Map<String, Value>,
    ) -> Result<(&'a str, CallRecord), Refusal> {
        if !asker.client.takes_tasks() {
            let needed = json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}});
            return Err(Refusal::needs(EXTENSION).with(needed));
        }
        let id = params.get("taskId").and_then(Value::as_str);
        let id = id.ok_or_else(|| Refusal::invalid("`taskId` says which task"))?;
        let missing = || Refusal::invalid("there is no such task, or it is not yours");
        let now = self.app.room.clock().now();
        let carried = state::open(&*self.app.vault, &asker.peer.name, EXTENSION, now, id);
        let Ok(Carried::Task(call)) = carried else { return Err(missing()) };
        let found = self.app.store.call(&asker.peer.scope, &call).await;
        let found = found.map_err(|error| Refusal::failure(&error))?;
        found.map(|call| (id, call)).ok_or_else(missing)
    }
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
            truncated: call.artifact.is_some(),
            artifact: call.artifact.clone(),
            origin: Origin::Untrusted,
        }),
        _ => Outcome::Failed(ToolError::new(call.kind.unwrap_or(ErrorKind::Tool), error())),
    };
    CallReport {
        call_id: call.id.clone(),
        tool: call.tool.to_string(),
        outcome,
        rule: call.rule.clone(),
        duration: Duration::ZERO,
    }
}
