//! An answer while it is given: words, and thoughts between them.

use super::event::{Event, pieces};

/// What was heard of an answer. What is open is closed before something else of its kind begins.
#[derive(Debug, Default)]
pub(super) struct Speech {
    said: String,
    speaks: bool,
    /// How often the model has thought, and whether it still does.
    thoughts: u32,
    thinks: bool,
}

impl Speech {
    /// The words so far.
    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// Whether there were thoughts.
    pub(super) const fn has_thoughts(&self) -> bool {
        self.thoughts > 0
    }

    /// More words of the message of that id.
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

    /// More thoughts before the message of that id.
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

    /// Closes what is open and takes the words back. Says whether there were any.
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
