//! One watcher of a run, from any place in it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use toolroom::conversation::{NumberedEvent, RunEvent, RunId};
use toolroom::ledger::LedgerError;
use toolroom::scope::Scope;

use super::feed::{Fallen, Feed, Page};
use super::position::{Position, Stretch};
use super::runs::{Begun, Runs};
use super::told::Told;

/// Between two looks at a run that somebody else works on.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Something a watcher sees.
#[derive(Debug)]
pub(crate) enum Seen {
    /// An event, and the place after it.
    Event(Position, Arc<Told<NumberedEvent>>),
    /// What an answer said so far, for somebody who has missed pieces of it.
    Words(Position, Arc<Told<Fallen>>),
}

/// Reads a run from a place on until it ends.
pub(crate) struct Watching {
    runs: Arc<Runs>,
    scope: Scope,
    run: RunId,
    place: Place,
    /// Read to its end, also when nobody works on the run any more.
    feed: Option<Arc<Feed>>,
    seen: VecDeque<Seen>,
    over: bool,
}

/// How far a watcher has come.
#[derive(Debug, Clone, Copy)]
enum Place {
    Beginning,
    /// Where the run was last taken up.
    NewestStretch,
    /// Behind what was seen.
    Behind(Position),
}

impl Place {
    /// The first number that was not seen, given all stretches, the oldest first.
    fn next(self, stretches: &[Stretch]) -> u64 {
        match self {
            Self::Beginning => 0,
            Self::NewestStretch => stretches.last().map_or(0, |newest| newest.first),
            Self::Behind(seen) => seen.next(stretches),
        }
    }
}

impl Watching {
    /// Watches from the beginning, or from behind what was seen.
    pub(crate) fn new(runs: Arc<Runs>, scope: Scope, run: RunId, from: Option<Position>) -> Self {
        let place = from.map_or(Place::Beginning, Place::Behind);
        Self { runs, scope, run, place, feed: None, seen: VecDeque::new(), over: false }
    }

    /// Watches a run that has just begun, which may have said all it has to say already.
    pub(crate) fn begun(runs: Arc<Runs>, scope: Scope, begun: &Begun, from: Option<Position>) -> Self {
        let feed = Some(Arc::clone(&begun.feed));
        Self { feed, ..Self::new(runs, scope, begun.run.clone(), from) }
    }

    /// The same, from where the run was taken up.
    pub(crate) fn of_this_stretch(runs: Arc<Runs>, scope: Scope, begun: &Begun) -> Self {
        Self { place: Place::NewestStretch, ..Self::begun(runs, scope, begun, None) }
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
        // Where to go on is known once the feed has begun.
        feed.wait_for(0).await;
        if let Some(stretch) = feed.stretch() {
            let next = self.next_in(stretch).await?;
            feed.wait_for(next).await;
            let mut page = feed.read(next);
            if page.events.iter().any(|event| is_resting(&event.event)) {
                // Told before it is kept. Whoever hears of the end may look for it at once.
                feed.wait_for_end().await;
                page = feed.read(next);
            }
            if page.first.is_some_and(|first| next < first) {
                self.take_stored(page.first, Some(stretch)).await?;
            }
            self.take_page(stretch, page);
        }
        if feed.is_over() && self.seen.is_empty() && !self.over {
            // It waits, or was given back: who goes on has another feed.
            self.feed = None;
            self.runs.wait_for_another(&self.run, feed, LOOK_EVERY).await;
        }
        Ok(())
    }

    /// The first number that was not seen, while this stretch goes on.
    async fn next_in(&self, stretch: Stretch) -> Result<u64, LedgerError> {
        match self.place {
            Place::Behind(seen) if seen.stretch != stretch => {
                let events = self.runs.conversations().events(&self.scope, &self.run, 0).await?;
                Ok(seen.next(&stretches(&events, Some(stretch))))
            }
            place => Ok(place.next(&[stretch])),
        }
    }

    fn take_page(&mut self, stretch: Stretch, page: Page) {
        if let Some(fallen) = page.fallen {
            let before = page.first.unwrap_or(1).saturating_sub(1);
            let place = Position { stretch, seq: before };
            self.place = Place::Behind(place);
            self.seen.push_back(Seen::Words(place, fallen));
        }
        for event in page.events {
            self.take(stretch, event);
        }
    }

    fn take(&mut self, stretch: Stretch, event: Arc<Told<NumberedEvent>>) {
        let place = Position { stretch, seq: event.seq };
        self.place = Place::Behind(place);
        self.over |= is_last(&event.event);
        self.seen.push_back(Seen::Event(place, event));
    }

    /// Reads what is stored, up to a number that somebody else has.
    async fn take_stored(&mut self, until: Option<u64>, live: Option<Stretch>) -> Result<(), LedgerError> {
        let events = self.runs.conversations().events(&self.scope, &self.run, 0).await?;
        let next = self.place.next(&stretches(&events, live));
        let mut current = None;
        for event in events.into_iter().take_while(|event| until.is_none_or(|until| event.seq < until)) {
            current = Stretch::begun_by(&event).or(current);
            // Every run begins with a stretch.
            if let Some(stretch) = current.filter(|_| event.seq >= next) {
                self.take(stretch, self.runs.shelf.shared(&self.run, event));
            }
        }
        Ok(())
    }

    /// Nobody works on the run here.
    async fn read_stored(&mut self) -> Result<(), LedgerError> {
        self.take_stored(None, None).await?;
        if !self.seen.is_empty() || self.over {
            return Ok(());
        }
        let run = self.runs.conversations().run(&self.scope, &self.run).await?;
        if run.is_none_or(|run| !run.state.is_open()) {
            // It was deleted, or its last event was read before.
            self.take_stored(None, None).await?;
            self.over = true;
            return Ok(());
        }
        self.runs.wait_for_any(&self.run, LOOK_EVERY).await;
        Ok(())
    }
}

/// The stretches that are stored, and the one that goes on.
fn stretches(events: &[NumberedEvent], live: Option<Stretch>) -> Vec<Stretch> {
    let stored = events.iter().filter_map(Stretch::begun_by).filter(|stored| live != Some(*stored));
    stored.chain(live).collect()
}

/// Whether nothing more happens by itself.
pub(super) fn is_resting(event: &RunEvent) -> bool {
    is_last(event) || matches!(event, RunEvent::Waiting { .. })
}

/// Whether nothing follows.
fn is_last(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Done { .. } | RunEvent::Failed(_) | RunEvent::Cancelled)
}
