//! Calls of tools.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolroom::call::{CallReport, CallRequest, Outcome, Progress, ProgressSink};
use toolroom::catalog::Entry;
use toolroom::ledger::{ArtifactId, Artifacts as _, CallId};

use super::content::{self, Promise};
use super::desk::{Calls, Desk};
use super::dialogue::{Brought, Dialogue, HeldDialogue, Wanted};
use super::listing::promise;
use super::names;
use super::peer::Asker;
use super::progress::Signs;
use super::refusal::Refusal;
use super::reply::{Reuse, finish};
use super::state::{self, Carried};
use super::tasks::Made;

/// What the journal says of calls that came in here.
const ENTRANCE: &str = "mcp";

/// A call that somebody asks for.
pub(super) struct Wish<'a> {
    pub(super) calls: &'a Arc<dyn Calls>,
    pub(super) asker: &'a Asker,
    /// The tool.
    pub(super) entry: &'a Entry,
    pub(super) stop: &'a CancellationToken,
    /// Where signs of life go.
    pub(super) progress: Option<ProgressSink>,
}

impl Desk {
    /// Calls a tool, or goes on with a call that was parked.
    pub(super) async fn call(
        &self,
        calls: &Arc<dyn Calls>,
        asker: &Asker,
        mut params: Map<String, Value>,
        stop: &CancellationToken,
    ) -> Result<String, Refusal> {
        let Some(Value::String(name)) = params.remove("name") else {
            return Err(Refusal::invalid("`name` says which tool"));
        };
        let project = &asker.peer.scope.project;
        let entry = names::find(self.app.room.catalog(), project, &name);
        let entry = entry.ok_or_else(|| unknown(&name))?;
        let arguments = content::object(params.remove("arguments"));
        let arguments = arguments.ok_or_else(|| Refusal::invalid("`arguments` has to be an object"))?;
        let brought = Brought::take(asker, &mut params)?;
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
        let signs = Signs::of(&asker.voice, &name, token, asker.client.level);
        let progress =
            signs.map(|signs| Arc::new(move |sign: Progress| signs.pass_on(&sign)) as ProgressSink);
        let wish = Wish { calls, asker, entry: &entry, stop, progress };
        let state = match &brought.state {
            Some(text) => {
                let now = self.app.room.clock().now();
                let about = entry.spec().id.as_str();
                Some(state::open(&*self.app.vault, &asker.peer.name, about, now, text)?)
            }
            None => None,
        };
        match state {
            Some(Carried::Parked(call)) => self.answered(&wish, &call, &arguments, &brought.answers).await,
            Some(Carried::Own(own)) => self.make(&wish, arguments, brought.answers, Some(own)).await,
            Some(Carried::Task(_)) => Err(Refusal::invalid("`requestState` names a task; see `tasks/get`")),
            None => match self.parked_before(&wish, &arguments).await? {
                Some(call) => self.go_on(&wish, call).await,
                None => self.make(&wish, arguments, brought.answers, None).await,
            },
        }
    }

    /// Makes a new call.
    async fn make(
        &self,
        wish: &Wish<'_>,
        arguments: Map<String, Value>,
        answers: Map<String, Value>,
        own: Option<Value>,
    ) -> Result<String, Refusal> {
        let id = CallId::fresh(self.app.room.clock());
        let mut request = CallRequest::new(wish.entry.spec().id.as_str())
            .id(id.clone())
            .arguments(arguments)
            .scope(wish.asker.peer.scope.clone())
            .entrance(ENTRANCE)
            .cancellation(wish.stop.clone());
        request.progress.clone_from(&wish.progress);
        let fixtures = self.fixtures();
        let dialogue = fixtures.map(|_| Arc::new(Dialogue::new(wish.asker.clone(), answers, own)));
        let held = fixtures.zip(dialogue.as_ref()).map(|(fixtures, dialogue)| {
            HeldDialogue::new(Arc::clone(&fixtures.dialogues), id, Arc::clone(dialogue))
        });
        let report = if wish.asker.client.takes_tasks() {
            match self.make_or_go_on(wish, request, held).await? {
                Made::Report(report) => *report,
                Made::Task(text) => return Ok(text),
            }
        } else {
            let report = wish.calls.call(request).await;
            drop(held);
            report
        };
        match dialogue.and_then(|dialogue| dialogue.wanted()) {
            // In the earlier era nothing can be asked for afterwards.
            Some(Wanted::Capability(_) | Wanted::Answers { .. }) if !wish.asker.is_modern() => {
                self.told(wish, &report).await
            }
            Some(wanted) => self.asks_for(wish.asker, wish.entry.spec().id.as_str(), wanted),
            None => self.told(wish, &report).await,
        }
    }

    /// What a call came to, as the text of a result.
    pub(super) async fn told(&self, wish: &Wish<'_>, report: &CallReport) -> Result<String, Refusal> {
        let era = wish.asker.client.era;
        let promise = promise(wish.entry, era);
        let text = match &report.outcome {
            Outcome::Pending(pending) => {
                return Box::pin(self.parked(wish, &report.call_id, pending)).await;
            }
            Outcome::Done(done) if done.truncated && promise == Promise::Schema => {
                match self.whole(wish.asker, done.artifact.as_ref()).await? {
                    Some(whole) => content::called(report, era, promise, Some(&whole)),
                    None => content::failed("the result is too large to be told, and was not kept"),
                }
            }
            _ => content::called(report, era, promise, None),
        };
        Ok(finish(era, Reuse::Never, text))
    }

    /// A result before it was shortened.
    async fn whole(&self, asker: &Asker, artifact: Option<&ArtifactId>) -> Result<Option<Value>, Refusal> {
        let Some(artifact) = artifact else { return Ok(None) };
        let found = self.app.store.artifact(&asker.peer.scope, artifact).await;
        let found = found.map_err(|error| Refusal::failure(&error))?;
        Ok(found.and_then(|artifact| serde_json::from_slice(&artifact.bytes).ok()))
    }
}

fn unknown(name: &str) -> Refusal {
    let name: String = name.chars().take(128).collect();
    Refusal::invalid(format!("unknown tool `{name}`; see `tools/list`"))
}
