//! From a stream of Chat Completions to an answer.
//!
//! Servers that call themselves compatible leave out ids, indexes and the end, send whole messages instead of pieces,
//! or spell thoughts in three ways. What can be understood is understood; unknown fields are ignored.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom::model::{Answer, Block, ModelError, ModelEvent, Opaque, StopReason, Usage};

use super::calls::Calls;
use crate::field::non_empty_text;
use crate::refusal::{self, broke_off, invalid_answer};
use crate::wire::Decoder;
use toolroom_host::sse::Event;

/// Receives the events of an answer.
type OnEvent<'a> = &'a mut dyn FnMut(ModelEvent);

/// Reads one streamed answer.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    owner: Arc<str>,
    model: Option<String>,
    text: String,
    /// What the vendor wants back with the text.
    text_extra: Option<Value>,
    reasoning: String,
    /// OpenRouter's form of thoughts, to be given back.
    details: Vec<Value>,
    calls: Calls,
    finish: Option<String>,
    usage: Usage,
    /// The vendor said that nothing more comes.
    done: bool,
}

impl ChatDecoder {
    pub(super) fn new(owner: Arc<str>) -> Self {
        Self {
            owner,
            model: None,
            text: String::new(),
            text_extra: None,
            reasoning: String::new(),
            details: Vec::new(),
            calls: Calls::default(),
            finish: None,
            usage: Usage::default(),
            done: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.details.is_empty() && self.calls.is_empty()
    }

    fn chunk(&mut self, chunk: &Value, on_event: OnEvent<'_>) -> Result<(), ModelError> {
        if let Some(id) = non_empty_text(chunk, "id") {
            self.calls.of_answer(id);
        }
        if let Some(model) = non_empty_text(chunk, "model") {
            self.model = Some(model.to_owned());
        }
        let groq = || chunk.pointer("/x_groq/usage");
        if let Some(counted) = chunk.get("usage").filter(|usage| usage.is_object()).or_else(groq) {
            self.usage = usage(counted);
        }
        // Uses the first of several alternatives.
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let choices = chunk.get("choices").and_then(Value::as_array).into_iter().flatten();
        for choice in choices.filter(first) {
            if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
                return Err(refusal::from_stream(error));
            }
            match (choice.get("delta"), choice.get("message")) {
                (Some(delta), _) if delta.is_object() => self.delta(delta, on_event)?,
                // Some repeat the whole at the end of the pieces.
                (_, Some(message)) if self.is_empty() => self.delta(message, on_event)?,
                _ => {}
            }
            if let Some(reason) = non_empty_text(choice, "finish_reason") {
                self.finish = Some(reason.to_lowercase());
            }
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, on_event: OnEvent<'_>) -> Result<(), ModelError> {
        self.think(delta, on_event);
        match delta.get("content") {
            Some(Value::String(text)) => self.say(text, on_event),
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.part(part, on_event);
                }
            }
            _ => {}
        }
        if let Some(refusal) = non_empty_text(delta, "refusal") {
            self.say(refusal, on_event);
        }
        if let Some(extra) = delta.get("extra_content").filter(|extra| !extra.is_null()) {
            self.text_extra = Some(extra.clone());
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.calls.delta(call, on_event)?;
        }
        if let Some(function) = delta.get("function_call").filter(|function| function.is_object()) {
            self.calls.delta(&json!({"function": function}), on_event)?;
        }
        Ok(())
    }

    /// Mistral's parts of content.
    fn part(&mut self, part: &Value, on_event: OnEvent<'_>) {
        match part.get("thinking") {
            Some(Value::String(thought)) => self.reason(thought, on_event),
            Some(Value::Array(thoughts)) => {
                for thought in thoughts.iter().filter_map(|thought| non_empty_text(thought, "text")) {
                    self.reason(thought, on_event);
                }
            }
            _ => {
                if let Some(words) = non_empty_text(part, "text") {
                    self.say(words, on_event);
                }
            }
        }
    }

    fn think(&mut self, delta: &Value, on_event: OnEvent<'_>) {
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        let plain = non_empty_text(delta, "reasoning_content").or_else(|| non_empty_text(delta, "reasoning"));
        if let Some(thought) = plain {
            self.reason(thought, on_event);
        }
        for detail in details.into_iter().flatten() {
            if plain.is_none() {
                let thought = non_empty_text(detail, "text").or_else(|| non_empty_text(detail, "summary"));
                self.reason(thought.unwrap_or_default(), on_event);
            }
            self.detail(detail);
        }
    }

    /// Thoughts come in pieces, too, and are wanted back whole.
    fn detail(&mut self, detail: &Value) {
        let same = |last: &Value, name: &str| last.get(name) == detail.get(name);
        let spoken = ["text", "summary"].into_iter().find(|name| non_empty_text(detail, name).is_some());
        let signed = non_empty_text(detail, "signature").is_some();
        let last = self.details.last_mut().filter(|last| {
            (spoken.is_some() || signed)
                && same(last, "type")
                && same(last, "index")
                && non_empty_text(last, "signature").is_none()
        });
        let (Some(last), Some(fields)) = (last.and_then(Value::as_object_mut), detail.as_object()) else {
            self.details.push(detail.clone());
            return;
        };
        for (name, value) in fields {
            match (last.get_mut(name), value) {
                (Some(Value::String(whole)), Value::String(piece)) if Some(name.as_str()) == spoken => {
                    whole.push_str(piece);
                }
                (None | Some(Value::Null), value) => {
                    last.insert(name.clone(), value.clone());
                }
                _ => {}
            }
        }
    }

    fn say(&mut self, words: &str, on_event: OnEvent<'_>) {
        if !words.is_empty() {
            self.text.push_str(words);
            on_event(ModelEvent::Text(words.to_owned()));
        }
    }

    fn reason(&mut self, thought: &str, on_event: OnEvent<'_>) {
        if !thought.is_empty() {
            self.reasoning.push_str(thought);
            on_event(ModelEvent::Reasoning(thought.to_owned()));
        }
    }

    fn opaque(&self, name: &str, value: &Value) -> Opaque {
        Opaque { owner: self.owner.clone(), part: Arc::new(json!({ name: value })) }
    }

    fn stop(&self) -> Result<StopReason, ModelError> {
        let ended = if self.calls.is_empty() { StopReason::Done } else { StopReason::Calls };
        match self.finish.as_deref() {
            // Calls end a turn under many names, and none of them promises that there are any.
            Some("stop" | "tool_calls" | "function_call" | "end_turn" | "eos") => Ok(ended),
            Some("length" | "max_tokens" | "model_length") => Ok(StopReason::Length),
            Some("content_filter") => Ok(StopReason::Filtered),
            Some("error") => Err(refusal::from_stream(&Value::Null)),
            Some(other) => Ok(StopReason::Other(other.to_owned())),
            None if self.done && !self.is_empty() => Ok(ended),
            None => Err(broke_off()),
        }
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, event: &Event, on_event: OnEvent<'_>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.done = true;
        }
        if self.done || data.is_empty() {
            return Ok(());
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| invalid_answer("an event is no JSON").caused_by(error))?;
        let is_error = chunk.get("error").is_some_and(|error| !error.is_null())
            || non_empty_text(&chunk, "object") == Some("error")
            || event.name.as_deref() == Some("error");
        if is_error {
            return Err(refusal::from_stream(&chunk));
        }
        self.chunk(&chunk, on_event)
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn finish(mut self: Box<Self>) -> Result<Answer, ModelError> {
        let stop = self.stop()?;
        let mut blocks = Vec::new();
        if !self.reasoning.is_empty() || !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            let opaque = (!details.is_empty()).then(|| self.opaque("reasoning_details", &details.into()));
            blocks.push(Block::Reasoning { text: std::mem::take(&mut self.reasoning), opaque });
        }
        let extra = self.text_extra.take();
        if !self.text.is_empty() || extra.is_some() {
            let opaque = extra.map(|extra| self.opaque("extra_content", &extra));
            blocks.push(Block::Text { text: std::mem::take(&mut self.text), opaque });
        }
        blocks.extend(std::mem::take(&mut self.calls).into_blocks(&self.owner)?);
        Ok(Answer { blocks, stop, usage: self.usage, model: self.model })
    }
}

/// Tokens, of which vendors count thoughts sometimes into what was written and sometimes beside it. The total tells.
fn usage(counted: &Value) -> Usage {
    let count = |path: &str| counted.pointer(path).and_then(Value::as_u64);
    let input = count("/prompt_tokens").unwrap_or(0);
    let beside = count("/total_tokens").unwrap_or(0).saturating_sub(input);
    Usage {
        input,
        output: count("/completion_tokens").unwrap_or(0).max(beside),
        cache_read: count("/prompt_tokens_details/cached_tokens")
            .or_else(|| count("/prompt_cache_hit_tokens"))
            .or_else(|| count("/cached_tokens"))
            .unwrap_or(0),
        cache_write: count("/prompt_tokens_details/cache_write_tokens").unwrap_or(0),
        reasoning: count("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
