//! From a request to the body that Anthropic reads.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolroom::model::{Block, Message, ModelCallId, ModelRequest, OfferedTool, Opaque, Role, ToolUse};

use crate::arguments::as_object;
use crate::field::text_at;
use crate::schema::object_top;
use crate::turns::turns as ordered;
use crate::wire::{WireOptions, temperature};

/// The API wants a bound; this one holds with every model it serves.
const DEFAULT_MAX_TOKENS: u32 = 8_192;

pub(super) fn body(request: &ModelRequest, options: &WireOptions) -> Value {
    let most = request.max_tokens.or(options.quirks.default_max_tokens).unwrap_or(DEFAULT_MAX_TOKENS);
    let mut body = Map::from_iter([
        ("model".to_owned(), json!(options.model)),
        ("max_tokens".to_owned(), json!(most)),
        ("stream".to_owned(), json!(true)),
    ]);
    let system = system(request);
    if !system.is_empty() {
        body.insert("system".to_owned(), Value::Array(system));
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools(&request.tools)));
        if request.tool_use == ToolUse::Never && !options.quirks.no_tool_choice {
            body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
        }
    }
    let mut messages = messages(&request.messages, options);
    if !request.tools.is_empty() && request.tool_use != ToolUse::Never {
        keep_for_the_next(&mut messages);
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    if let Some(temperature) = temperature(request, options) {
        // The scale ends at 1 here, not at 2 as elsewhere.
        body.insert("temperature".to_owned(), json!(temperature.clamp(0.0, 1.0)));
    }
    Value::Object(body)
}

fn system(request: &ModelRequest) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !request.system.lasting.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": &*request.system.lasting, "cache_control": cached() }));
    }
    if !request.system.changing.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": &*request.system.changing }));
    }
    blocks
}

fn cached() -> Value {
    json!({ "type": "ephemeral" })
}

fn tools(offered: &[OfferedTool]) -> Vec<Value> {
    let mut tools: Vec<Value> = offered
        .iter()
        .map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "input_schema": object_top(&tool.parameters).schema })
        })
        .collect();
    if let Some(last) = tools.last_mut().and_then(Value::as_object_mut) {
        last.insert("cache_control".to_owned(), cached());
    }
    tools
}

/// Turns of the same side become one, so that sides alternate and all results of a turn stand in one message.
fn messages(messages: &[Arc<Message>], options: &WireOptions) -> Vec<Value> {
    let mut turns: Vec<(Role, Vec<Value>)> = Vec::new();
    for said in ordered(messages) {
        let blocks = said.blocks.iter().filter_map(|block| content(block, options));
        match turns.last_mut() {
            Some((role, turn)) if *role == said.role => turn.extend(blocks),
            _ => {
                let blocks: Vec<Value> = blocks.collect();
                if !blocks.is_empty() {
                    turns.push((said.role, blocks));
                }
            }
        }
    }
    turns.into_iter().map(|(role, blocks)| turn(role, blocks)).collect()
}

/// Marks the end of the conversation as worth keeping while results go back and forth: the next request of the same run
/// begins with all of this. What is kept costs more at first, so it is not done before tools are at work.
fn keep_for_the_next(messages: &mut [Value]) {
    let blocks = messages.last_mut().and_then(|last| last.get_mut("content")?.as_array_mut());
    let Some(blocks) = blocks else { return };
    if blocks.first().and_then(|first| text_at(first, "/type")) == Some("tool_result")
        && let Some(last) = blocks.last_mut().and_then(Value::as_object_mut)
    {
        last.insert("cache_control".to_owned(), cached());
    }
}

fn turn(role: Role, mut blocks: Vec<Value>) -> Value {
    match role {
        Role::User => {
            // Results that do not come first are taken for missing. The sort is stable.
            blocks.sort_by_key(|block| text_at(block, "/type") != Some("tool_result"));
            json!({ "role": "user", "content": blocks })
        }
        Role::Assistant => json!({ "role": "assistant", "content": blocks }),
    }
}

fn content(block: &Block, options: &WireOptions) -> Option<Value> {
    let own = |opaque: &Opaque| (opaque.owner == options.owner).then(|| Value::clone(&opaque.part));
    match block {
        // Words that are only blanks are refused.
        Block::Text { text, .. } if text.trim().is_empty() => None,
        Block::Text { text, opaque } => {
            Some(with(json!({ "type": "text", "text": text }), opaque.as_ref().and_then(own)))
        }
        Block::Image(image) => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": image.media_type, "data": &*image.base64 },
        })),
        // Thoughts without a signature are refused, and those of other vendors have none.
        Block::Reasoning { opaque, .. } => opaque.as_ref().and_then(own),
        Block::Call { id, name, arguments, opaque } => {
            let call = json!({
                "type": "tool_use", "id": call_id(id), "name": name, "input": as_object(arguments),
            });
            Some(with(call, opaque.as_ref().and_then(own)))
        }
        Block::Result { id, content, is_error, .. } => {
            let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
            let result = json!({ "type": "tool_result", "tool_use_id": call_id(id), "content": text });
            Some(with(result, is_error.then(|| json!({ "is_error": true }))))
        }
        Block::Opaque(opaque) => own(opaque),
    }
}

/// The block with more fields.
fn with(mut block: Value, fields: Option<Value>) -> Value {
    if let (Some(block), Some(Value::Object(fields))) = (block.as_object_mut(), fields) {
        for (name, value) in fields {
            block.entry(name).or_insert(value);
        }
    }
    block
}

/// Ids are made of letters, digits, `_` and `-` here; those of other vendors need not be.
fn call_id(id: &ModelCallId) -> String {
    let mut legal = String::with_capacity(id.as_str().len());
    for character in id.as_str().chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => legal.push(character),
            other => legal.push_str(&format!("_{:x}", u32::from(other))),
        }
    }
    match legal.is_empty() {
        true => "_".to_owned(),
        false => legal,
    }
}
