//! From Anthropic's stream of events to an answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolroom::model::{Answer, Block, ModelCallId, ModelError, ModelEvent, Opaque, StopReason, Usage};

use crate::field::{count_at, text_at};
use crate::refusal::{self, broke_off, invalid_answer};
use crate::wire::Decoder;
use toolroom_host::sse::Event;

/// One answer on its way.
pub(super) struct Stream {
    owner: Arc<str>,
    model: Option<String>,
    /// By their index in the answer.
    drafts: BTreeMap<u64, Draft>,
    calls: usize,
    counts: Counts,
    stop: Option<String>,
    ended: bool,
}

/// A block on its way: as it began, with what its deltas added.
struct Draft {
    block: Map<String, Value>,
    /// The text of `input`, which arrives in pieces that are no JSON.
    input: String,
    /// Which of the calls, if it is one.
    call: Option<usize>,
}

/// Tokens as they are counted here: what touches the cache is no part of the input.
#[derive(Default)]
struct Counts {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Stream {
    pub(super) fn new(owner: &Arc<str>) -> Self {
        Self {
            owner: Arc::clone(owner),
            model: None,
            drafts: BTreeMap::new(),
            calls: 0,
            counts: Counts::default(),
            stop: None,
            ended: false,
        }
    }

    fn begin(&mut self, data: &mut Value, on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ModelError> {
        let (Some(index), Some(Value::Object(block))) =
            (count_at(data, "/index"), data.get_mut("content_block").map(Value::take))
        else {
            return Err(invalid_answer("a block begins without index or content"));
        };
        if self.drafts.contains_key(&index) {
            return Err(invalid_answer("a block begins twice"));
        }
        let mut draft = Draft { block, input: String::new(), call: None };
        match draft.kind() {
            "tool_use" => {
                let (Some(id), Some(name)) = (draft.text_of("id"), draft.text_of("name")) else {
                    return Err(invalid_answer("a call has no id or no name"));
                };
                on_event(ModelEvent::Call {
                    index: self.calls,
                    id: ModelCallId::new(id),
                    name: name.to_owned(),
                });
                draft.call = Some(self.calls);
                self.calls += 1;
            }
            "text" => tell(draft.text_of("text"), ModelEvent::Text, on_event),
            "thinking" => tell(draft.text_of("thinking"), ModelEvent::Reasoning, on_event),
            _ => {}
        }
        self.drafts.insert(index, draft);
        Ok(())
    }

    fn add(&mut self, data: &Value, on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ModelError> {
        let Some(draft) = count_at(data, "/index").and_then(|index| self.drafts.get_mut(&index)) else {
            return Err(invalid_answer("a delta belongs to no block"));
        };
        match text_at(data, "/delta/type").unwrap_or_default() {
            "text_delta" => tell(draft.append("text", data), ModelEvent::Text, on_event),
            "thinking_delta" => tell(draft.append("thinking", data), ModelEvent::Reasoning, on_event),
            "signature_delta" => {
                draft.append("signature", data);
            }
            "citations_delta" => draft.push("citations", data.pointer("/delta/citation")),
            "input_json_delta" => {
                let text = text_at(data, "/delta/partial_json").unwrap_or_default();
                draft.input.push_str(text);
                if let Some(index) = draft.call {
                    tell(Some(text), |text| ModelEvent::Arguments { index, text }, on_event);
                }
            }
            // Deltas of a later version belong to blocks that have no meaning here.
            _ => {}
        }
        Ok(())
    }

    /// A server that does not stream sends the whole at once.
    fn whole(&mut self, message: &mut Value, on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ModelError> {
        self.model = text_at(message, "/model").map(str::to_owned);
        self.stop = text_at(message, "/stop_reason").map(str::to_owned);
        self.count(message.get("usage"));
        if let Some(Value::Array(blocks)) = message.get_mut("content").map(Value::take) {
            for (index, block) in blocks.into_iter().enumerate() {
                self.begin(&mut json!({ "index": index, "content_block": block }), on_event)?;
            }
        }
        self.ended = true;
        Ok(())
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        // Later counts are totals, and leave out what they do not change.
        let set = |count: &mut u64, name: &str| {
            if let Some(value) = count_at(usage, name) {
                *count = value;
            }
        };
        set(&mut self.counts.input, "/input_tokens");
        set(&mut self.counts.output, "/output_tokens");
        set(&mut self.counts.cache_read, "/cache_read_input_tokens");
        set(&mut self.counts.cache_write, "/cache_creation_input_tokens");
    }

    fn stop(&self) -> StopReason {
        match (self.stop.as_deref(), self.calls > 0) {
            (None | Some("end_turn" | "stop_sequence" | "tool_use"), true) => StopReason::Calls,
            (None | Some("end_turn" | "stop_sequence" | "tool_use"), false) => StopReason::Done,
            (Some("max_tokens" | "model_context_window_exceeded"), _) => StopReason::Length,
            (Some("refusal"), _) => StopReason::Filtered,
            (Some(other), _) => StopReason::Other(other.to_owned()),
        }
    }
}

impl Decoder for Stream {
    fn event(&mut self, event: &Event, on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ModelError> {
        if self.ended {
            return Ok(());
        }
        let mut data: Value = serde_json::from_str(&event.data)
            .map_err(|error| invalid_answer("an event is no JSON").caused_by(error))?;
        let kind = text_at(&data, "/type").or(event.name.as_deref()).unwrap_or_default().to_owned();
        match kind.as_str() {
            "message_start" => {
                self.model = text_at(&data, "/message/model").map(str::to_owned);
                self.count(data.pointer("/message/usage"));
            }
            "content_block_start" => self.begin(&mut data, on_event)?,
            "content_block_delta" => self.add(&data, on_event)?,
            "message_delta" => {
                if let Some(stop) = text_at(&data, "/delta/stop_reason") {
                    self.stop = Some(stop.to_owned());
                }
                self.count(data.get("usage"));
            }
            "message_stop" => self.ended = true,
            "message" => self.whole(&mut data, on_event)?,
            "error" => return Err(refusal::from_stream(&data)),
            // `ping`, the ends of blocks, and what later versions add.
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.ended
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        if !self.ended {
            return Err(broke_off());
        }
        let stop = self.stop();
        let Counts { input, output, cache_read, cache_write } = self.counts;
        let usage = Usage {
            input: input.saturating_add(cache_read).saturating_add(cache_write),
            output,
            cache_read,
            cache_write,
            reasoning: 0,
        };
        let blocks = self.drafts.into_values().filter_map(|draft| draft.finish(&self.owner)).collect();
        Ok(Answer { blocks, stop, usage, model: self.model })
    }
}

impl Draft {
    fn kind(&self) -> &str {
        self.text_of("type").unwrap_or_default()
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        self.block.get(name).and_then(Value::as_str)
    }

    /// Appends the delta's text of this name and gives it.
    fn append<'a>(&mut self, name: &str, data: &'a Value) -> Option<&'a str> {
        let more = data.get("delta")?.get(name)?.as_str()?;
        match self.block.get_mut(name) {
            Some(Value::String(text)) => text.push_str(more),
            _ => {
                self.block.insert(name.to_owned(), json!(more));
            }
        }
        Some(more)
    }

    fn push(&mut self, name: &str, item: Option<&Value>) {
        let mut items = match self.block.get_mut(name).map(Value::take) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        items.extend(item.cloned());
        self.block.insert(name.to_owned(), Value::Array(items));
    }

    fn finish(mut self, owner: &Arc<str>) -> Option<Block> {
        let opaque = |part: Value| Opaque { owner: Arc::clone(owner), part: Arc::new(part) };
        let kind = self.kind().to_owned();
        match kind.as_str() {
            "text" => {
                let text = self.take_text("text");
                let opaque = self.rest().map(opaque);
                (!text.is_empty() || opaque.is_some()).then_some(Block::Text { text, opaque })
            }
            // A signature holds for the block as a whole, so the whole of it is kept.
            "thinking" => {
                let text = self.text_of("thinking").unwrap_or_default().to_owned();
                let is_signed = self.text_of("signature").is_some_and(|signature| !signature.is_empty());
                let opaque = is_signed.then(|| opaque(Value::Object(self.block)));
                (!text.is_empty() || is_signed).then_some(Block::Reasoning { text, opaque })
            }
            "tool_use" => {
                let arguments = self.arguments();
                let (id, name) = (self.take_text("id"), self.take_text("name"));
                self.block.shift_remove("input");
                Some(Block::Call {
                    id: ModelCallId::new(&id),
                    name,
                    arguments: arguments.into(),
                    opaque: self.rest().map(opaque),
                })
            }
            _ => {
                if let Ok(input) = serde_json::from_str(&self.input) {
                    self.block.insert("input".to_owned(), input);
                }
                Some(Block::Opaque(opaque(Value::Object(self.block))))
            }
        }
    }

    /// The arguments as they were written. Some send them whole, with the beginning of the block.
    fn arguments(&self) -> String {
        match (self.input.is_empty(), self.block.get("input")) {
            (false, _) => self.input.clone(),
            (true, Some(input @ Value::Object(_))) => input.to_string(),
            (true, _) => "{}".to_owned(),
        }
    }

    fn take_text(&mut self, name: &str) -> String {
        match self.block.shift_remove(name) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }

    /// The fields that have no meaning here, to be given back with the block.
    fn rest(mut self) -> Option<Value> {
        self.block.shift_remove("type");
        self.block.retain(|_, value| !value.is_null());
        (!self.block.is_empty()).then_some(Value::Object(self.block))
    }
}

fn tell(text: Option<&str>, event: impl FnOnce(String) -> ModelEvent, on_event: &mut dyn FnMut(ModelEvent)) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        on_event(event(text.to_owned()));
    }
}
