//! How a connection comes to be: one start at a time, which goes on whoever waits for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use toolroom::foreign::ServerCondition;

use super::failures::{MAX_FAILURES, WITHIN, lately, wait};
use super::record::unkept;
use super::{Berth, Harbour, Open};
use crate::mcp::launch::Started;
use crate::mcp::protocol::era::Era;
use crate::mcp::protocol::error::McpError;

/// A start or a look at the tools that is under way.
pub(super) struct Connecting {
    pub(super) done: watch::Receiver<Option<Result<Arc<Open>, McpError>>>,
    pub(super) task: AbortHandle,
    /// Since when the server is waited for; nothing while it is not its turn yet.
    pub(super) begun: Option<Instant>,
}

impl Berth {
    /// The connection, made if there is none, with the tools as they are now. What is begun here is brought to its end and
    /// counted, even if whoever asked for it goes away; all others wait for the same.
    pub(crate) async fn open(self: &Arc<Self>) -> Result<Arc<Open>, McpError> {
        let mut done = {
            let mut state = self.state();
            if state.connecting.as_ref().is_none_or(|connecting| connecting.task.is_finished()) {
                if let Some(open) = state.open.as_ref().filter(|open| open.is_alive() && !self.ear.is_rung())
                {
                    open.touch();
                    return Ok(Arc::clone(open));
                }
                let (tell, done) = watch::channel(None);
                let berth = Arc::clone(self);
                let task = tokio::spawn(async move {
                    let opened = berth.work().await;
                    let mut state = berth.state();
                    state.open = opened.as_ref().ok().cloned();
                    state.connecting = None;
                    tell.send_replace(Some(opened));
                });
                state.connecting = Some(Connecting { done, task: task.abort_handle(), begun: None });
            }
            let Some(connecting) = &state.connecting else { return Err(McpError::Abandoned) };
            connecting.done.clone()
        };
        let opened = done.wait_for(Option::is_some).await;
        opened.ok().and_then(|opened| opened.clone()).unwrap_or(Err(McpError::Abandoned))
    }

    async fn work(&self) -> Result<Arc<Open>, McpError> {
        let before = self.state().open.clone();
        if let Some(open) = before {
            let began = self.begin();
            let listed = match open.is_alive() {
                true => self.in_time(self.listed(Arc::clone(&open.started))).await,
                false => Err(McpError::Ended { how: "it ended by itself".to_owned() }),
            };
            match listed {
                Ok(open) => return Ok(Arc::new(open)),
                Err(McpError::Replaced) => return Err(McpError::Replaced),
                Err(error) => self.note_failure(&error, began.elapsed()).await,
            }
            let mut state = self.state();
            state.open = None;
            // The failure is counted.
            state.connecting.iter_mut().for_each(|connecting| connecting.begun = None);
        }
        let Harbour { project, kept, .. } = &*self.harbour;
        let seen = kept.condition(project, self.name()).await.map_err(unkept)?;
        self.wait_for_turn(&seen).await?;
        let era = seen.era.as_deref().and_then(Era::named);
        let began = self.begin();
        match self.in_time(self.start(era)).await {
            Ok(open) => Ok(Arc::new(open)),
            Err(error) => {
                self.note_failure(&error, began.elapsed()).await;
                Err(error)
            }
        }
    }

    /// The server is waited for from now on.
    fn begin(&self) -> Instant {
        let now = Instant::now();
        self.state().connecting.iter_mut().for_each(|connecting| connecting.begun = Some(now));
        now
    }

    /// Handshake and list have one time together, however a server spreads its silence.
    async fn in_time(&self, work: impl Future<Output = Result<Open, McpError>>) -> Result<Open, McpError> {
        let after = self.harbour.start_limit;
        timeout(after, work).await.unwrap_or(Err(McpError::TooSlow { after }))
    }

    async fn start(&self, era: Option<Era>) -> Result<Open, McpError> {
        let Harbour { project, launcher, .. } = &*self.harbour;
        let ear = Arc::clone(&self.ear) as _;
        let started = launcher.start(project, &self.record, era, ear).await?;
        self.listed(Arc::new(started)).await
    }

    /// Lists the tools of a server that runs, and keeps what they are.
    async fn listed(&self, started: Arc<Started>) -> Result<Open, McpError> {
        self.ear.hush();
        let listing = self.usable(started.client.tools().await?).await;
        self.keep(&started.client, &listing).await?;
        let hashes = listing.tools.iter().map(|tool| (tool.name.clone(), tool.hash())).collect();
        Ok(Open::new(started, hashes))
    }

    /// Waits after failures, of whichever process, unless a person wants it now.
    async fn wait_for_turn(&self, seen: &ServerCondition) -> Result<(), McpError> {
        if self.is_wanted_now {
            return Ok(());
        }
        if seen.is_given_up {
            let last = seen.failure.clone().unwrap_or_default();
            return Err(McpError::GivenUp { times: MAX_FAILURES, within: WITHIN, last });
        }
        let now = self.harbour.clock.now();
        let wait: Duration = wait(&lately(&seen.failures, now), now);
        tokio::time::sleep(wait).await;
        Ok(())
    }
}
