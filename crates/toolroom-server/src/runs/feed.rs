//! What happens in one run, for any number of watchers.
//!
//! Watchers read; nobody waits for them. The newest events are kept in a ring. Whoever falls behind it reads what was
//! stored, and gets the words that fell out as one piece.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use toolroom::conversation::{NumberedEvent, RunEvent};

use super::position::Stretch;
use super::told::Told;
use super::watching::is_resting;

/// Events that are kept.
const RING_EVENTS: usize = 2048;

/// Bytes of words that are kept; other events are few.
const RING_BYTES: usize = 256 * 1024;

/// Bytes of words after which a page ends: whoever reads slowly holds no more of them.
const PAGE_BYTES: usize = 64 * 1024;

/// Events after which a page ends.
const PAGE_EVENTS: usize = 16;

/// The feed of a run that is being worked on here.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    /// The number of the next event; the highest there is, once nothing more comes.
    news: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Ring {
    stretch: Option<Stretch>,
    events: VecDeque<Arc<Told<NumberedEvent>>>,
    bytes: usize,
    /// Words of the current answer that fell out.
    fallen: Fallen,
    /// The same for those who read, until more falls out.
    told_fallen: Option<Arc<Told<Fallen>>>,
}

/// Words of an answer that is not whole yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fallen {
    pub(crate) text: String,
    pub(crate) reasoning: String,
}

/// What a feed has from a place on.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The first number that the feed still has.
    pub(crate) first: Option<u64>,
    /// Words of the current answer from before that, for whoever has missed some.
    pub(crate) fallen: Option<Arc<Told<Fallen>>>,
    /// The next events, words in a row as one.
    pub(crate) events: Vec<Arc<Told<NumberedEvent>>>,
}

/// Nothing more comes.
const OVER: u64 = u64::MAX;

impl Feed {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { ring: Mutex::default(), news: watch::Sender::new(0) })
    }

    /// Takes what happened.
    pub(super) fn tell(&self, event: &NumberedEvent) {
        self.ring().push(event.clone());
        self.news.send_replace(event.seq.saturating_add(1));
    }

    /// Nothing more comes from here.
    pub(super) fn close(&self) {
        self.news.send_replace(OVER);
    }

    /// Takes back that the run has ended: it was told, and could not be kept.
    pub(super) fn retract_end(&self) {
        let mut ring = self.ring();
        while ring.events.back().is_some_and(|event| is_resting(&event.event)) {
            ring.events.pop_back();
        }
    }

    /// Waits until nothing more comes from here.
    pub(super) async fn wait_for_end(&self) {
        self.wait_for(OVER - 1).await;
    }

    /// Whether nothing more comes from here.
    pub(super) fn is_over(&self) -> bool {
        *self.news.borrow() == OVER
    }

    /// Whether what was told last is that nothing more happens by itself.
    pub(super) fn is_at_rest(&self) -> bool {
        self.ring().events.back().is_some_and(|event| is_resting(&event.event))
    }

    /// Waits until there is an event from `next` on, or nothing more comes.
    pub(super) async fn wait_for(&self, next: u64) {
        // The sender lives as long as we do.
        drop(self.news.subscribe().wait_for(|known| *known > next).await);
    }

    /// The stretch of the run that is told here; none before it has begun.
    pub(super) fn stretch(&self) -> Option<Stretch> {
        self.ring().stretch
    }

    /// What there is from `next` on.
    pub(super) fn read(&self, next: u64) -> Page {
        let mut ring = self.ring();
        let first = ring.events.front().map(|event| event.seq);
        let behind = first.is_some_and(|first| next < first);
        let fallen = if behind { ring.tell_fallen() } else { None };
        let newer = ring.events.iter().filter(|event| event.seq >= next);
        Page { first, fallen, events: joined(newer) }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // Each change is whole when the lock is given back.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, event: NumberedEvent) {
        self.stretch = Stretch::begun_by(&event).or(self.stretch);
        self.bytes += words(&event.event).map_or(0, |(text, _)| text.len());
        self.events.push_back(Told::new(event));
        while self.events.len() > RING_EVENTS || (self.bytes > RING_BYTES && self.events.len() > 1) {
            let Some(oldest) = self.events.pop_front() else { break };
            self.fall(&oldest.event);
        }
    }

    fn tell_fallen(&mut self) -> Option<Arc<Told<Fallen>>> {
        if self.told_fallen.is_none() && self.fallen != Fallen::default() {
            self.told_fallen = Some(Told::new(self.fallen.clone()));
        }
        self.told_fallen.clone()
    }

    fn fall(&mut self, event: &RunEvent) {
        self.told_fallen = None;
        match words(event) {
            Some((text, kind)) => {
                self.bytes -= text.len();
                match kind {
                    Kind::Text => self.fallen.text.push_str(text),
                    Kind::Reasoning => self.fallen.reasoning.push_str(text),
                }
            }
            // What begins, voids or completes an answer ends what was said of it in pieces.
            None if event.is_structural() => self.fallen = Fallen::default(),
            None => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

fn words(event: &RunEvent) -> Option<(&str, Kind)> {
    match event {
        RunEvent::Text { text } => Some((text, Kind::Text)),
        RunEvent::Reasoning { text } => Some((text, Kind::Reasoning)),
        _ => None,
    }
}

/// The first of some events, words in a row as one with the number of the last. What stands alone is the same copy for
/// everybody; what is put together is small.
fn joined<'a>(events: impl Iterator<Item = &'a Arc<Told<NumberedEvent>>>) -> Vec<Arc<Told<NumberedEvent>>> {
    let mut joined: Vec<Joined<'a>> = Vec::new();
    let mut bytes = 0;
    for event in events {
        let more = words(&event.event).map_or(0, |(text, _)| text.len());
        if joined.len() >= PAGE_EVENTS || (bytes > 0 && bytes + more > PAGE_BYTES) {
            break;
        }
        bytes += more;
        match joined.last_mut() {
            Some(said) if more > 0 && kind(&said.first.event) == kind(&event.event) => said.rest.push(event),
            _ => joined.push(Joined { first: event, rest: Vec::new() }),
        }
    }
    joined.into_iter().map(Joined::told).collect()
}

/// An event, or words in a row.
struct Joined<'a> {
    first: &'a Arc<Told<NumberedEvent>>,
    rest: Vec<&'a NumberedEvent>,
}

impl Joined<'_> {
    fn told(self) -> Arc<Told<NumberedEvent>> {
        let Some(last) = self.rest.last() else { return Arc::clone(self.first) };
        let mut event = NumberedEvent { seq: last.seq, ..NumberedEvent::clone(self.first) };
        if let RunEvent::Text { text } | RunEvent::Reasoning { text } = &mut event.event {
            text.extend(self.rest.iter().filter_map(|event| words(&event.event)).map(|(text, _)| text));
        }
        Told::new(event)
    }
}

fn kind(event: &RunEvent) -> Option<Kind> {
    words(event).map(|(_, kind)| kind)
}
