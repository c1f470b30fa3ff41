//! Events of a run: numbered, sent to the listener, and collected for storage.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use super::run_request::EventListener;
use super::tools::Tools;
use crate::clock::Clock;
use crate::conversation::{NumberedEvent, RunEvent};
use crate::model::ModelEvent;
use crate::redact::{Redactor, Stream};

/// Numbers the events of one run and collects those to be stored. Shared with running tools, which report progress from
/// their own tasks.
pub(super) struct EventSink {
    clock: Arc<dyn Clock>,
    listener: Option<EventListener>,
    state: Mutex<SinkState>,
}

#[derive(Default)]
struct SinkState {
    next: u64,
    /// Structural events that are not stored yet.
    unstored: Vec<NumberedEvent>,
}

impl EventSink {
    pub(super) fn new(clock: Arc<dyn Clock>, listener: Option<EventListener>, next: u64) -> Self {
        Self { clock, listener, state: Mutex::new(SinkState { next, unstored: Vec::new() }) }
    }

    pub(super) fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    pub(super) fn send(&self, event: RunEvent) {
        let structural = event.is_structural();
        if !structural && !self.has_listener() {
            return;
        }
        // The lock is held while the listener runs, so that it sees events in order.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let event = NumberedEvent { seq: state.next, at: self.clock.now(), event };
        state.next += 1;
        if let Some(listener) = &self.listener {
            listener(&event);
        }
        if structural {
            state.unstored.push(event);
        }
    }

    /// Takes the structural events sent since the last time.
    pub(super) fn take_unstored(&self) -> Vec<NumberedEvent> {
        mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).unstored)
    }
}

/// Sends the pieces of one answer as the model streams it. Text that may be the start of a secret is held back until the
/// next piece decides.
pub(super) struct AnswerStream<'a> {
    events: &'a EventSink,
    tools: &'a Tools,
    redactor: &'a Arc<Redactor>,
    /// The kind of text being streamed, with what is held back of it.
    current: Option<(TextKind, Stream)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Answer,
    Reasoning,
}

impl<'a> AnswerStream<'a> {
    pub(super) fn new(events: &'a EventSink, tools: &'a Tools, redactor: &'a Arc<Redactor>) -> Self {
        Self { events, tools, redactor, current: None }
    }

    pub(super) fn receive(&mut self, event: ModelEvent) {
        match event {
            // Failed attempts are stored, with or without a listener.
            ModelEvent::Again { reason, after } => {
                self.current = None;
                let after_ms = u64::try_from(after.as_millis()).ok();
                let reason = self.redactor.redact_text(&reason).into_owned();
                self.events.send(RunEvent::Void { reason, next: None, after_ms });
            }
            _ if !self.events.has_listener() => {}
            ModelEvent::Text(text) => self.push(TextKind::Answer, &text),
            ModelEvent::Reasoning(text) => self.push(TextKind::Reasoning, &text),
            ModelEvent::Call { name, .. } => {
                self.flush();
                let tool = match self.tools.find(&name) {
                    Some(entry) => entry.spec().id.as_str().into(),
                    None => self.redactor.redact_text(&name).into(),
                };
                self.events.send(RunEvent::Writing { tool });
            }
            ModelEvent::Arguments { .. } => {}
        }
    }

    fn push(&mut self, kind: TextKind, piece: &str) {
        if self.current.as_ref().is_some_and(|(before, _)| *before != kind) {
            self.flush();
        }
        let redactor = self.redactor;
        let (_, stream) = self.current.get_or_insert_with(|| (kind, Stream::new(Arc::clone(redactor))));
        let text = stream.push(piece);
        self.send(kind, text);
    }

    /// Sends what was held back: nothing follows it.
    pub(super) fn flush(&mut self) {
        if let Some((kind, stream)) = self.current.take() {
            self.send(kind, stream.finish());
        }
    }

    fn send(&self, kind: TextKind, text: String) {
        if !text.is_empty() {
            self.events.send(match kind {
                TextKind::Answer => RunEvent::Text { text },
                TextKind::Reasoning => RunEvent::Reasoning { text },
            });
        }
    }
}
