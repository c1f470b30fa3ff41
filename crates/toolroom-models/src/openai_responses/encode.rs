//! Encodes requests for Responses.

use serde_json::{Map, Value, json};
use toolroom::model::{Block, ModelRequest, OfferedTool, Opaque, Role, ToolUse};

use crate::openai_chat::{data_url, result_text};
use crate::schema::openai_parameters;
use crate::turns::{Turn, turns};
use crate::wire::{WireOptions, temperature};

/// The body of a request.
pub(super) fn body(request: &ModelRequest, options: &WireOptions) -> Value {
    let mut input = Vec::new();
    if !request.system.changing.is_empty() {
        input.push(json!({"type": "message", "role": "developer", "content": *request.system.changing}));
    }
    for turn in turns(&request.messages) {
        match turn.role {
            Role::User => user(&turn, &mut input),
            Role::Assistant => input.extend(turn.blocks.iter().filter_map(|block| item(block, options))),
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    if !request.system.lasting.is_empty() {
        body.insert("instructions".to_owned(), json!(*request.system.lasting));
    }
    body.insert("input".to_owned(), Value::Array(input));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(|offered| tool(offered, options)).collect());
        if request.tool_use == ToolUse::Never && !options.quirks.no_tool_choice {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    if let Some(most) = request.max_tokens {
        body.insert("max_output_tokens".to_owned(), json!(most));
    }
    if let Some(temperature) = temperature(request, options) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    body.insert("store".to_owned(), json!(false));
    if !options.quirks.no_encrypted_reasoning {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    body.insert("stream".to_owned(), json!(true));
    Value::Object(body)
}

/// A tool. Without the word, the vendor takes schemas for strict ones and refuses most of them.
fn tool(offered: &OfferedTool, options: &WireOptions) -> Value {
    let (parameters, is_strict) = openai_parameters(&offered.parameters, &options.quirks);
    json!({
        "type": "function",
        "name": offered.name,
        "description": offered.description,
        "parameters": parameters.schema,
        "strict": is_strict,
    })
}

fn user(turn: &Turn<'_>, input: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for block in &turn.blocks {
        match block {
            Block::Result { id, content, .. } => input.push(json!({
                "type": "function_call_output", "call_id": id, "output": result_text(content),
            })),
            Block::Text { text, .. } => parts.push(json!({"type": "input_text", "text": text})),
            Block::Image(image) => parts.push(json!({"type": "input_image", "image_url": data_url(image)})),
            Block::Reasoning { .. } | Block::Call { .. } | Block::Opaque(_) => {}
        }
    }
    if !parts.is_empty() {
        input.push(json!({"type": "message", "role": "user", "content": parts}));
    }
}

fn item(block: &Block, options: &WireOptions) -> Option<Value> {
    match block {
        Block::Text { text, .. } if text.is_empty() => None,
        Block::Text { text, opaque } => {
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            let item = json!({"type": "message", "role": "assistant", "content": content});
            Some(completed(item, opaque.as_ref(), options))
        }
        Block::Call { id, name, arguments, opaque } => {
            let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
            let item = json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
            Some(completed(item, opaque.as_ref(), options))
        }
        Block::Reasoning { opaque, .. } => Some(owned(opaque.as_ref()?, options)?.clone()),
        Block::Opaque(opaque) => Some(owned(opaque, options)?.clone()),
        Block::Image(_) | Block::Result { .. } => None,
    }
}

/// The item with the fields the vendor had in it beside ours.
fn completed(mut item: Value, opaque: Option<&Opaque>, options: &WireOptions) -> Value {
    let theirs = opaque.and_then(|opaque| owned(opaque, options)).and_then(Value::as_object);
    if let (Some(ours), Some(theirs)) = (item.as_object_mut(), theirs) {
        for (name, value) in theirs {
            ours.entry(name.as_str()).or_insert_with(|| value.clone());
        }
    }
    item
}

fn owned<'a>(opaque: &'a Opaque, options: &WireOptions) -> Option<&'a Value> {
    (opaque.owner == options.owner).then_some(&*opaque.part)
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
