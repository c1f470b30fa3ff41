//! What happens in one run, for any number of watchers.
//!
//! Watchers read; nobody waits for them. The newest events are kept in a ring. Whoever falls behind it reads what was
//! stored, and gets the words that fell out as one piece.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use toolroom::conversation::{NumberedEvent, RunEvent};

use super::position::Stretch;
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
    events: VecDeque<NumberedEvent>,
    bytes: usize,
    /// Words of the current answer that fell out.
    fallen: Fallen,
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
    /// Words of the current answer from before that.
    pub(crate) fallen: Fallen,
    /// The next events, words in a row as one.
    pub(crate) events: Vec<NumberedEvent>,
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
        let ring = self.ring();
        let first = ring.events.front().map(|event| event.seq);
        let behind = first.is_some_and(|first| next < first);
        let newer = ring.events.iter().filter(|event| event.seq >= next);
        Page {
            first,
            fallen: if behind { ring.fallen.clone() } else { Fallen::default() },
            events: joined(newer),
        }
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
        self.events.push_back(event);
        while self.events.len() > RING_EVENTS || (self.bytes > RING_BYTES && self.events.len() > 1) {
            let Some(oldest) = self.events.pop_front() else { break };
            self.fall(&oldest.event);
        }
    }

    fn fall(&mut self, event: &RunEvent) {
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

/// The first of some events, words in a row as one with the number of the last.
fn joined<'a>(events: impl Iterator<Item = &'a NumberedEvent>) -> Vec<NumberedEvent> {
    let mut joined: Vec<NumberedEvent> = Vec::new();
    let mut bytes = 0;
    for event in events {
        if bytes >= PAGE_BYTES || joined.len() >= PAGE_EVENTS {
            break;
        }
        bytes += words(&event.event).map_or(0, |(text, _)| text.len());
        if let Some(last) = joined.last_mut()
            && let (RunEvent::Text { text: said }, RunEvent::Text { text })
            | (RunEvent::Reasoning { text: said }, RunEvent::Reasoning { text }) =
                (&mut last.event, &event.event)
        {
            said.push_str(text);
            last.seq = event.seq;
        } else {
            joined.push(event.clone());
        }
    }
    joined
}
