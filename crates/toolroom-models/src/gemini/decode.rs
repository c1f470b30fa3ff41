//! From Gemini's stream of chunks to an answer.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolroom::model::{
    Answer, Block, ModelCallId, ModelError, ModelErrorKind, ModelEvent, Opaque, StopReason, Usage,
};

use crate::field::{count_at, text_at};
use crate::refusal::{self, broke_off, invalid_answer};
use crate::wire::Decoder;
use toolroom_host::sse::Event;

/// One answer on its way.
pub(super) struct Stream {
    owner: Arc<str>,
    model: Option<String>,
    pieces: Vec<Piece>,
    calls: usize,
    usage: Usage,
    finish: Option<String>,
}

enum Piece {
    Words(Words),
    Block(Block),
}

/// Text that arrives in parts. A signature belongs to the part it came with, so parts that have one are kept apart for
/// the way back, while people read one text.
struct Words {
    are_thoughts: bool,
    text: String,
    parts: Vec<Value>,
    /// Some part holds more than text.
    is_signed: bool,
}

impl Stream {
    pub(super) fn new(owner: &Arc<str>) -> Self {
        Self {
            owner: Arc::clone(owner),
            model: None,
            pieces: Vec::new(),
            calls: 0,
            usage: Usage::default(),
            finish: None,
        }
    }

    fn opaque(&self, part: Value) -> Opaque {
        Opaque { owner: Arc::clone(&self.owner), part: Arc::new(part) }
    }

    fn part(
        &mut self,
        mut part: Map<String, Value>,
        seed: &str,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), ModelError> {
        if let Some(Value::Object(function)) = part.get_mut("functionCall").map(Value::take) {
            return self.call(part, function, seed, on_event);
        }
        match part.get("text").and_then(Value::as_str).map(str::to_owned) {
            Some(text) => self.words(text, part, on_event),
            None => {
                let block = Block::Opaque(self.opaque(Value::Object(part)));
                self.pieces.push(Piece::Block(block));
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        mut part: Map<String, Value>,
        mut function: Map<String, Value>,
        seed: &str,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), ModelError> {
        let Some(Value::String(name)) = function.shift_remove("name") else {
            return Err(invalid_answer("a call has no name"));
        };
        let arguments = match function.shift_remove("args") {
            Some(args @ Value::Object(_)) => args.to_string(),
            _ => "{}".to_owned(),
        };
        let index = self.calls;
        self.calls += 1;
        let id = match function.get("id").and_then(Value::as_str) {
            Some(id) if !id.is_empty() => ModelCallId::new(id),
            _ => {
                function.shift_remove("id");
                ModelCallId::new(&format!("gemini-{seed}-{index}"))
            }
        };
        on_event(ModelEvent::Call { index, id: id.clone(), name: name.clone() });
        on_event(ModelEvent::Arguments { index, text: arguments.clone() });
        // Kept even where nothing else came with the call: it distinguishes our own calls from those of other clients.
        part.insert("functionCall".to_owned(), Value::Object(function));
        let opaque = Some(self.opaque(Value::Object(part)));
        self.pieces.push(Piece::Block(Block::Call { id, name, arguments: arguments.into(), opaque }));
        Ok(())
    }

    fn words(&mut self, text: String, part: Map<String, Value>, on_event: &mut dyn FnMut(ModelEvent)) {
        let are_thoughts = part.get("thought") == Some(&Value::Bool(true));
        let is_signed = part.keys().any(|key| key != "text" && key != "thought");
        if text.is_empty() && !is_signed {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Words(words)) if words.are_thoughts == are_thoughts => {
                words.add(&text, part, is_signed);
            }
            // A signature alone, after a call.
            _ if text.is_empty() => {
                let block = Block::Opaque(self.opaque(Value::Object(part)));
                self.pieces.push(Piece::Block(block));
            }
            _ => {
                let mut words =
                    Words { are_thoughts, text: String::new(), parts: Vec::new(), is_signed: false };
                words.add(&text, part, is_signed);
                self.pieces.push(Piece::Words(words));
            }
        }
        if !text.is_empty() {
            on_event(match are_thoughts {
                true => ModelEvent::Reasoning(text),
                false => ModelEvent::Text(text),
            });
        }
    }

    fn count(&mut self, chunk: &Value) {
        let Some(usage) = chunk.get("usageMetadata") else { return };
        // Each chunk has the totals so far.
        let count = |name: &str| count_at(usage, name).unwrap_or(0);
        let thoughts = count("/thoughtsTokenCount");
        self.usage = Usage {
            input: count("/promptTokenCount").saturating_add(count("/toolUsePromptTokenCount")),
            output: count("/candidatesTokenCount").saturating_add(thoughts),
            cache_read: count("/cachedContentTokenCount"),
            cache_write: 0,
            reasoning: thoughts,
        };
    }

    fn stop(&self, finish: &str) -> StopReason {
        match (finish, self.calls > 0) {
            ("STOP" | "FUNCTION_CALL", true) => StopReason::Calls,
            ("STOP" | "FUNCTION_CALL", false) => StopReason::Done,
            ("MAX_TOKENS", _) => StopReason::Length,
            (
                "SAFETY"
                | "RECITATION"
                | "LANGUAGE"
                | "BLOCKLIST"
                | "PROHIBITED_CONTENT"
                | "SPII"
                | "IMAGE_SAFETY"
                | "IMAGE_PROHIBITED_CONTENT"
                | "IMAGE_RECITATION",
                _,
            ) => StopReason::Filtered,
            (other, _) => StopReason::Other(other.to_owned()),
        }
    }
}

impl Decoder for Stream {
    fn event(&mut self, event: &Event, on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ModelError> {
        let mut chunk: Value = serde_json::from_str(&event.data)
            .map_err(|error| invalid_answer("a chunk is no JSON").caused_by(error))?;
        if chunk.get("error").is_some() {
            return Err(refusal::from_stream(&chunk));
        }
        if let Some(reason) = text_at(&chunk, "/promptFeedback/blockReason") {
            let said = text_at(&chunk, "/promptFeedback/blockReasonMessage").unwrap_or_default();
            let message = format!("the vendor refuses to answer this (`{reason}`) {said}");
            return Err(ModelError::new(ModelErrorKind::ContentFilter, message.trim_end()));
        }
        if let Some(model) = text_at(&chunk, "/modelVersion") {
            self.model = Some(model.to_owned());
        }
        self.count(&chunk);
        let seed = seed(&chunk, &event.data);
        let Some(candidate) = chunk.pointer_mut("/candidates/0") else { return Ok(()) };
        let finish = text_at(candidate, "/finishReason").map(str::to_owned);
        let said = text_at(candidate, "/finishMessage").unwrap_or_default().to_owned();
        if let Some(Value::Array(parts)) = candidate.pointer_mut("/content/parts").map(Value::take) {
            for part in parts {
                let Value::Object(part) = part else {
                    return Err(invalid_answer("a part is no object"));
                };
                self.part(part, &seed, on_event)?;
            }
        }
        match finish.as_deref() {
            // The model wrote what is no call. It writes another the next time.
            Some(word @ ("MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL")) => {
                Err(invalid_answer(format!("`{word}` {said}").trim_end()))
            }
            Some("FINISH_REASON_UNSPECIFIED") | None => Ok(()),
            Some(_) => {
                self.finish = finish;
                Ok(())
            }
        }
    }

    fn is_complete(&self) -> bool {
        // Usage may follow the reason, so only the end of the stream is the end.
        false
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        let Some(finish) = &self.finish else {
            return Err(broke_off());
        };
        let stop = self.stop(finish);
        let blocks = self
            .pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Words(words) => words.finish(&self.owner),
                Piece::Block(block) => block,
            })
            .collect();
        Ok(Answer { blocks, stop, usage: self.usage, model: self.model })
    }
}

impl Words {
    fn add(&mut self, text: &str, part: Map<String, Value>, is_signed: bool) {
        self.text.push_str(text);
        match self.parts.last_mut().and_then(Value::as_object_mut) {
            Some(last) if !is_signed && last.keys().all(|key| key == "text" || key == "thought") => {
                if let Some(Value::String(last)) = last.get_mut("text") {
                    last.push_str(text);
                }
            }
            _ => self.parts.push(Value::Object(part)),
        }
        self.is_signed |= is_signed;
    }

    fn finish(self, owner: &Arc<str>) -> Block {
        let part = Arc::new(json!(self.parts));
        let opaque = self.is_signed.then(|| Opaque { owner: Arc::clone(owner), part });
        match self.are_thoughts {
            true => Block::Reasoning { text: self.text, opaque },
            false => Block::Text { text: self.text, opaque },
        }
    }
}

/// What ids of calls begin with where the API gives none. The same stream gives the same; another turn another, since
/// at least its counts of tokens differ.
fn seed(chunk: &Value, data: &str) -> String {
    match text_at(chunk, "/responseId") {
        Some(id) => id.to_owned(),
        None => {
            let mut hasher = DefaultHasher::new();
            data.hash(&mut hasher);
            format!("{:016x}", hasher.finish())
        }
    }
}
