//! One watcher of a run, from any place in it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use toolroom::conversation::{NumberedEvent, RunEvent, RunId};
use toolroom::ledger::LedgerError;
use toolroom::scope::Scope;

use super::feed::{Fallen, Feed, Page};
use super::position::Position;
use super::runs::Runs;

/// Between two looks at a run that somebody else works on.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Something a watcher sees.
#[derive(Debug, PartialEq)]
pub(crate) enum Seen {
    /// An event, and the place after it.
    Event(Position, NumberedEvent),
    /// What an answer said so far, for somebody who has missed pieces of it.
    Words(Position, Fallen),
}

/// Reads a run from a place on until it ends.
pub(crate) struct Watching {
    runs: Arc<Runs>,
    scope: Scope,
    run: RunId,
    from: Option<Position>,
    /// The first number that was not seen.
    next: u64,
    stretch: u64,
    seen: VecDeque<Seen>,
    over: bool,
}

impl Watching {
    /// Watches from the beginning, or from behind what was seen.
    pub(crate) fn new(runs: Arc<Runs>, scope: Scope, run: RunId, from: Option<Position>) -> Self {
        Self { runs, scope, run, from, next: 0, stretch: 0, seen: VecDeque::new(), over: false }
    }

    /// Watches from where the run was last taken up.
    pub(crate) fn of_this_stretch(runs: Arc<Runs>, scope: Scope, run: RunId) -> Self {
        // Whatever stretch it is, this is a place right before it.
        let from = Position { stretch: u64::MAX, seq: u64::MAX };
        Self::new(runs, scope, run, Some(from))
    }

    /// What comes next; nothing, once the run has ended.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) async fn next(&mut self) -> Result<Option<Seen>, LedgerError> {
        loop {
            if let Some(seen) = self.seen.pop_front() {
                return Ok(Some(seen));
            }
            if self.over {
                return Ok(None);
            }
            match self.runs.feed(&self.run) {
                Some(feed) => self.read_feed(&feed).await?,
                None => self.read_stored().await?,
            }
        }
    }

    async fn read_feed(&mut self, feed: &Feed) -> Result<(), LedgerError> {
        feed.wait_for(self.next).await;
        let mut page = feed.read(self.next);
        if let Some(stretch) = page.stretch.filter(|stretch| self.from.is_some() || *stretch > self.next) {
            // What came before this stretch is stored. Only now is it known where to go on.
            self.stretch = stretch;
            self.next = self.from.take().map_or(self.next, |from| from.next(stretch));
            page = feed.read(self.next);
        }
        if page.events.iter().any(|event| is_resting(&event.event)) {
            // Told before it is kept. Whoever hears of the end may look for it at once.
            feed.wait_for_end().await;
            page = feed.read(self.next);
        }
        if page.first.is_some_and(|first| self.next < first) {
            self.take_stored(page.first).await?;
        }
        self.take_page(page);
        if feed.is_over() && self.seen.is_empty() && !self.over {
            // It waits, or was given back: who goes on has another feed.
            self.runs.wait_for_another(&self.run, feed, LOOK_EVERY).await;
        }
        Ok(())
    }

    fn take_page(&mut self, page: Page) {
        let place = |seq| Position { stretch: page.stretch.unwrap_or(self.stretch), seq };
        if page.fallen != Fallen::default() {
            let before = page.first.unwrap_or(1).saturating_sub(1);
            self.seen.push_back(Seen::Words(place(before), page.fallen));
        }
        let (mut next, mut over) = (self.next, self.over);
        for event in page.events.into_iter().filter(|event| event.seq >= self.next) {
            next = event.seq.saturating_add(1);
            over |= is_last(&event.event);
            self.seen.push_back(Seen::Event(place(event.seq), event));
        }
        (self.next, self.over) = (next, over);
    }

    /// Reads what is stored, up to a number that somebody else has.
    async fn take_stored(&mut self, until: Option<u64>) -> Result<(), LedgerError> {
        let events = self.runs.conversations().events(&self.scope, &self.run, 0).await?;
        let newest = events.iter().rev().find(|event| is_start(&event.event)).map(|event| event.seq);
        if let Some(from) = self.from.take() {
            self.next = from.next(newest.unwrap_or_default());
        }
        for event in events.into_iter().take_while(|event| until.is_none_or(|until| event.seq < until)) {
            if is_start(&event.event) {
                self.stretch = event.seq;
            }
            if event.seq < self.next {
                continue;
            }
            self.next = event.seq.saturating_add(1);
            self.over |= is_last(&event.event);
            self.seen.push_back(Seen::Event(Position { stretch: self.stretch, seq: event.seq }, event));
        }
        Ok(())
    }

    /// Nobody works on the run here.
    async fn read_stored(&mut self) -> Result<(), LedgerError> {
        self.take_stored(None).await?;
        if !self.seen.is_empty() || self.over {
            return Ok(());
        }
        let run = self.runs.conversations().run(&self.scope, &self.run).await?;
        if run.is_none_or(|run| !run.state.is_open()) {
            // It was deleted, or its last event was read before.
            self.take_stored(None).await?;
            self.over = true;
            return Ok(());
        }
        self.runs.wait_for_any(&self.run, LOOK_EVERY).await;
        Ok(())
    }
}

fn is_start(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Started { .. })
}

/// Whether nothing more happens by itself.
pub(super) fn is_resting(event: &RunEvent) -> bool {
    is_last(event) || matches!(event, RunEvent::Waiting { .. })
}

/// Whether nothing follows.
fn is_last(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Done { .. } | RunEvent::Failed(_) | RunEvent::Cancelled)
}
