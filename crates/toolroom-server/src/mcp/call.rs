//! Calls of tools.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolroom::call::{CallReport, CallRequest, Outcome, Progress, ProgressSink};
use toolroom::catalog::Entry;
use toolroom::ledger::CallId;

use super::content::{self, Promise};
use super::desk::{Calls, Desk};
use super::dialogue::{Brought, Dialogue, HeldDialogue, Wanted};
use super::listing::promise;
use super::names;
use super::params::Params;
use super::peer::Asker;
use super::progress::Signs;
use super::refusal::Refusal;
use super::reply::{Reuse, finish};
use super::state::{self, Carried};
use super::tasks::Made;

/// What the journal says of calls that came in here.
pub(super) const ENTRANCE: &str = "mcp";

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

impl Wish<'_> {
    /// The call, under this id.
    fn request(&self, id: CallId, arguments: Map<String, Value>) -> CallRequest {
        let (tool, peer) = (self.entry.spec().id.as_str(), &self.asker.peer);
        let request = CallRequest::through(ENTRANCE, tool, peer.scope.clone(), self.stop.clone());
        let request =
            request.id(id).arguments(arguments).metadata(peer.facts.clone()).source(self.asker.source());
        let caller = Some(Arc::clone(&peer.name));
        CallRequest { caller, progress: self.progress.clone(), ..request }
    }
}

impl Desk {
    /// Calls a tool, or goes on with a call that was parked.
    pub(super) async fn call(
        &self,
        calls: &Arc<dyn Calls>,
        asker: &Asker,
        mut params: Box<Params>,
        stop: &CancellationToken,
    ) -> Result<String, Refusal> {
        let Some(Value::String(name)) = params.name.take() else {
            return Err(Refusal::invalid("`name` says which tool"));
        };
        let project = &asker.peer.scope.project;
        let catalog = self.app.room.catalog();
        let entry = names::find(catalog, project, &name);
        let entry = entry.ok_or_else(|| unknown(&name, names::hint(catalog, project, &name)))?;
        let arguments = content::object(params.arguments.take());
        let arguments = arguments.ok_or_else(|| Refusal::invalid("`arguments` has to be an object"))?;
        let brought = Brought::take(asker, &mut params.others)?;
        let signs = Signs::of(&asker.voice, &name, params.meta.progress_token.take(), asker.client.level);
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
        let own = match state {
            Some(Carried::Own(own)) => Some(own),
            Some(Carried::Parked(call)) => {
                return Box::pin(self.answered(&wish, &call, &arguments, &brought.answers)).await;
            }
            Some(Carried::Task { .. }) => {
                return Err(Refusal::invalid("`requestState` names a task; see `tasks/get`"));
            }
            None => match self.parked_before(&wish, &arguments).await? {
                Some(call) => return Box::pin(self.go_on(&wish, call)).await,
                None => None,
            },
        };
        self.make(&wish, arguments, brought.answers, own).await
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
        let request = wish.request(id.clone(), arguments);
        let fixtures = self.fixtures();
        let dialogue = fixtures.map(|_| Arc::new(Dialogue::new(wish.asker.clone(), answers, own)));
        let held = fixtures.zip(dialogue.as_ref()).map(|(fixtures, dialogue)| {
            HeldDialogue::new(Arc::clone(&fixtures.dialogues), id.clone(), Arc::clone(dialogue))
        });
        let report = if wish.asker.client.takes_tasks() {
            let work = |calls: Arc<dyn Calls>, stop| async move {
                let report = calls.call(request.cancellation(stop)).await;
                drop(held);
                report
            };
            match Box::pin(self.or_go_on(wish, &id, work)).await? {
                Made::Ended(report) => *report,
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

    /// What a call came to, as the text of a result. One that waits asks.
    pub(super) async fn told(&self, wish: &Wish<'_>, report: &CallReport) -> Result<String, Refusal> {
        let era = wish.asker.client.era;
        if let Outcome::Pending(pending) = &report.outcome {
            return Box::pin(self.parked(wish, &report.call_id, pending)).await;
        }
        let text = self.outcome(wish.asker, promise(wish.entry, era), report).await?;
        Ok(finish(era, Reuse::Never, text))
    }

    /// How a call ended, as the fields of a result.
    pub(super) async fn outcome(
        &self,
        asker: &Asker,
        promise: Promise,
        report: &CallReport,
    ) -> Result<String, Refusal> {
        let kept = self.kept(&asker.peer.scope, report, promise).await?;
        Ok(content::called(report, asker.client.era, promise, &kept))
    }
}

fn unknown(name: &str, hint: Option<String>) -> Refusal {
    let name: String = name.chars().take(128).collect();
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    Refusal::invalid(format!("unknown tool `{name}`; see `tools/list`{hint}"))
}
