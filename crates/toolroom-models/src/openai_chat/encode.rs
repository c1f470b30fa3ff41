//! Encodes requests for Chat Completions.

use serde_json::{Map, Value, json};
use toolroom::model::{Block, Image, ModelRequest, OfferedTool, Opaque, Role, SystemPrompt, ToolUse};

use super::call_ids::CallIds;
use crate::schema::openai_parameters;
use crate::turns::{Turn, turns};
use crate::wire::{ReasoningEcho, WireOptions, temperature};

/// The body of a request.
pub(super) fn body(request: &ModelRequest, options: &WireOptions) -> Value {
    let mut messages: Vec<Value> = system(&request.system).into_iter().collect();
    let ids = match options.quirks.short_call_ids {
        true => CallIds::short(&request.messages),
        false => CallIds::default(),
    };
    for turn in turns(&request.messages) {
        match turn.role {
            Role::User => user(&turn, &ids, &mut messages),
            Role::Assistant => messages.extend(assistant(&turn, &ids, options)),
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    body.insert("messages".to_owned(), Value::Array(messages));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(|offered| tool(offered, options)).collect());
        if request.tool_use == ToolUse::Never && !options.quirks.no_tool_choice {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    if let Some(most) = request.max_tokens {
        let name = if options.quirks.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(name.to_owned(), json!(most));
    }
    if let Some(temperature) = temperature(request, options) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    body.insert("stream".to_owned(), json!(true));
    if options.quirks.usage_on_request {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    Value::Object(body)
}

/// One message, since templates of local models take one and at the beginning. What lasts comes first in it.
fn system(prompt: &SystemPrompt) -> Option<Value> {
    let parts: Vec<&str> =
        [&*prompt.lasting, &*prompt.changing].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| json!({"role": "system", "content": parts.join("\n\n")}))
}

fn tool(offered: &OfferedTool, options: &WireOptions) -> Value {
    let mut function = json!({ "name": offered.name, "description": offered.description });
    let (parameters, is_strict) = openai_parameters(&offered.parameters, &options.quirks);
    if let Some(function) = function.as_object_mut() {
        function.insert("parameters".to_owned(), parameters.schema);
        if is_strict {
            function.insert("strict".to_owned(), json!(true));
        }
    }
    json!({ "type": "function", "function": function })
}

fn user(turn: &Turn<'_>, ids: &CallIds<'_>, messages: &mut Vec<Value>) {
    let mut parts = Vec::new();
    let mut words = Vec::new();
    for block in &turn.blocks {
        match block {
            Block::Result { id, content, .. } => messages.push(json!({
                "role": "tool", "tool_call_id": ids.written(id), "content": result_text(content),
            })),
            Block::Text { text, .. } => {
                words.push(text.as_str());
                parts.push(json!({"type": "text", "text": text}));
            }
            Block::Image(image) => {
                parts.push(json!({"type": "image_url", "image_url": {"url": data_url(image)}}));
            }
            Block::Reasoning { .. } | Block::Call { .. } | Block::Opaque(_) => {}
        }
    }
    // Many servers know text only as text, not as a list of parts.
    if parts.len() == words.len() {
        if !words.is_empty() {
            messages.push(json!({"role": "user", "content": words.join("\n\n")}));
        }
    } else {
        messages.push(json!({"role": "user", "content": parts}));
    }
}

fn assistant(turn: &Turn<'_>, ids: &CallIds<'_>, options: &WireOptions) -> Option<Value> {
    let mut words = Vec::new();
    let mut thoughts = Vec::new();
    let mut details = Vec::new();
    let mut calls = Vec::new();
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), Value::Null);
    for block in &turn.blocks {
        match block {
            Block::Text { text, opaque } => {
                if !text.is_empty() {
                    words.push(text.as_str());
                }
                give_back(&mut message, opaque.as_ref(), options);
            }
            Block::Reasoning { text, opaque } => {
                thoughts.push(text.as_str());
                let owned = owned(opaque.as_ref(), options).and_then(|part| part.get("reasoning_details"));
                details.extend(owned.and_then(Value::as_array).into_iter().flatten().cloned());
            }
            Block::Call { id, name, arguments, opaque } => {
                let mut call = Map::new();
                call.insert("id".to_owned(), ids.written(id));
                call.insert("type".to_owned(), json!("function"));
                let arguments = written(arguments, options);
                call.insert("function".to_owned(), json!({"name": name, "arguments": arguments}));
                give_back(&mut call, opaque.as_ref(), options);
                calls.push(Value::Object(call));
            }
            Block::Image(_) | Block::Result { .. } | Block::Opaque(_) => {}
        }
    }
    if words.is_empty() && calls.is_empty() {
        return None;
    }
    if !words.is_empty() {
        message.insert("content".to_owned(), json!(words.join("\n\n")));
    }
    let echo = match options.quirks.reasoning {
        ReasoningEcho::Strip => false,
        ReasoningEcho::WithCalls => !calls.is_empty(),
        ReasoningEcho::Always => true,
    };
    let thoughts = thoughts.join("\n\n");
    if !details.is_empty() {
        message.insert("reasoning_details".to_owned(), Value::Array(details));
    } else if echo && !thoughts.is_empty() {
        message.insert("reasoning_content".to_owned(), json!(thoughts));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Some(Value::Object(message))
}

/// Arguments as the model wrote them. Where there are none at all, servers that parse them expect an empty object.
fn written(arguments: &str, options: &WireOptions) -> Value {
    if options.quirks.arguments_as_object {
        let object = serde_json::from_str(arguments).ok().filter(Value::is_object);
        return object.unwrap_or_else(|| json!({}));
    }
    json!(if arguments.trim().is_empty() { "{}" } else { arguments })
}

/// The vendor's own part, if it is this vendor's.
fn owned<'a>(opaque: Option<&'a Opaque>, options: &WireOptions) -> Option<&'a Map<String, Value>> {
    opaque.filter(|opaque| opaque.owner == options.owner)?.part.as_object()
}

/// Puts the fields of the vendor's own part where they came from. They never replace what we say.
fn give_back(place: &mut Map<String, Value>, opaque: Option<&Opaque>, options: &WireOptions) {
    for (name, value) in owned(opaque, options).into_iter().flatten() {
        place.entry(name.as_str()).or_insert_with(|| value.clone());
    }
}

/// A result as the text that a model reads.
pub(crate) fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A picture in a URL.
pub(crate) fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type, image.base64)
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
