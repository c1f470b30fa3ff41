//! A subscriber of a run, from any position.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use toolroom::conversation::{NumberedEvent, RunEvent, RunId};
use toolroom::ledger::LedgerError;
use toolroom::scope::Scope;

use super::encoded::Encoded;
use super::feed::{Feed, FeedPage, MissedText};
use super::position::{Position, Segment};
use super::runs::{Runs, StartedRun};

/// How often the store is polled for a run that another process works on.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) enum RunUpdate {
    /// An event and its position.
    Event(Position, Arc<Encoded<NumberedEvent>>),
    /// The text of the current answer so far, for a subscriber that has missed pieces.
    CatchUp(Position, Arc<Encoded<MissedText>>),
}

/// Reads a run from a position until it ends.
pub(crate) struct RunSubscriber {
    runs: Arc<Runs>,
    scope: Scope,
    run: RunId,
    cursor: Cursor,
    /// Read to its end, even after the run has left this process.
    feed: Option<Arc<Feed>>,
    queue: VecDeque<RunUpdate>,
    ended: bool,
}

#[derive(Debug, Clone, Copy)]
enum Cursor {
    Start,
    NewestSegment,
    After(Position),
}

impl Cursor {
    /// The first unread number, given all segments, oldest first.
    fn next(self, segments: &[Segment]) -> u64 {
        match self {
            Self::Start => 0,
            Self::NewestSegment => segments.last().map_or(0, |newest| newest.first),
            Self::After(position) => position.next(segments),
        }
    }
}

impl RunSubscriber {
    /// Reads from the start, or after a position.
    pub(crate) fn new(runs: Arc<Runs>, scope: Scope, run: RunId, from: Option<Position>) -> Self {
        let cursor = from.map_or(Cursor::Start, Cursor::After);
        Self { runs, scope, run, cursor, feed: None, queue: VecDeque::new(), ended: false }
    }

    /// Reads a run that was just started, even if it has ended already.
    pub(crate) fn for_started(
        runs: Arc<Runs>,
        scope: Scope,
        started: &StartedRun,
        from: Option<Position>,
    ) -> Self {
        let feed = Some(Arc::clone(&started.feed));
        Self { feed, ..Self::new(runs, scope, started.run.clone(), from) }
    }

    /// The same, from where the run was last resumed.
    pub(crate) fn from_newest_segment(runs: Arc<Runs>, scope: Scope, started: &StartedRun) -> Self {
        Self { cursor: Cursor::NewestSegment, ..Self::for_started(runs, scope, started, None) }
    }

    /// The next update. `None` once the run has ended.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) async fn next(&mut self) -> Result<Option<RunUpdate>, LedgerError> {
        loop {
            if let Some(update) = self.queue.pop_front() {
                return Ok(Some(update));
            }
            if self.ended {
                return Ok(None);
            }
            if self.feed.is_none() {
                self.feed = self.runs.feed(&self.run);
            }
            match self.feed.clone() {
                Some(feed) => self.read_feed(&feed).await?,
                None => self.read_stored().await?,
            }
        }
    }

    async fn read_feed(&mut self, feed: &Feed) -> Result<(), LedgerError> {
        // The feed has no segment before its first event.
        feed.wait_for(0).await;
        if let Some(segment) = feed.segment() {
            let next = self.next_in(segment).await?;
            feed.wait_for(next).await;
            let mut page = feed.read(next);
            if page.events.iter().any(|event| is_idle(&event.event)) {
                // Published before it is stored; a client that sees the end may look the run up at once.
                feed.wait_until_closed().await;
                page = feed.read(next);
            }
            if page.first.is_some_and(|first| next < first) {
                self.queue_stored(page.first, Some(segment)).await?;
            }
            self.queue_page(segment, page);
        }
        if feed.is_closed() && self.queue.is_empty() && !self.ended {
            // The run waits or was released: its next segment has another feed.
            self.feed = None;
            self.runs.wait_for_other_feed(&self.run, feed, POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// The first unread number while this segment is live.
    async fn next_in(&self, segment: Segment) -> Result<u64, LedgerError> {
        match self.cursor {
            Cursor::After(last) if last.segment != segment => {
                let events = self.runs.conversations().events(&self.scope, &self.run, 0).await?;
                Ok(last.next(&segments(&events, Some(segment))))
            }
            cursor => Ok(cursor.next(&[segment])),
        }
    }

    fn queue_page(&mut self, segment: Segment, page: FeedPage) {
        if let Some(missed) = page.missed {
            let before = page.first.unwrap_or(1).saturating_sub(1);
            let position = Position { segment, seq: before };
            self.cursor = Cursor::After(position);
            self.queue.push_back(RunUpdate::CatchUp(position, missed));
        }
        for event in page.events {
            self.queue_event(segment, event);
        }
    }

    fn queue_event(&mut self, segment: Segment, event: Arc<Encoded<NumberedEvent>>) {
        let position = Position { segment, seq: event.seq };
        self.cursor = Cursor::After(position);
        self.ended |= is_terminal(&event.event);
        self.queue.push_back(RunUpdate::Event(position, event));
    }

    /// Reads stored events, up to a number that the feed has.
    async fn queue_stored(&mut self, until: Option<u64>, live: Option<Segment>) -> Result<(), LedgerError> {
        let events = self.runs.conversations().events(&self.scope, &self.run, 0).await?;
        let next = self.cursor.next(&segments(&events, live));
        let mut current = None;
        for event in events.into_iter().take_while(|event| until.is_none_or(|until| event.seq < until)) {
            current = Segment::started_by(&event).or(current);
            // The first event of a run starts a segment.
            if let Some(segment) = current.filter(|_| event.seq >= next) {
                self.queue_event(segment, self.runs.event_cache.shared(&self.run, event));
            }
        }
        Ok(())
    }

    async fn read_stored(&mut self) -> Result<(), LedgerError> {
        self.queue_stored(None, None).await?;
        if !self.queue.is_empty() || self.ended {
            return Ok(());
        }
        let run = self.runs.conversations().run(&self.scope, &self.run).await?;
        if run.is_none_or(|run| !run.state.is_open()) {
            // The run was deleted, or has ended since the events were read.
            self.queue_stored(None, None).await?;
            self.ended = true;
            return Ok(());
        }
        self.runs.wait_for_feed(&self.run, POLL_INTERVAL).await;
        Ok(())
    }
}

/// The stored segments and the live one.
fn segments(events: &[NumberedEvent], live: Option<Segment>) -> Vec<Segment> {
    let stored = events.iter().filter_map(Segment::started_by).filter(|stored| live != Some(*stored));
    stored.chain(live).collect()
}

/// Whether the event ends the run or leaves it waiting.
pub(super) fn is_idle(event: &RunEvent) -> bool {
    is_terminal(event) || matches!(event, RunEvent::Waiting { .. })
}

/// Whether the event ends the run.
fn is_terminal(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Done { .. } | RunEvent::Failed(_) | RunEvent::Cancelled)
}
