//! The offline model: answers by rules, so that the whole loop runs without key and network.
//!
//! `/tool key=value` calls a tool. A plain sentence calls one if the kernel's selector names it and the sentence has all
//! required arguments. Results are described in words. Any other message gets help about the tools and about connecting a
//! real model.
//!
//! Deterministic and stateless. Ignores the system prompt and memories.

mod arithmetic;
mod evidence;
mod fill;
mod results;
mod sentence;
mod slash_command;
mod small_talk;
#[cfg(test)]
mod tests;
mod texts;
mod tool_list;
mod zones;

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::agent::without_calls;
use toolroom::model::{
    Answer, Block, Message, Model, ModelCallId, ModelError, ModelErrorKind, ModelEvent, ModelFacts,
    ModelRequest, Price, Role, StopReason, ToolUse, Usage,
};

use crate::directory::{OpenError, OpenedModel};
use crate::vendor::{Known, ModelName};
use tool_list::ToolList;

/// The vendor's part of its name.
pub const VENDOR: &str = "offline";

/// The model's part of its name.
pub const MODEL: &str = "toolroom";

/// Its full name.
pub const NAME: &str = "offline/toolroom";

/// Its window never overflows, because it reads only the last messages.
const WINDOW: u64 = 1_000_000;

/// Bytes of a message that are read.
const MAX_MESSAGE_BYTES: usize = 20_000;

/// The offline model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

/// Its reply.
#[derive(Debug, Clone, PartialEq)]
enum Reply {
    /// A text.
    Words(String),
    /// A tool call by the name on the wire.
    Call { name: String, arguments: Map<String, Value> },
}

impl Offline {
    /// Its profile: it calls tools and is free of charge.
    #[must_use]
    pub const fn known() -> Known {
        Known {
            facts: ModelFacts { window: WINDOW, price: Some(Price::FREE), ..ModelFacts::UNKNOWN },
            reasoning: false,
            no_temperature: false,
            assumed: false,
        }
    }
}

/// Opens the model of this name, if the vendor is `offline`.
pub(crate) fn open(name: &ModelName) -> Option<Result<OpenedModel, OpenError>> {
    (name.vendor() == VENDOR).then(|| match name.as_str() {
        NAME => Ok(OpenedModel { model: Arc::new(Offline), known: Offline::known() }),
        other => Err(OpenError::NoOffline { name: other.to_owned() }),
    })
}

impl Model for Offline {
    fn name(&self) -> &str {
        NAME
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        on_event: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            if cancellation.is_cancelled() {
                return Err(ModelError::new(ModelErrorKind::Cancelled, "stopped"));
            }
            Ok(answer(request, on_event))
        })
    }
}

fn answer(request: &ModelRequest, on_event: &mut dyn FnMut(ModelEvent)) -> Answer {
    let (block, stop) = match reply(request) {
        Reply::Words(text) => {
            // Results may contain text that looks like a call.
            let text = without_calls(&text).into_owned();
            texts::stream(&text, on_event);
            (Block::text(text), StopReason::Done)
        }
        Reply::Call { name, arguments } => {
            let id = ModelCallId::new(&format!("offline_{}", calls_so_far(request) + 1));
            let arguments = Value::Object(arguments).to_string();
            on_event(ModelEvent::Call { index: 0, id: id.clone(), name: name.clone() });
            on_event(ModelEvent::Arguments { index: 0, text: arguments.clone() });
            (Block::Call { id, name, arguments: arguments.into(), opaque: None }, StopReason::Calls)
        }
    };
    Answer { blocks: vec![block], stop, usage: Usage::default(), model: Some(MODEL.to_owned()) }
}

fn reply(request: &ModelRequest) -> Reply {
    if request.tools.is_empty() && request.tool_use == ToolUse::Never {
        // The loop asks for a summary, and continues without one.
        return Reply::Words(String::new());
    }
    let tools = ToolList::new(&request.tools);
    let messages: Vec<&Message> = request.messages.iter().map(|message| &**message).collect();
    let last = messages.last().filter(|message| message.role == Role::User);
    let text = last.map(|message| message.text()).unwrap_or_default();
    let text = text.get(..text.floor_char_boundary(MAX_MESSAGE_BYTES)).unwrap_or_default().trim();
    if text.is_empty() {
        return Reply::Words(without_text(&messages, &tools));
    }
    if request.tool_use == ToolUse::Never {
        return Reply::Words(texts::no_calls_allowed());
    }
    slash_command::read(text, &tools)
        .or_else(|| small_talk::answer(text, &tools).map(Reply::Words))
        .unwrap_or_else(|| sentence::read(text, &tools))
}

/// The reply to a turn without text: tool results, an image, or nothing.
fn without_text(messages: &[&Message], tools: &ToolList<'_>) -> String {
    let blocks = messages.last().map(|message| message.blocks.as_slice()).unwrap_or_default();
    if blocks.iter().any(|block| matches!(block, Block::Result { .. })) {
        return results::describe(messages, tools);
    }
    match blocks.iter().any(|block| matches!(block, Block::Image(_))) {
        true => texts::no_images(),
        false => texts::introduction(tools),
    }
}

fn calls_so_far(request: &ModelRequest) -> usize {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter(|block| matches!(block, Block::Call { .. })).count()
}
