//! Fuzz targets of what vendors send.

use std::sync::Arc;

use toolroom::model::{Message, ModelRequest, SystemPrompt, ToolUse};
use toolroom_models::sse::{Event, Reader};
use toolroom_models::vendor::WireKind;
use toolroom_models::wire::{Quirks, Terms};

use crate::mutation::fuzz;

fn events(pieces: &[&[u8]]) -> Vec<Event> {
    let mut reader = Reader::default();
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece, |event| events.push(event)).unwrap();
    }
    reader.finish(|event| events.push(event));
    events
}

#[test]
fn sse() {
    fuzz("sse", |text| {
        let (before, after) = text.as_bytes().split_at(text.len() / 3);
        assert_eq!(events(&[before, after]), events(&[text.as_bytes()]));
    });
}

/// Whatever arrives, a wire stays on its feet; what it makes of it does not depend on anything else, and can be sent.
fn decoder(target: &str, kind: WireKind) {
    let wire = kind.wire();
    let terms = Terms { model: "m".to_owned(), owner: Arc::from("v"), quirks: Quirks::default() };
    let decode = |text: &str| {
        let mut decoder = wire.decoder(&terms);
        let mut told = Vec::new();
        for event in events(&[text.as_bytes()]) {
            if let Err(error) = decoder.event(&event, &mut |event| told.push(event)) {
                assert!(!error.message.is_empty());
                return (told, Err(error));
            }
        }
        (told, decoder.finish())
    };
    fuzz(target, |text| {
        let (told, answer) = decode(text);
        let (told_again, answer_again) = decode(text);
        assert_eq!(told, told_again);
        assert_eq!(answer.as_ref().ok(), answer_again.as_ref().ok());
        assert!(!wire.refusal(400, text).message.is_empty());
        if let Ok(answer) = answer {
            let request = ModelRequest {
                system: SystemPrompt::default(),
                messages: [Message::user("x"), answer.into_message(), Message::user("y")]
                    .map(Arc::new)
                    .to_vec(),
                tools: [].into(),
                tool_use: ToolUse::Free,
                max_tokens: None,
                temperature: None,
            };
            assert_eq!(wire.encode(&request, &terms), wire.encode(&request, &terms));
        }
    });
}

#[test]
fn openai_chat() {
    decoder("openai_chat", WireKind::OpenaiChat);
}

#[test]
fn openai_responses() {
    decoder("openai_responses", WireKind::OpenaiResponses);
}

#[test]
fn anthropic() {
    decoder("anthropic", WireKind::Anthropic);
}

#[test]
fn gemini() {
    decoder("gemini", WireKind::Gemini);
}
