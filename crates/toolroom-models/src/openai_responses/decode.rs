//! From a stream of Responses to an answer.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom::model::{Answer, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage};

use super::item::Item;
use crate::field::non_empty_text;
use crate::refusal::{self, broke_off, invalid_answer};
use crate::wire::Decoder;
use toolroom_host::sse::Event;

/// More items in one answer are no answer.
const MAX_ITEMS: usize = 1_024;

/// Receives the events of an answer.
type OnEvent<'a> = &'a mut dyn FnMut(ModelEvent);

/// Reads one streamed answer.
#[derive(Debug)]
pub(super) struct ResponsesDecoder {
    owner: Arc<str>,
    /// The answer's own id, which makes ids of calls that have none.
    id: String,
    model: Option<String>,
    items: Vec<Item>,
    calls: usize,
    usage: Usage,
    /// Why it ended, once it has.
    end: Option<Ended>,
}

#[derive(Debug)]
enum Ended {
    Completed,
    /// With the vendor's reason.
    Incomplete(String),
}

impl ResponsesDecoder {
    pub(super) fn new(owner: Arc<str>) -> Self {
        Self {
            owner,
            id: String::new(),
            model: None,
            items: Vec::new(),
            calls: 0,
            usage: Usage::default(),
            end: None,
        }
    }

    fn read(&mut self, kind: &str, data: &Value, on_event: OnEvent<'_>) -> Result<(), ModelError> {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.response(data.get("response").unwrap_or(&Value::Null));
            }
            "response.output_item.added" => {
                self.item(data, "", on_event)?;
            }
            "response.output_item.done" => {
                let value = data.get("item").cloned().unwrap_or_default();
                self.item(data, "", on_event)?.end(value, on_event);
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let piece = non_empty_text(data, "delta").unwrap_or_default();
                self.item(data, "message", on_event)?.piece(piece, on_event);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let piece = non_empty_text(data, "delta").unwrap_or_default();
                self.item(data, "reasoning", on_event)?.piece(piece, on_event);
            }
            "response.reasoning_summary_part.added" => {
                let later = data.get("summary_index").and_then(Value::as_u64).is_some_and(|index| index > 0);
                self.item(data, "reasoning", on_event)?.piece(if later { "\n\n" } else { "" }, on_event);
            }
            "response.function_call_arguments.delta" => {
                let piece = non_empty_text(data, "delta").unwrap_or_default();
                self.item(data, "function_call", on_event)?.piece(piece, on_event);
            }
            "response.function_call_arguments.done" => {
                let all = non_empty_text(data, "arguments").unwrap_or_default();
                self.item(data, "function_call", on_event)?.arguments(all, on_event);
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                let response = data.get("response").unwrap_or(&Value::Null);
                self.end(kind, response, on_event)?;
            }
            "error" => return Err(refusal::from_stream(data)),
            // Parts that begin and end say nothing that their items do not say.
            _ => {}
        }
        Ok(())
    }

    /// The item an event is about. One that was never announced begins here.
    fn item(&mut self, data: &Value, kind: &str, on_event: OnEvent<'_>) -> Result<&mut Item, ModelError> {
        let announced = data.get("item").filter(|item| item.is_object());
        let id =
            non_empty_text(announced.unwrap_or(data), if announced.is_some() { "id" } else { "item_id" });
        let known = || self.items.iter().find(|item| id.is_some() && item.id() == id).map(|item| item.at);
        let place = data.get("output_index").and_then(Value::as_u64).or_else(known);
        let at = match (place, announced) {
            (Some(at), _) => at,
            (None, Some(_)) => self.next(),
            (None, None) => self.next().saturating_sub(1),
        };
        // A call is told once it is announced. Pieces that came before stand in the whole, too.
        if announced.is_some() {
            self.items.retain(|item| item.at != at || !item.is_untold_call());
        }
        let index = match self.items.iter().position(|item| item.at == at) {
            Some(index) => index,
            None if self.items.len() >= MAX_ITEMS => {
                let message = format!("the answer holds more than {MAX_ITEMS} items");
                return Err(ModelError::new(ModelErrorKind::Protocol, message));
            }
            None => {
                let value = announced.cloned().unwrap_or_else(|| json!({"type": kind}));
                let mut item = Item::new(at, value);
                if item.is_call() && announced.is_some() {
                    item.begin_call(self.calls, &self.id, on_event);
                    self.calls += 1;
                }
                self.items.push(item);
                self.items.len() - 1
            }
        };
        self.items.get_mut(index).ok_or_else(|| ModelError::new(ModelErrorKind::Protocol, "no such item"))
    }

    fn next(&self) -> u64 {
        self.items.iter().map(|item| item.at.saturating_add(1)).max().unwrap_or(0)
    }

    /// What the vendor says about the whole.
    fn response(&mut self, response: &Value) {
        if let Some(id) = non_empty_text(response, "id") {
            id.clone_into(&mut self.id);
        }
        if let Some(model) = non_empty_text(response, "model") {
            self.model = Some(model.to_owned());
        }
        if let Some(counted) = response.get("usage").filter(|usage| usage.is_object()) {
            self.usage = usage(counted);
        }
    }

    fn end(&mut self, kind: &str, response: &Value, on_event: OnEvent<'_>) -> Result<(), ModelError> {
        self.response(response);
        match kind {
            "response.completed" => self.end = Some(Ended::Completed),
            "response.incomplete" => {
                let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
                self.end = Some(Ended::Incomplete(reason.unwrap_or("incomplete").to_owned()));
            }
            "response.cancelled" => {
                return Err(ModelError::new(ModelErrorKind::Network, "the vendor cancelled the answer"));
            }
            _ => return Err(refusal::from_stream(response.get("error").unwrap_or(&Value::Null))),
        }
        // Who did not send the items one by one sends them here.
        if self.items.is_empty() {
            let output = response.get("output").and_then(Value::as_array).into_iter().flatten();
            for (at, item) in output.enumerate() {
                let data = json!({"output_index": at, "item": item});
                self.item(&data, "", on_event)?.end(item.clone(), on_event);
            }
        }
        Ok(())
    }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, event: &Event, on_event: OnEvent<'_>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" || self.end.is_some() {
            return Ok(());
        }
        let data: Value = serde_json::from_str(data)
            .map_err(|error| invalid_answer("an event is no JSON").caused_by(error))?;
        let kind = non_empty_text(&data, "type").or(event.name.as_deref()).unwrap_or_default();
        // A server that does not stream sends the whole at once.
        if non_empty_text(&data, "object") == Some("response") {
            let status = non_empty_text(&data, "status").unwrap_or("completed");
            return self.end(&format!("response.{status}"), &data, on_event);
        }
        if kind.is_empty() && data.get("error").is_some_and(|error| !error.is_null()) {
            return Err(refusal::from_stream(&data));
        }
        self.read(kind, &data, on_event)
    }

    fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    fn finish(mut self: Box<Self>) -> Result<Answer, ModelError> {
        let ended = if self.calls == 0 { StopReason::Done } else { StopReason::Calls };
        let stop = match self.end {
            Some(Ended::Completed) => ended,
            Some(Ended::Incomplete(reason)) => match reason.as_str() {
                "max_output_tokens" | "max_tokens" => StopReason::Length,
                "content_filter" => StopReason::Filtered,
                _ => StopReason::Other(reason),
            },
            None => return Err(broke_off()),
        };
        self.items.sort_by_key(|item| item.at);
        let mut blocks = Vec::new();
        for item in self.items {
            blocks.extend(item.into_block(&self.owner)?);
        }
        Ok(Answer { blocks, stop, usage: self.usage, model: self.model })
    }
}

fn usage(counted: &Value) -> Usage {
    let count = |path: &str| counted.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: count("/input_tokens"),
        output: count("/output_tokens"),
        cache_read: count("/input_tokens_details/cached_tokens"),
        cache_write: count("/input_tokens_details/cache_write_tokens"),
        reasoning: count("/output_tokens_details/reasoning_tokens"),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
