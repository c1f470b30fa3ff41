//! From a request to the body that Gemini reads.

use std::sync::Arc;

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use toolroom::model::{Block, Message, ModelCallId, ModelRequest, OfferedTool, Opaque, Role, ToolUse};

use crate::arguments::as_object;
use crate::field::text_at;
use crate::schema::openapi;
use crate::turns::turns;
use crate::wire::{WireOptions, temperature};

/// Calls that another model wrote have no signature. Google names this one for them; without it they are refused.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &ModelRequest, options: &WireOptions) -> Value {
    let mut body = Map::new();
    body.insert("contents".to_owned(), json!(contents(&request.messages, options)));
    let system: Vec<Value> = [&request.system.lasting, &request.system.changing]
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({ "text": &**text }))
        .collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({ "parts": system }));
    }
    if !request.tools.is_empty() {
        let tools = json!([{ "functionDeclarations": declarations(&request.tools, options) }]);
        body.insert("tools".to_owned(), tools);
        if request.tool_use == ToolUse::Never && !options.quirks.no_tool_choice {
            let never = json!({ "functionCallingConfig": { "mode": "NONE" } });
            body.insert("toolConfig".to_owned(), never);
        }
    }
    let mut generation = Map::new();
    if let Some(most) = request.max_tokens {
        generation.insert("maxOutputTokens".to_owned(), json!(most));
    }
    if let Some(temperature) = temperature(request, options) {
        generation.insert("temperature".to_owned(), json!(temperature));
    }
    if !generation.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(generation));
    }
    Value::Object(body)
}

/// Parameters go as JSON Schema. Who does not know that field yet gets the older one, which understands a part of it
/// only and refuses the rest.
fn declarations(tools: &[OfferedTool], options: &WireOptions) -> Vec<Value> {
    let declaration = |tool: &OfferedTool| match options.quirks.openapi_parameters {
        true => json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": openapi(&tool.parameters).schema,
        }),
        false => json!({
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": &*tool.parameters,
        }),
    };
    tools.iter().map(declaration).collect()
}

/// The conversation on its way to the wire.
struct Contents<'a> {
    owner: &'a str,
    /// Calls whose ids came from the API, which wants to see them again.
    known: HashSet<&'a ModelCallId>,
    /// The place of each call in the turn before.
    order: HashMap<&'a ModelCallId, usize>,
    turns: Vec<Turn>,
}

/// All that one side says before the other does.
struct Turn {
    role: Role,
    /// Results, with the place of their call.
    results: Vec<(usize, Value)>,
    parts: Vec<Value>,
    calls: usize,
}

fn contents(messages: &[Arc<Message>], options: &WireOptions) -> Vec<Value> {
    let mut contents =
        Contents { owner: &options.owner, known: HashSet::new(), order: HashMap::new(), turns: Vec::new() };
    for turn in turns(messages) {
        for block in turn.blocks {
            contents.add(turn.role, block);
        }
    }
    contents.turns.into_iter().map(Turn::finish).collect()
}

impl<'a> Contents<'a> {
    fn add(&mut self, role: Role, block: &'a Block) {
        match block {
            Block::Text { text, opaque } => match opaque.as_ref().and_then(|opaque| self.own(opaque)) {
                Some(Value::Array(parts)) => self.turn(role).parts.extend(parts.iter().cloned()),
                _ if text.is_empty() => {}
                _ => self.turn(role).parts.push(json!({ "text": text })),
            },
            Block::Image(image) => self.turn(role).parts.push(json!({
                "inlineData": { "mimeType": image.media_type, "data": &*image.base64 },
            })),
            Block::Reasoning { opaque, .. } => {
                if let Some(Value::Array(parts)) = opaque.as_ref().and_then(|opaque| self.own(opaque)) {
                    self.turn(role).parts.extend(parts.iter().cloned());
                }
            }
            Block::Call { id, name, arguments, opaque } => {
                let part = opaque.as_ref().and_then(|opaque| self.own(opaque));
                if part.is_some_and(|part| text_at(part, "/functionCall/id").is_some()) {
                    self.known.insert(id);
                }
                let turn = self.turn(role);
                let place = turn.calls;
                turn.calls += 1;
                turn.parts.push(call(id, name, arguments, part, place == 0));
                self.order.insert(id, place);
            }
            Block::Result { id, name, content, is_error } => {
                let place = self.order.get(id).copied().unwrap_or(usize::MAX);
                let known = self.known.contains(id).then_some(id);
                let part = result(known, name, content, *is_error);
                self.turn(role).results.push((place, part));
            }
            Block::Opaque(opaque) => {
                if let Some(part) = self.own(opaque) {
                    self.turn(role).parts.push(part.clone());
                }
            }
        }
    }

    fn own(&self, opaque: &'a Opaque) -> Option<&'a Value> {
        (*opaque.owner == *self.owner).then_some(&*opaque.part)
    }

    /// Where this side goes on: in the turn at the end, or in a new one.
    fn turn(&mut self, role: Role) -> &mut Turn {
        let last = match self.turns.pop() {
            Some(last) if last.role == role => last,
            before => {
                self.turns.extend(before);
                if role == Role::Assistant {
                    self.order.clear();
                }
                Turn { role, results: Vec::new(), parts: Vec::new(), calls: 0 }
            }
        };
        self.turns.push_mut(last)
    }
}

impl Turn {
    /// Results come first, in the order of their calls: where there are no ids, they are told apart by it.
    fn finish(mut self) -> Value {
        self.results.sort_by_key(|(place, _)| *place);
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "model",
        };
        let parts: Vec<Value> =
            self.results.into_iter().map(|(_, result)| result).chain(self.parts).collect();
        json!({ "role": role, "parts": parts })
    }
}

/// The part of a call: what came with it, and the call as it stands in the conversation.
fn call(id: &ModelCallId, name: &str, arguments: &str, part: Option<&Value>, is_first: bool) -> Value {
    let mut call = match part {
        Some(Value::Object(part)) => part.clone(),
        // The first call of a turn carries the signature.
        _ if is_first => Map::from_iter([("thoughtSignature".to_owned(), json!(FOREIGN_SIGNATURE))]),
        _ => Map::new(),
    };
    let mut function = match call.get_mut("functionCall").map(Value::take) {
        Some(Value::Object(function)) => function,
        _ => Map::new(),
    };
    // If an id is used twice, the second call has the name of its result.
    if let Some(Value::String(theirs)) = function.get_mut("id") {
        id.as_str().clone_into(theirs);
    }
    function.insert("name".to_owned(), json!(name));
    function.insert("args".to_owned(), as_object(arguments));
    call.insert("functionCall".to_owned(), Value::Object(function));
    Value::Object(call)
}

/// The part of a result, with the call's id if the API knows it. What is said has to be an object.
fn result(id: Option<&ModelCallId>, name: &str, content: &Value, is_error: bool) -> Value {
    let response = match (content, is_error) {
        (Value::Object(_), _) => content.clone(),
        (_, true) => json!({ "error": content }),
        (_, false) => json!({ "result": content }),
    };
    let mut function = Map::new();
    if let Some(id) = id {
        function.insert("id".to_owned(), json!(id.as_str()));
    }
    function.insert("name".to_owned(), json!(name));
    function.insert("response".to_owned(), response);
    json!({ "functionResponse": function })
}
