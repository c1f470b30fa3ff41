//! What watchers hear of an answer while the model gives it.

use std::mem;
use std::sync::Arc;

use super::teller::Teller;
use super::tools::Tools;
use crate::conversation::RunEvent;
use crate::model::ModelEvent;
use crate::redact::{Redactor, Stream};

/// Tells the pieces of one answer. A secret is hidden however it is cut, so the end of a piece may come with the next
/// one.
pub(super) struct Overheard<'a> {
    teller: &'a Teller,
    tools: &'a Tools,
    redactor: &'a Arc<Redactor>,
    /// Speech or thoughts, and what is held back of them.
    saying: Option<(Voice, Stream)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Text,
    Reasoning,
}

impl<'a> Overheard<'a> {
    pub(super) fn new(teller: &'a Teller, tools: &'a Tools, redactor: &'a Arc<Redactor>) -> Self {
        Self { teller, tools, redactor, saying: None }
    }

    pub(super) fn hear(&mut self, event: ModelEvent) {
        match event {
            // Attempts that came to nothing are kept, whoever watches.
            ModelEvent::Again { reason, after } => {
                self.saying = None;
                let after_ms = u64::try_from(after.as_millis()).ok();
                let reason = self.redactor.redact_text(&reason).into_owned();
                self.teller.tell(RunEvent::Void { reason, next: None, after_ms });
            }
            _ if !self.teller.is_watched() => {}
            ModelEvent::Text(text) => self.say(Voice::Text, &text),
            ModelEvent::Reasoning(text) => self.say(Voice::Reasoning, &text),
            ModelEvent::Call { name, .. } => {
                self.end();
                let tool = match self.tools.find(&name) {
                    Some(entry) => entry.spec().id.as_str().into(),
                    None => self.redactor.redact_text(&name).into(),
                };
                self.teller.tell(RunEvent::Writing { tool });
            }
            ModelEvent::Arguments { .. } => {}
        }
    }

    fn say(&mut self, voice: Voice, piece: &str) {
        if self.saying.as_ref().is_some_and(|(before, _)| *before != voice) {
            self.end();
        }
        let redactor = self.redactor;
        let (_, stream) = self.saying.get_or_insert_with(|| (voice, Stream::new(Arc::clone(redactor))));
        let shown = stream.push(piece);
        self.tell(voice, shown);
    }

    /// Tells what was held back: nothing follows it.
    pub(super) fn end(&mut self) {
        if let Some((voice, stream)) = mem::take(&mut self.saying) {
            self.tell(voice, stream.finish());
        }
    }

    fn tell(&self, voice: Voice, text: String) {
        if !text.is_empty() {
            self.teller.tell(match voice {
                Voice::Text => RunEvent::Text { text },
                Voice::Reasoning => RunEvent::Reasoning { text },
            });
        }
    }
}
