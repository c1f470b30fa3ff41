//! The live runs of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom::agent::{Agent, ClientCall, EventListener, ResumeRun, RunError, RunReport, SendRequest};
use toolroom::call::{CallReport, DeliverError, Delivery};
use toolroom::conversation::{Conversations, Run, RunId, TakeRunError};
use toolroom::scope::Scope;
use toolroom::tool::ClientTools;

use super::encoded::EventCache;
use super::feed::Feed;
use crate::agents::{self, AgentChoice, OpenAgentError};
use crate::app::App;
use crate::telemetry::{self, RunTrace, Tracer};

/// Concurrent runs.
const MAX_RUNS: usize = 2_000;

/// How long runs may continue during shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

/// Works on runs, independently of the clients that started or watch them.
pub(crate) struct Runs {
    pub(super) app: Arc<App>,
    /// Exports traces, if a collector is configured.
    tracer: Option<Arc<Tracer>>,
    live: Mutex<HashMap<RunId, LiveRun>>,
    pub(super) event_cache: EventCache,
    /// Changes whenever a feed is added or removed.
    changes: watch::Sender<u64>,
    tasks: TaskTracker,
    /// Cancelled at the end of shutdown: runs release their lease.
    abort: CancellationToken,
}

#[derive(Clone)]
struct LiveRun {
    feed: Arc<Feed>,
    stop: CancellationToken,
}

/// Registers a live run until it is dropped, however the work ends.
struct LiveGuard {
    runs: Arc<Runs>,
    run: RunId,
    feed: Arc<Feed>,
}

impl Drop for LiveGuard {
    fn drop(&mut self) {
        self.runs.live().remove(&self.run);
        self.feed.close();
        self.runs.changes.send_modify(|count| *count += 1);
    }
}

/// A run that was started or resumed.
#[derive(Debug)]
pub(crate) struct StartedRun {
    pub(crate) run: RunId,
    /// Its events. The run may already have ended.
    pub(super) feed: Arc<Feed>,
}

/// Why a run was not started or resumed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartRunError {
    #[error("too many runs at once (limit {MAX_RUNS}); try again later")]
    Full,
    #[error("the server is shutting down; try again in a moment")]
    Ending,
    #[error(transparent)]
    Agent(#[from] OpenAgentError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("there is no run `{0}`")]
    NotFound(RunId),
    #[error("the run failed before it started")]
    Broken,
}

impl Runs {
    pub(crate) fn new(app: Arc<App>, tracer: Option<Arc<Tracer>>) -> Arc<Self> {
        Arc::new(Self {
            app,
            tracer,
            live: Mutex::default(),
            event_cache: EventCache::default(),
            changes: watch::Sender::new(0),
            tasks: TaskTracker::new(),
            abort: CancellationToken::new(),
        })
    }

    pub(crate) fn conversations(&self) -> &dyn Conversations {
        &self.app.store
    }

    /// Starts a run in the background. Resolves once it has started.
    ///
    /// # Errors
    /// When it cannot start.
    pub(crate) async fn send(
        self: &Arc<Self>,
        choice: &AgentChoice,
        mut request: SendRequest,
    ) -> Result<StartedRun, StartRunError> {
        let agent = agents::open(&self.app, &request.scope, choice).await?.agent;
        let clock = self.app.room.clock();
        let run = request.run.get_or_insert_with(|| RunId::fresh(clock)).clone();
        let live = LiveRun { feed: Feed::new(), stop: request.cancellation.clone() };
        request.listener = Some(self.listener(&live.feed));
        self.spawn(run, live, Box::pin(async move { agent.send(request).await })).await
    }

    /// Resumes a run that waits, or whose process died. Resolves once it has resumed.
    ///
    /// # Errors
    /// When it cannot resume.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        scope: &Scope,
        id: &RunId,
    ) -> Result<StartedRun, StartRunError> {
        self.resume_with(scope, id, None).await
    }

    /// Resumes a run with the current tools of its client.
    ///
    /// # Errors
    /// When it cannot resume.
    pub(crate) async fn resume_with(
        self: &Arc<Self>,
        scope: &Scope,
        id: &RunId,
        tools: Option<ClientTools>,
    ) -> Result<StartedRun, StartRunError> {
        let (run, agent) = self.open(scope, id).await?;
        let mut request = ResumeRun::new(run.id.clone(), run.scope.clone());
        request.client_tools = tools;
        let live = LiveRun { feed: Feed::new(), stop: request.cancellation.clone() };
        request.listener = Some(self.listener(&live.feed));
        self.spawn(run.id, live, Box::pin(async move { agent.resume(request).await })).await
    }

    /// Publishes events to a feed, counts and traces them.
    fn listener(&self, feed: &Arc<Feed>) -> EventListener {
        let (feed, metrics) = (Arc::clone(feed), Arc::clone(&self.app.metrics));
        let above = telemetry::current_request().and_then(|request| request.span);
        let trace = self.tracer.clone().map(|tracer| RunTrace::begin(tracer, above));
        Arc::new(move |event| {
            metrics.event(&event.event);
            trace.iter().for_each(|trace| trace.event(event));
            feed.push(event);
        })
    }

    /// Cancels a run that is live in this process, or waits.
    ///
    /// # Errors
    /// When the run does not exist, has ended, or another process works on it.
    pub(crate) async fn cancel(self: &Arc<Self>, scope: &Scope, id: &RunId) -> Result<(), StartRunError> {
        let (run, agent) = self.open(scope, id).await?;
        let live = self.live().get(id).cloned();
        if let Some(live) = live {
            live.stop.cancel();
            live.feed.wait_until_closed().await;
            return Ok(());
        }
        agent.cancel(ResumeRun::new(run.id, run.scope)).await?;
        Ok(())
    }

    /// The calls of a run that its client has to execute.
    ///
    /// # Errors
    /// When there is no such run, or they cannot be read.
    pub(crate) async fn client_calls(
        &self,
        scope: &Scope,
        id: &RunId,
    ) -> Result<Vec<ClientCall>, StartRunError> {
        let (run, agent) = self.open(scope, id).await?;
        Ok(agent.client_calls(&run.scope, &run.id).await.map_err(RunError::from)?)
    }

    /// Records the result of a client tool. The run continues when it is resumed.
    ///
    /// # Errors
    /// The outer error when the run or its agent cannot be opened, the inner one when the kernel rejects the result.
    pub(crate) async fn deliver(
        &self,
        id: &RunId,
        delivery: Delivery,
    ) -> Result<Result<CallReport, DeliverError>, StartRunError> {
        let (_, agent) = self.open(&delivery.scope, id).await?;
        Ok(agent.deliver(delivery).await)
    }

    /// Whether this process works on a run.
    pub(crate) fn is_live(&self, run: &RunId) -> bool {
        self.live().contains_key(run)
    }

    /// A run and its agent, with the model that has answered so far.
    async fn open(&self, scope: &Scope, id: &RunId) -> Result<(Run, Agent), StartRunError> {
        let run = self.conversations().run(scope, id).await.map_err(RunError::from)?;
        let run = run.ok_or_else(|| StartRunError::NotFound(id.clone()))?;
        let last_model = run.model.as_deref().and_then(|model| model.parse().ok());
        let choice = AgentChoice { agent: Some(run.agent.to_string()), last_model, ..AgentChoice::default() };
        let agent = agents::open(&self.app, &run.scope, &choice).await?.agent;
        Ok((run, agent))
    }

    /// Spawns the work on a run. Resolves at its first event.
    async fn spawn(
        self: &Arc<Self>,
        run: RunId,
        live: LiveRun,
        work: impl Future<Output = Result<RunReport, RunError>> + Send + 'static,
    ) -> Result<StartedRun, StartRunError> {
        let feed = Arc::clone(&live.feed);
        let guard = self.claim(&run, live).await?;
        let (abort, name) = (self.abort.clone(), run.clone());
        let task = self.tasks.spawn(telemetry::in_current_request(async move {
            // A run that does not finish in time releases its lease; another process resumes it.
            let ended = tokio::select! {
                ended = work => Some(ended),
                () = abort.cancelled() => None,
            };
            if !matches!(ended, Some(Ok(_))) {
                guard.feed.retract_end();
            }
            drop(guard);
            match ended {
                Some(Err(error)) => {
                    tracing::debug!("`{name}` ended early: {error}");
                    Err(error)
                }
                Some(Ok(_)) | None => Ok(()),
            }
        }));
        // Work that ends without an event has not started.
        feed.wait_for(0).await;
        if feed.segment().is_none() {
            task.await.map_err(|_| StartRunError::Broken)??;
        }
        Ok(StartedRun { run, feed })
    }

    /// Registers a live run. Fails if it is live already, but waits for a run that is about to end or wait.
    async fn claim(self: &Arc<Self>, run: &RunId, live: LiveRun) -> Result<LiveGuard, StartRunError> {
        let feed = Arc::clone(&live.feed);
        loop {
            if self.abort.is_cancelled() || self.tasks.is_closed() {
                return Err(StartRunError::Ending);
            }
            let other = {
                let mut all = self.live();
                match all.get(run) {
                    Some(other) => Arc::clone(&other.feed),
                    None if all.len() >= MAX_RUNS => return Err(StartRunError::Full),
                    None => {
                        all.insert(run.clone(), live);
                        break;
                    }
                }
            };
            if !other.is_idle() {
                return Err(RunError::Take(TakeRunError::Busy(run.clone())).into());
            }
            other.wait_until_closed().await;
        }
        self.changes.send_modify(|count| *count += 1);
        Ok(LiveGuard { runs: Arc::clone(self), run: run.clone(), feed })
    }

    /// Waits until this process no longer works on a run.
    pub(crate) async fn wait_until_idle(&self, run: &RunId) {
        if let Some(feed) = self.feed(run) {
            feed.wait_until_closed().await;
        }
    }

    /// The feed of a live run.
    pub(super) fn feed(&self, run: &RunId) -> Option<Arc<Feed>> {
        self.live().get(run).map(|live| Arc::clone(&live.feed))
    }

    /// Waits until a run has another feed or none, at most `longest`.
    pub(super) async fn wait_for_other_feed(&self, run: &RunId, old: &Feed, longest: Duration) {
        let other = || self.feed(run).is_none_or(|feed| !std::ptr::eq(feed.as_ref(), old));
        self.wait_until(other, longest).await;
    }

    /// Waits until a run is live in this process, at most `longest`.
    pub(super) async fn wait_for_feed(&self, run: &RunId, longest: Duration) {
        self.wait_until(|| self.feed(run).is_some(), longest).await;
    }

    async fn wait_until(&self, holds: impl Fn() -> bool, longest: Duration) {
        let mut changes = self.changes.subscribe();
        // On timeout the caller polls again.
        drop(tokio::time::timeout(longest, changes.wait_for(|_| holds())).await);
    }

    pub(crate) fn live_count(&self) -> usize {
        self.live().len()
    }

    /// Waits for live runs, then aborts those that take too long.
    pub(crate) async fn shut_down(&self) {
        self.tasks.close();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, self.tasks.wait()).await.is_err() {
            self.abort.cancel();
            self.tasks.wait().await;
        }
    }

    fn live(&self) -> MutexGuard<'_, HashMap<RunId, LiveRun>> {
        // A panic cannot leave the map half changed.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
