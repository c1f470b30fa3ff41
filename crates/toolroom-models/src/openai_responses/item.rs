//! One item of an answer: what has been told of it, and what it becomes.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::model::{Block, ModelCallId, ModelError, ModelErrorKind, ModelEvent, Opaque};

use crate::field::non_empty_text;

/// A call, as it has been told.
#[derive(Debug)]
struct Call {
    index: usize,
    id: ModelCallId,
}

/// An item while it arrives.
#[derive(Debug)]
pub(super) struct Item {
    /// Its place in the answer.
    pub(super) at: u64,
    /// As the vendor has it: begun, and in the end whole.
    value: Value,
    whole: bool,
    /// Words, thoughts or arguments, from pieces. What counts is the whole, where it arrives.
    pieces: String,
    call: Option<Call>,
}

impl Item {
    pub(super) fn new(at: u64, value: Value) -> Self {
        Self { at, value, whole: false, pieces: String::new(), call: None }
    }

    pub(super) fn is_call(&self) -> bool {
        self.kind() == "function_call"
    }

    /// The vendor's id of it.
    pub(super) fn id(&self) -> Option<&str> {
        non_empty_text(&self.value, "id")
    }

    /// A call of which only pieces are known.
    pub(super) fn is_untold_call(&self) -> bool {
        self.is_call() && self.call.is_none()
    }

    fn kind(&self) -> &str {
        non_empty_text(&self.value, "type").unwrap_or_default()
    }

    /// More of it.
    pub(super) fn piece(&mut self, piece: &str, on_event: &mut dyn FnMut(ModelEvent)) {
        if piece.is_empty() {
            return;
        }
        let text = piece.to_owned();
        let event = match (self.kind(), &self.call) {
            ("function_call", Some(call)) => Some(ModelEvent::Arguments { index: call.index, text }),
            ("message", _) => Some(ModelEvent::Text(text)),
            ("reasoning", _) => Some(ModelEvent::Reasoning(text)),
            _ => None,
        };
        self.pieces.push_str(piece);
        if let Some(event) = event {
            on_event(event);
        }
    }

    /// It begins to be a call.
    pub(super) fn begin_call(&mut self, index: usize, answer: &str, on_event: &mut dyn FnMut(ModelEvent)) {
        let id = match non_empty_text(&self.value, "call_id").or_else(|| non_empty_text(&self.value, "id")) {
            Some(id) => ModelCallId::new(id),
            None => ModelCallId::new(&format!("{answer}-call-{index}")),
        };
        let name = non_empty_text(&self.value, "name").unwrap_or_default().to_owned();
        on_event(ModelEvent::Call { index, id: id.clone(), name });
        self.call = Some(Call { index, id });
    }

    /// It has arrived whole. What no piece brought is told now.
    pub(super) fn end(&mut self, value: Value, on_event: &mut dyn FnMut(ModelEvent)) {
        self.value = value;
        self.whole = true;
        if self.pieces.is_empty() {
            let all = self.written();
            self.piece(&all, on_event);
        }
    }

    /// All that a call is called with, unless pieces have brought it.
    pub(super) fn arguments(&mut self, all: &str, on_event: &mut dyn FnMut(ModelEvent)) {
        if self.pieces.is_empty() {
            self.piece(all, on_event);
        }
    }

    /// What it says, from the whole if that has arrived.
    fn written(&self) -> String {
        if !self.whole {
            return self.pieces.clone();
        }
        match self.kind() {
            "function_call" => match self.value.get("arguments") {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => self.pieces.clone(),
                Some(other) => other.to_string(),
            },
            "message" => joined(&self.value, "content", ""),
            "reasoning" => {
                let summary = joined(&self.value, "summary", "\n\n");
                if summary.is_empty() { joined(&self.value, "content", "") } else { summary }
            }
            _ => String::new(),
        }
    }

    /// What it becomes. Words that also stand in a block are not kept twice.
    pub(super) fn into_block(self, owner: &Arc<str>) -> Result<Option<Block>, ModelError> {
        let text = self.written();
        let opaque = |value: Value| Opaque { owner: owner.clone(), part: Arc::new(value) };
        let kind = self.kind().to_owned();
        let Value::Object(fields) = self.value else { return Ok(None) };
        // By its id, the vendor would look for the thoughts that led to it, and refuse the whole if they are not there.
        let rest = |taken: &[&str]| {
            let rest: Map<String, Value> = (fields.iter())
                .filter(|(name, _)| !taken.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            (self.whole && !rest.is_empty()).then(|| opaque(Value::Object(rest)))
        };
        Ok(match kind.as_str() {
            "message" if text.is_empty() => None,
            "message" => Some(Block::Text { text, opaque: rest(&["type", "id", "role", "content"]) }),
            "function_call" => {
                let name = fields.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                let call = self.call.filter(|_| !name.is_empty()).ok_or_else(|| {
                    ModelError::new(
                        ModelErrorKind::Protocol,
                        "the answer holds a call without the name of a tool",
                    )
                })?;
                let opaque = rest(&["type", "id", "call_id", "name", "arguments"]);
                Some(Block::Call { id: call.id, name, arguments: text.into(), opaque })
            }
            "reasoning" => {
                // The vendor keeps nothing, so thoughts that are not in the item cannot be asked for again.
                let encrypted = fields.get("encrypted_content").is_some_and(Value::is_string);
                let opaque = (self.whole && encrypted).then(|| opaque(Value::Object(fields)));
                (opaque.is_some() || !text.is_empty()).then_some(Block::Reasoning { text, opaque })
            }
            _ if self.whole => Some(Block::Opaque(opaque(Value::Object(fields)))),
            _ => None,
        })
    }
}

/// The texts of a list of parts: words, refusals, thoughts.
fn joined(value: &Value, list: &str, between: &str) -> String {
    let parts = value.get(list).and_then(Value::as_array).into_iter().flatten();
    let texts =
        parts.filter_map(|part| non_empty_text(part, "text").or_else(|| non_empty_text(part, "refusal")));
    texts.collect::<Vec<_>>().join(between)
}
