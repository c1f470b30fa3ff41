//! The current answer of a model: text and reasoning.

use super::event::{Event, pieces};

/// The open messages of an answer. Each is closed before the next of its kind starts.
#[derive(Debug, Default)]
pub(super) struct Speech {
    said: String,
    speaks: bool,
    /// Number of reasoning blocks, and whether one is open.
    thoughts: u32,
    thinks: bool,
}

impl Speech {
    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.said
    }

    /// Whether there was reasoning.
    pub(super) const fn has_thoughts(&self) -> bool {
        self.thoughts > 0
    }

    /// Adds text to a message.
    pub(super) fn speak(&mut self, id: &str, text: &str, out: &mut Vec<Event>) {
        self.stop_thinking(id, out);
        if !std::mem::replace(&mut self.speaks, true) {
            out.push(Event::TextMessageStart { message_id: id.to_owned(), role: "assistant" });
        }
        self.said.push_str(text);
        out.extend(
            pieces(text).map(|piece| Event::TextMessageContent {
                message_id: id.to_owned(),
                delta: piece.to_owned(),
            }),
        );
    }

    /// Adds reasoning before a message.
    pub(super) fn think(&mut self, id: &str, text: &str, out: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.thinks, true) {
            self.thoughts += 1;
            let message_id = self.thought_id(id);
            out.push(Event::ReasoningStart { message_id: message_id.clone() });
            out.push(Event::ReasoningMessageStart { message_id, role: "reasoning" });
        }
        let thought = self.thought_id(id);
        out.extend(pieces(text).map(|piece| Event::ReasoningMessageContent {
            message_id: thought.clone(),
            delta: piece.to_owned(),
        }));
    }

    /// Closes what is open.
    pub(super) fn stop(&mut self, id: &str, out: &mut Vec<Event>) {
        self.stop_thinking(id, out);
        if std::mem::replace(&mut self.speaks, false) {
            out.push(Event::TextMessageEnd { message_id: id.to_owned() });
        }
    }

    /// Closes what is open and retracts the text. Returns whether there was any.
    pub(super) fn unsay(&mut self, id: &str, out: &mut Vec<Event>) -> bool {
        let had_words = self.speaks;
        self.stop(id, out);
        self.said.clear();
        had_words
    }

    fn stop_thinking(&mut self, id: &str, out: &mut Vec<Event>) {
        if std::mem::replace(&mut self.thinks, false) {
            let message_id = self.thought_id(id);
            out.push(Event::ReasoningMessageEnd { message_id: message_id.clone() });
            out.push(Event::ReasoningEnd { message_id });
        }
    }

    fn thought_id(&self, id: &str) -> String {
        format!("{id}-thought-{}", self.thoughts)
    }
}
