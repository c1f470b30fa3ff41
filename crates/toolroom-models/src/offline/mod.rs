//! A model that is none: rules instead of intelligence, so that the whole loop runs with no key and no network.
//!
//! `/tool key=value` calls a tool. A plain sentence calls one where the kernel's selector names it and everything the tool
//! requires can be read off the sentence. What comes of a call is said in words. Anything else gets a short answer about
//! what can be done here, and how to connect a real model; nothing is ever made up.
//!
//! The same request gets the same answer: nothing is opened, kept or looked up. System prompt and memories are not read.

mod arithmetic;
mod evidence;
mod fill;
mod on_offer;
mod results;
mod sentence;
mod slash;
mod small_talk;
mod speech;
#[cfg(test)]
mod tests;
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
use on_offer::OnOffer;

/// The vendor's part of its name.
pub const VENDOR: &str = "offline";

/// The model's part of its name.
pub const MODEL: &str = "toolroom";

/// Both.
pub const NAME: &str = "offline/toolroom";

/// It reads no more than the last messages, so its window is as large as any.
const WINDOW: u64 = 1_000_000;

/// Bytes of a message that are read. Who says more wants a real model.
const MAX_MESSAGE_BYTES: usize = 20_000;

/// The offline model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

/// What it does next.
#[derive(Debug, Clone, PartialEq)]
enum Reply {
    /// It says something.
    Words(String),
    /// It calls a tool, by its name on the wire.
    Call { name: String, arguments: Map<String, Value> },
}

impl Offline {
    /// What is known about it: it calls tools, and it is free.
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

/// The model of this name, if it is one of this vendor.
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
        told: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            if cancellation.is_cancelled() {
                return Err(ModelError::new(ModelErrorKind::Cancelled, "stopped"));
            }
            Ok(answer(request, told))
        })
    }
}

fn answer(request: &ModelRequest, told: &mut dyn FnMut(ModelEvent)) -> Answer {
    let (block, stop) = match reply(request) {
        Reply::Words(text) => {
            // It repeats what tools have read, and that may have been written to look like a call.
            let text = without_calls(&text).into_owned();
            speech::tell(&text, told);
            (Block::text(text), StopReason::Done)
        }
        Reply::Call { name, arguments } => {
            let id = ModelCallId::new(&format!("offline_{}", calls_so_far(request) + 1));
            let arguments = Value::Object(arguments).to_string();
            told(ModelEvent::Call { index: 0, id: id.clone(), name: name.clone() });
            told(ModelEvent::Arguments { index: 0, text: arguments.clone() });
            (Block::Call { id, name, arguments: arguments.into(), opaque: None }, StopReason::Calls)
        }
    };
    // Nobody counts tokens here, and nobody pays for them.
    Answer { blocks: vec![block], stop, usage: Usage::default(), model: Some(MODEL.to_owned()) }
}

fn reply(request: &ModelRequest) -> Reply {
    if request.tools.is_empty() && request.tool_use == ToolUse::Never {
        // The loop wants a summary. One by rules would be worse than none, and the loop goes on without.
        return Reply::Words(String::new());
    }
    let tools = OnOffer::new(&request.tools);
    let messages: Vec<&Message> = request.messages.iter().map(|message| &**message).collect();
    let said = messages.last().filter(|message| message.role == Role::User);
    let text = said.map(|message| message.text()).unwrap_or_default();
    let text = text.get(..text.floor_char_boundary(MAX_MESSAGE_BYTES)).unwrap_or_default().trim();
    if text.is_empty() {
        return Reply::Words(without_text(&messages, &tools));
    }
    if request.tool_use == ToolUse::Never {
        return Reply::Words(speech::may_not_call());
    }
    slash::read(text, &tools)
        .or_else(|| small_talk::answer(text, &tools).map(Reply::Words))
        .unwrap_or_else(|| sentence::read(text, &tools))
}

/// What is said to a turn without words: results of tools, a picture, nothing at all.
fn without_text(messages: &[&Message], tools: &OnOffer<'_>) -> String {
    let blocks = messages.last().map(|message| message.blocks.as_slice()).unwrap_or_default();
    if blocks.iter().any(|block| matches!(block, Block::Result { .. })) {
        return results::told(messages, tools);
    }
    match blocks.iter().any(|block| matches!(block, Block::Image(_))) {
        true => speech::cannot_see(),
        false => speech::introduction(tools),
    }
}

fn calls_so_far(request: &ModelRequest) -> usize {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter(|block| matches!(block, Block::Call { .. })).count()
}
