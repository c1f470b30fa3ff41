//! The runs the server works on.

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

use super::feed::Feed;
use super::told::Shelf;
use crate::agents::{self, Choice, OpenAgentError};
use crate::app::App;
use crate::telemetry::{self, RunTrace, Tracer};

/// Runs that are worked on at the same time.
const MOST: usize = 2_000;

/// How long runs may go on once the server is asked to end.
const PATIENCE: Duration = Duration::from_secs(8);

/// Works on runs, whoever watches or goes away.
pub(crate) struct Runs {
    pub(super) app: Arc<App>,
    /// Who takes traces, if somebody does.
    tracer: Option<Arc<Tracer>>,
    live: Mutex<HashMap<RunId, Live>>,
    /// What watchers are told out of the store.
    pub(super) shelf: Shelf,
    /// Counts feeds that have come and gone.
    changes: watch::Sender<u64>,
    tasks: TaskTracker,
    /// Nobody may take longer.
    halt: CancellationToken,
}

/// A run that is being worked on.
#[derive(Clone)]
struct Live {
    feed: Arc<Feed>,
    stop: CancellationToken,
}

/// The turn of the one who works on a run here. Given back however the work ends, so that nobody waits for nobody.
struct Turn {
    runs: Arc<Runs>,
    run: RunId,
    feed: Arc<Feed>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.runs.live().remove(&self.run);
        self.feed.close();
        self.runs.changes.send_modify(|count| *count += 1);
    }
}

/// A run that has begun.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) run: RunId,
    /// What happens in it. It may be over before anybody looks.
    pub(super) feed: Arc<Feed>,
}

/// Why a run did not begin or go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeginError {
    /// There are enough.
    #[error("{MOST} runs are being worked on; try again later")]
    Full,
    /// The server ends.
    #[error("the server is about to end; try again in a moment")]
    Ending,
    /// Nobody answers.
    #[error(transparent)]
    Agent(#[from] OpenAgentError),
    /// It cannot begin.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is no such run.
    #[error("there is no run `{0}`")]
    NotFound(RunId),
    /// It broke off before it began.
    #[error("the run broke off before it began")]
    Broken,
}

impl Runs {
    pub(crate) fn new(app: Arc<App>, tracer: Option<Arc<Tracer>>) -> Arc<Self> {
        Arc::new(Self {
            app,
            tracer,
            live: Mutex::default(),
            shelf: Shelf::default(),
            changes: watch::Sender::new(0),
            tasks: TaskTracker::new(),
            halt: CancellationToken::new(),
        })
    }

    pub(crate) fn conversations(&self) -> &dyn Conversations {
        &self.app.store
    }

    /// Begins a run and works on it. Resolves once it has begun.
    ///
    /// # Errors
    /// When it cannot begin.
    pub(crate) async fn send(
        self: &Arc<Self>,
        choice: &Choice,
        mut request: SendRequest,
    ) -> Result<Begun, BeginError> {
        let agent = agents::open(&self.app, &request.scope, choice).await?.agent;
        let clock = self.app.room.clock();
        let run = request.run.get_or_insert_with(|| RunId::fresh(clock)).clone();
        let live = Live { feed: Feed::new(), stop: request.cancellation.clone() };
        request.listener = Some(self.listener(&live.feed));
        self.work(run, live, Box::pin(async move { agent.send(request).await })).await
    }

    /// Goes on with a run that waits, or whose process died. Resolves once it goes on.
    ///
    /// # Errors
    /// When it cannot go on.
    pub(crate) async fn resume(self: &Arc<Self>, scope: &Scope, id: &RunId) -> Result<Begun, BeginError> {
        self.resume_with(scope, id, None).await
    }

    /// Goes on with a run, whose client may have other tools by now.
    ///
    /// # Errors
    /// When it cannot go on.
    pub(crate) async fn resume_with(
        self: &Arc<Self>,
        scope: &Scope,
        id: &RunId,
        tools: Option<ClientTools>,
    ) -> Result<Begun, BeginError> {
        let (run, agent) = self.known(scope, id).await?;
        let mut request = ResumeRun::new(run.id.clone(), run.scope.clone());
        request.client_tools = tools;
        let live = Live { feed: Feed::new(), stop: request.cancellation.clone() };
        request.listener = Some(self.listener(&live.feed));
        self.work(run.id, live, Box::pin(async move { agent.resume(request).await })).await
    }

    /// Tells a feed what happens, counts it, and traces it.
    fn listener(&self, feed: &Arc<Feed>) -> EventListener {
        let (feed, figures) = (Arc::clone(feed), Arc::clone(&self.app.figures));
        let above = telemetry::current().and_then(|request| request.span);
        let trace = self.tracer.clone().map(|tracer| RunTrace::begin(tracer, above));
        Arc::new(move |event| {
            figures.event(&event.event);
            trace.iter().for_each(|trace| trace.event(event));
            feed.tell(event);
        })
    }

    /// Stops a run: one that is worked on here at once, one that waits for good.
    ///
    /// # Errors
    /// When there is none, it has ended, or another process works on it.
    pub(crate) async fn cancel(self: &Arc<Self>, scope: &Scope, id: &RunId) -> Result<(), BeginError> {
        let (run, agent) = self.known(scope, id).await?;
        let live = self.live().get(id).cloned();
        if let Some(live) = live {
            live.stop.cancel();
            live.feed.wait_for_end().await;
            return Ok(());
        }
        agent.cancel(ResumeRun::new(run.id, run.scope)).await?;
        Ok(())
    }

    /// The calls of a run that its client has to run.
    ///
    /// # Errors
    /// When there is no such run, or they cannot be read.
    pub(crate) async fn client_calls(
        &self,
        scope: &Scope,
        id: &RunId,
    ) -> Result<Vec<ClientCall>, BeginError> {
        let (run, agent) = self.known(scope, id).await?;
        Ok(agent.client_calls(&run.scope, &run.id).await.map_err(RunError::from)?)
    }

    /// Takes what a client says came of a call of a run.
    ///
    /// # Errors
    /// When there is no such run. What the kernel does not take is told apart.
    pub(crate) async fn deliver(
        &self,
        id: &RunId,
        delivery: Delivery,
    ) -> Result<Result<CallReport, DeliverError>, BeginError> {
        let (_, agent) = self.known(&delivery.scope, id).await?;
        Ok(agent.deliver(delivery).await)
    }

    /// Whether somebody works on a run here.
    pub(crate) fn is_live(&self, run: &RunId) -> bool {
        self.live().contains_key(run)
    }

    /// A run and whoever works on it: the agent it was begun with, asked as it was asked before.
    async fn known(&self, scope: &Scope, id: &RunId) -> Result<(Run, Agent), BeginError> {
        let run = self.conversations().run(scope, id).await.map_err(RunError::from)?;
        let run = run.ok_or_else(|| BeginError::NotFound(id.clone()))?;
        let so_far = run.model.as_deref().and_then(|model| model.parse().ok());
        let choice = Choice { agent: Some(run.agent.to_string()), so_far, ..Choice::default() };
        let agent = agents::open(&self.app, &run.scope, &choice).await?.agent;
        Ok((run, agent))
    }

    /// Works on a run in the background. Resolves once the first event was told.
    async fn work(
        self: &Arc<Self>,
        run: RunId,
        live: Live,
        work: impl Future<Output = Result<RunReport, RunError>> + Send + 'static,
    ) -> Result<Begun, BeginError> {
        let feed = Arc::clone(&live.feed);
        let turn = self.take_turn(&run, live).await?;
        let (halt, name) = (self.halt.clone(), run.clone());
        let task = self.tasks.spawn(telemetry::carried(async move {
            // Whoever is not done in time gives the run back: the next process goes on with it.
            let ended = tokio::select! {
                ended = work => Some(ended),
                () = halt.cancelled() => None,
            };
            if !matches!(ended, Some(Ok(_))) {
                turn.feed.retract_end();
            }
            drop(turn);
            match ended {
                Some(Err(error)) => {
                    tracing::debug!("`{name}` ended early: {error}");
                    Err(error)
                }
                Some(Ok(_)) | None => Ok(()),
            }
        }));
        // Whoever ends without a word has not begun.
        feed.wait_for(0).await;
        if feed.stretch().is_none() {
            task.await.map_err(|_| BeginError::Broken)??;
        }
        Ok(Begun { run, feed })
    }

    /// The turn to work on a run. Whoever has it already keeps it; whoever is about to give it back is waited for.
    async fn take_turn(self: &Arc<Self>, run: &RunId, live: Live) -> Result<Turn, BeginError> {
        let feed = Arc::clone(&live.feed);
        loop {
            if self.halt.is_cancelled() || self.tasks.is_closed() {
                return Err(BeginError::Ending);
            }
            let other = {
                let mut all = self.live();
                match all.get(run) {
                    Some(other) => Arc::clone(&other.feed),
                    None if all.len() >= MOST => return Err(BeginError::Full),
                    None => {
                        all.insert(run.clone(), live);
                        break;
                    }
                }
            };
            if !other.is_at_rest() {
                return Err(RunError::Take(TakeRunError::Busy(run.clone())).into());
            }
            other.wait_for_end().await;
        }
        self.changes.send_modify(|count| *count += 1);
        Ok(Turn { runs: Arc::clone(self), run: run.clone(), feed })
    }

    /// Waits until nobody works on a run here.
    pub(crate) async fn rest(&self, run: &RunId) {
        if let Some(feed) = self.feed(run) {
            feed.wait_for_end().await;
        }
    }

    /// The feed of a run that is worked on here.
    pub(super) fn feed(&self, run: &RunId) -> Option<Arc<Feed>> {
        self.live().get(run).map(|live| Arc::clone(&live.feed))
    }

    /// Waits until a run has another feed than this one, or none, or for so long.
    pub(super) async fn wait_for_another(&self, run: &RunId, old: &Feed, longest: Duration) {
        let other = || self.feed(run).is_none_or(|feed| !std::ptr::eq(feed.as_ref(), old));
        self.wait_until(other, longest).await;
    }

    /// Waits until somebody works on a run here, or for so long.
    pub(super) async fn wait_for_any(&self, run: &RunId, longest: Duration) {
        self.wait_until(|| self.feed(run).is_some(), longest).await;
    }

    async fn wait_until(&self, holds: impl Fn() -> bool, longest: Duration) {
        let mut changes = self.changes.subscribe();
        // However it ends, whoever waits looks again.
        drop(tokio::time::timeout(longest, changes.wait_for(|_| holds())).await);
    }

    /// How many are being worked on.
    pub(crate) fn live_count(&self) -> usize {
        self.live().len()
    }

    /// Lets runs end, and gives back those that take too long.
    pub(crate) async fn end(&self) {
        self.tasks.close();
        if tokio::time::timeout(PATIENCE, self.tasks.wait()).await.is_err() {
            self.halt.cancel();
            self.tasks.wait().await;
        }
    }

    fn live(&self) -> MutexGuard<'_, HashMap<RunId, Live>> {
        // Each change is whole when the lock is given back.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
