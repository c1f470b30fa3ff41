//! The events of one live run, for any number of subscribers.
//!
//! The run never waits for subscribers. The newest events are kept in a ring buffer. A subscriber that falls behind reads
//! older events from the store, and gets the evicted text of the current answer in one piece.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use toolroom::conversation::{NumberedEvent, RunEvent};

use super::encoded::Encoded;
use super::position::Segment;
use super::subscriber::is_idle;

/// Capacity of the ring, in events.
const RING_EVENTS: usize = 2048;

/// Capacity of the ring, in bytes of text.
const RING_BYTES: usize = 256 * 1024;

/// Bytes of text after which a page ends, so that a slow subscriber holds little memory.
const PAGE_BYTES: usize = 64 * 1024;

/// Events per page.
const PAGE_EVENTS: usize = 16;

/// The feed of a run that this process works on.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    /// The number of the next event; [`CLOSED`] at the end.
    next_seq: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Ring {
    segment: Option<Segment>,
    events: VecDeque<Arc<Encoded<NumberedEvent>>>,
    bytes: usize,
    /// Evicted text of the current answer.
    missed: MissedText,
    /// Its shared copy, until more is evicted.
    shared_missed: Option<Arc<Encoded<MissedText>>>,
}

/// Text of an unfinished answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MissedText {
    pub(crate) text: String,
    pub(crate) reasoning: String,
}

/// Part of a feed.
#[derive(Debug, Default)]
pub(crate) struct FeedPage {
    /// The oldest number in the ring.
    pub(crate) first: Option<u64>,
    /// Evicted text of the current answer, if the reader is behind the ring.
    pub(crate) missed: Option<Arc<Encoded<MissedText>>>,
    /// The next events; consecutive text is merged.
    pub(crate) events: Vec<Arc<Encoded<NumberedEvent>>>,
}

/// The feed has ended.
const CLOSED: u64 = u64::MAX;

impl Feed {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { ring: Mutex::default(), next_seq: watch::Sender::new(0) })
    }

    pub(super) fn push(&self, event: &NumberedEvent) {
        self.ring().push(event.clone());
        self.next_seq.send_replace(event.seq.saturating_add(1));
    }

    pub(super) fn close(&self) {
        self.next_seq.send_replace(CLOSED);
    }

    /// Removes a final event that could not be stored.
    pub(super) fn retract_end(&self) {
        let mut ring = self.ring();
        while ring.events.back().is_some_and(|event| is_idle(&event.event)) {
            ring.events.pop_back();
        }
    }

    pub(super) async fn wait_until_closed(&self) {
        self.wait_for(CLOSED - 1).await;
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.next_seq.borrow() == CLOSED
    }

    /// Whether the last event ended the run or left it waiting.
    pub(super) fn is_idle(&self) -> bool {
        self.ring().events.back().is_some_and(|event| is_idle(&event.event))
    }

    /// Waits for the event `next` or a later one, or the end.
    pub(super) async fn wait_for(&self, next: u64) {
        // The sender lives as long as `self`.
        drop(self.next_seq.subscribe().wait_for(|known| *known > next).await);
    }

    /// The segment of this feed. `None` until its first event.
    pub(super) fn segment(&self) -> Option<Segment> {
        self.ring().segment
    }

    /// The events from `next` on.
    pub(super) fn read(&self, next: u64) -> FeedPage {
        let mut ring = self.ring();
        let first = ring.events.front().map(|event| event.seq);
        let behind = first.is_some_and(|first| next < first);
        let missed = if behind { ring.shared_missed() } else { None };
        let newer = ring.events.iter().filter(|event| event.seq >= next);
        FeedPage { first, missed, events: merge_text(newer) }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // A panic cannot leave the ring half changed.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, event: NumberedEvent) {
        self.segment = Segment::started_by(&event).or(self.segment);
        self.bytes += text_of(&event.event).map_or(0, |(text, _)| text.len());
        self.events.push_back(Encoded::new(event));
        while self.events.len() > RING_EVENTS || (self.bytes > RING_BYTES && self.events.len() > 1) {
            let Some(oldest) = self.events.pop_front() else { break };
            self.evict(&oldest.event);
        }
    }

    fn shared_missed(&mut self) -> Option<Arc<Encoded<MissedText>>> {
        if self.shared_missed.is_none() && self.missed != MissedText::default() {
            self.shared_missed = Some(Encoded::new(self.missed.clone()));
        }
        self.shared_missed.clone()
    }

    fn evict(&mut self, event: &RunEvent) {
        self.shared_missed = None;
        match text_of(event) {
            Some((text, kind)) => {
                self.bytes -= text.len();
                match kind {
                    TextKind::Text => self.missed.text.push_str(text),
                    TextKind::Reasoning => self.missed.reasoning.push_str(text),
                }
            }
            // A structural event starts, discards or completes an answer.
            None if event.is_structural() => self.missed = MissedText::default(),
            None => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Text,
    Reasoning,
}

fn text_of(event: &RunEvent) -> Option<(&str, TextKind)> {
    match event {
        RunEvent::Text { text } => Some((text, TextKind::Text)),
        RunEvent::Reasoning { text } => Some((text, TextKind::Reasoning)),
        _ => None,
    }
}

/// The first page of the events. Consecutive text becomes one event with the number of the last. Single events stay
/// shared copies; merged ones are small.
fn merge_text<'a>(
    events: impl Iterator<Item = &'a Arc<Encoded<NumberedEvent>>>,
) -> Vec<Arc<Encoded<NumberedEvent>>> {
    let mut merged: Vec<Merged<'a>> = Vec::new();
    let mut bytes = 0;
    for event in events {
        let more = text_of(&event.event).map_or(0, |(text, _)| text.len());
        if merged.len() >= PAGE_EVENTS || (bytes > 0 && bytes + more > PAGE_BYTES) {
            break;
        }
        bytes += more;
        match merged.last_mut() {
            Some(text) if more > 0 && kind(&text.first.event) == kind(&event.event) => text.rest.push(event),
            _ => merged.push(Merged { first: event, rest: Vec::new() }),
        }
    }
    merged.into_iter().map(Merged::into_event).collect()
}

/// An event, or consecutive text.
struct Merged<'a> {
    first: &'a Arc<Encoded<NumberedEvent>>,
    rest: Vec<&'a NumberedEvent>,
}

impl Merged<'_> {
    fn into_event(self) -> Arc<Encoded<NumberedEvent>> {
        let Some(last) = self.rest.last() else { return Arc::clone(self.first) };
        let mut event = NumberedEvent { seq: last.seq, ..NumberedEvent::clone(self.first) };
        if let RunEvent::Text { text } | RunEvent::Reasoning { text } = &mut event.event {
            text.extend(self.rest.iter().filter_map(|event| text_of(&event.event)).map(|(text, _)| text));
        }
        Encoded::new(event)
    }
}

fn kind(event: &RunEvent) -> Option<TextKind> {
    text_of(event).map(|(_, kind)| kind)
}
