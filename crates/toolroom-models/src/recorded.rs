//! Streams as vendors send them, read by a wire in a test.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolroom::model::{
    Answer, Block, Message, ModelError, ModelEvent, ModelRequest, Role, SystemPrompt, ToolUse,
};

use crate::wire::{Wire, WireOptions};
use toolroom_host::sse::{Event, Reader};

/// The options of a vendor of this name.
pub(crate) fn wire_options(owner: &str, model: &str) -> WireOptions {
    WireOptions { model: model.to_owned(), owner: owner.into(), quirks: crate::wire::Quirks::default() }
}

/// A request with nothing in it.
pub(crate) fn request() -> ModelRequest {
    ModelRequest {
        system: SystemPrompt::default(),
        messages: Vec::new(),
        tools: [].into(),
        tool_use: ToolUse::Free,
        max_tokens: None,
        temperature: None,
    }
}

/// The request that follows an answer, all of whose calls went well.
pub(crate) fn next_request(answer: Answer) -> ModelRequest {
    let result = |block: &Block| match block {
        Block::Call { id, name, .. } => {
            let content = Arc::new(json!("ok"));
            Some(Block::Result { id: id.clone(), name: name.clone(), content, is_error: false })
        }
        _ => None,
    };
    let results = answer.blocks.iter().filter_map(result).collect();
    let results = Message { role: Role::User, blocks: results };
    let messages = vec![Arc::new(answer.into_message()), Arc::new(results)];
    ModelRequest { messages, ..request() }
}

/// What was told on the way, and what came of it.
pub(crate) type Heard = (Vec<ModelEvent>, Result<Answer, ModelError>);

/// Reads a stream that arrives in these pieces.
pub(crate) fn read(wire: &dyn Wire, options: &WireOptions, pieces: &[&[u8]]) -> Heard {
    let mut reader = Reader::default();
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece, |event| events.push(event)).unwrap();
    }
    reader.finish(|event| events.push(event));
    let mut decoder = wire.decoder(options);
    let mut told = Vec::new();
    for event in events {
        if let Err(error) = decoder.event(&event, &mut |event| told.push(event)) {
            return (told, Err(error));
        }
    }
    (told, decoder.finish())
}

/// Reads a stream cut in two at every place, and says what all of them say.
pub(crate) fn heard(wire: &dyn Wire, options: &WireOptions, stream: &str) -> Heard {
    let whole = read(wire, options, &[stream.as_bytes()]);
    for place in 0..=stream.len() {
        let (before, after) = stream.as_bytes().split_at(place);
        let cut = read(wire, options, &[before, after]);
        assert_eq!(format!("{cut:?}"), format!("{whole:?}"), "cut at {place}");
    }
    whole
}

/// The answer of a stream.
pub(crate) fn answer(wire: &dyn Wire, options: &WireOptions, stream: &str) -> Answer {
    heard(wire, options, stream).1.unwrap()
}

/// Whether a wire stays on its feet: it reads on after each error, and what comes of it is sent again.
pub(crate) fn endure(wire: &dyn Wire, options: &WireOptions, lines: &[String]) {
    let mut decoder = wire.decoder(options);
    let mut told = 0;
    let mut errors = Vec::new();
    for line in lines {
        let data = line.strip_prefix("data: ").unwrap_or(line);
        let event = Event { name: None, data: data.to_owned() };
        errors.extend(decoder.event(&event, &mut |_| told += 1).err());
        errors.extend([0, 200, 400, 429, 503].map(|status| wire.refusal(status, data)));
    }
    for error in errors {
        assert!(!error.message.is_empty() && error.message.chars().count() < 2_000);
    }
    if let Ok(answer) = decoder.finish() {
        let mut request = request();
        request.messages = vec![Arc::new(answer.into_message())];
        wire.encode(&request, options);
    }
}

/// Events of these streams, events with a value or a character changed, and lines of anything.
pub(crate) fn nearly(streams: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    let lines: Vec<&str> = streams
        .iter()
        .flat_map(|stream| stream.lines())
        .filter_map(|line| line.strip_prefix("data: "))
        .collect();
    let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let values =
        vec![json!(null), json!([]), json!({}), json!("x"), json!(-1), json!(u64::MAX), json!([[7]])];
    let misspelt = |(line, at, character): (&str, prop::sample::Index, char)| {
        let mut characters: Vec<char> = line.chars().collect();
        let at = at.index(characters.len());
        characters[at] = character;
        characters.into_iter().collect()
    };
    let changed = |(mut event, at, value): (Value, prop::sample::Index, Value)| {
        let places = places(&event, "");
        *event.pointer_mut(&places[at.index(places.len())]).unwrap() = value;
        event.to_string()
    };
    prop_oneof![
        2 => prop::sample::select(lines.clone()).prop_map(str::to_owned),
        1 => (prop::sample::select(lines), any::<prop::sample::Index>(), any::<char>()).prop_map(misspelt),
        4 => (prop::sample::select(events), any::<prop::sample::Index>(), prop::sample::select(values))
            .prop_map(changed),
        1 => ".{0,40}",
    ]
}

/// All places in a value, as JSON pointers.
fn places(value: &Value, here: &str) -> Vec<String> {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    let below = below.iter().flat_map(|(name, value)| places(value, &format!("{here}/{name}")));
    std::iter::once(here.to_owned()).chain(below).collect()
}
