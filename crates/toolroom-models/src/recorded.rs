//! Streams as vendors send them, read by a wire in a test.

use proptest::prelude::*;
use toolroom::model::{Answer, ModelError, ModelEvent, ModelRequest, SystemPrompt, ToolUse};

use crate::sse::Reader;
use crate::wire::{Terms, Wire};

/// The terms of a vendor of this name.
pub(crate) fn terms(owner: &str, model: &str) -> Terms {
    Terms { model: model.to_owned(), owner: owner.into(), quirks: crate::wire::Quirks::default() }
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

/// What was told on the way, and what came of it.
pub(crate) type Heard = (Vec<ModelEvent>, Result<Answer, ModelError>);

/// Reads a stream that arrives in these pieces.
pub(crate) fn read(wire: &dyn Wire, terms: &Terms, pieces: &[&[u8]]) -> Heard {
    let mut reader = Reader::default();
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece, |event| events.push(event)).unwrap();
    }
    reader.finish(|event| events.push(event));
    let mut decoder = wire.decoder(terms);
    let mut told = Vec::new();
    for event in events {
        if let Err(error) = decoder.event(&event, &mut |event| told.push(event)) {
            return (told, Err(error));
        }
    }
    (told, decoder.finish())
}

/// Reads a stream cut in two at every place, and says what all of them say.
pub(crate) fn heard(wire: &dyn Wire, terms: &Terms, stream: &str) -> Heard {
    let whole = read(wire, terms, &[stream.as_bytes()]);
    for place in 0..=stream.len() {
        let (before, after) = stream.as_bytes().split_at(place);
        let cut = read(wire, terms, &[before, after]);
        assert_eq!(format!("{cut:?}"), format!("{whole:?}"), "cut at {place}");
    }
    whole
}

/// The answer of a stream.
pub(crate) fn answer(wire: &dyn Wire, terms: &Terms, stream: &str) -> Answer {
    heard(wire, terms, stream).1.unwrap()
}

/// Lines of these streams, lines with one character changed, and lines of anything.
pub(crate) fn nearly(streams: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    let lines: Vec<&str> = streams.iter().flat_map(|stream| stream.lines()).collect();
    let changed = |(line, at, character): (&str, prop::sample::Index, char)| {
        let mut characters: Vec<char> = line.chars().collect();
        if !characters.is_empty() {
            let at = at.index(characters.len());
            characters[at] = character;
        }
        characters.into_iter().collect()
    };
    prop_oneof![
        prop::sample::select(lines.clone()).prop_map(str::to_owned),
        (prop::sample::select(lines), any::<prop::sample::Index>(), any::<char>()).prop_map(changed),
        ".{0,40}",
    ]
}
