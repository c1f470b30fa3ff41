//! Streams as vendors send them, played to a decoder.

use std::sync::Arc;

use serde_json::json;
use toolroom::model::{
    Answer, Block, Message, ModelError, ModelEvent, ModelRequest, Role, SystemPrompt, ToolUse,
};

use crate::sse::Reader;
use crate::wire::{Quirks, Terms, Wire};

/// Terms of a vendor without quirks.
pub(crate) fn terms() -> Terms {
    Terms { model: "m".to_owned(), owner: "vendor".into(), quirks: Quirks::default() }
}

/// What is told on the way, and the answer.
pub(crate) fn play(wire: &dyn Wire, pieces: &[&[u8]]) -> (Vec<ModelEvent>, Result<Answer, ModelError>) {
    let mut reader = Reader::default();
    let mut decoder = wire.decoder(&terms());
    let mut told = Vec::new();
    let mut failed = None;
    let mut take = |event| {
        if failed.is_none() {
            failed = decoder.event(&event, &mut |event| told.push(event)).err();
        }
    };
    for piece in pieces {
        reader.push(piece, &mut take).unwrap();
    }
    reader.finish(&mut take);
    (told, failed.map_or_else(|| decoder.finish(), Err))
}

/// Plays a stream whole and cut at every place: all of it has to be the same.
pub(crate) fn play_cut_anywhere(
    wire: &dyn Wire,
    stream: &str,
) -> (Vec<ModelEvent>, Result<Answer, ModelError>) {
    let bytes = stream.as_bytes();
    let (told, answer) = play(wire, &[bytes]);
    let shown = |answer: &Result<Answer, ModelError>| format!("{answer:?}");
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        let (cut_told, cut_answer) = play(wire, &[head, tail]);
        assert_eq!(cut_told, told, "cut at {at}");
        assert_eq!(shown(&cut_answer), shown(&answer), "cut at {at}");
    }
    (told, answer)
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
    ModelRequest {
        system: SystemPrompt::default(),
        messages: vec![answer.into_message(), Message { role: Role::User, blocks: results }],
        tools: Arc::new([]),
        tool_use: ToolUse::Free,
        max_tokens: None,
        temperature: None,
    }
}
