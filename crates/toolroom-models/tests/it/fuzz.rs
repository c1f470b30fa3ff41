//! Fuzz targets of what vendors send, and of what people say to the offline model.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::model::{
    Block, Message, Model, ModelCallId, ModelEvent, ModelRequest, OfferedTool, Role, SystemPrompt, ToolUse,
};
use toolroom_host::sse::{Event, Reader};
use toolroom_models::offline::Offline;
use toolroom_models::vendor::WireKind;
use toolroom_models::wire::{Quirks, WireOptions};

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

/// A wire survives any input; its result is deterministic and can be sent again.
fn decoder(target: &str, kind: WireKind) {
    let wire = kind.wire();
    let options = WireOptions { model: "m".to_owned(), owner: Arc::from("v"), quirks: Quirks::default() };
    let decode = |text: &str| {
        let mut decoder = wire.decoder(&options);
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
            assert_eq!(wire.encode(&request, &options), wire.encode(&request, &options));
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

/// For any message and result the model answers with text, or with a call of an offered tool with an object of arguments.
#[test]
fn offline() {
    let text = json!({"type": "string"});
    let tool = |name: &str, properties: Value, required: Value| OfferedTool {
        name: name.to_owned(),
        description: name.replace('_', " "),
        parameters: Arc::new(json!({"type": "object", "properties": properties, "required": required})),
    };
    let tools: Arc<[OfferedTool]> = [
        tool("builtin__calculator", json!({"expression": text, "digits": {"type": "integer"}}), json!(["expression"])),
        tool("builtin__read_file", json!({"path": text}), json!(["path"])),
        tool("builtin__web_fetch", json!({"url": text}), json!(["url"])),
        tool("builtin__get_local_time", json!({"timezone": {"type": ["string", "null"]}}), json!([])),
        tool(
            "mcp__lamps__set_lamp",
            json!({"state": {"enum": ["on", "off", "dim"]}, "brightness": {"type": "number"}, "rooms": {"type": "array"}}),
            json!(["state"]),
        ),
    ]
    .into();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ask = |message: Message| {
        let request = ModelRequest {
            system: SystemPrompt::default(),
            messages: vec![Arc::new(message)],
            tools: Arc::clone(&tools),
            tool_use: ToolUse::Free,
            max_tokens: None,
            temperature: None,
        };
        let mut said = String::new();
        let mut told = |event| {
            if let ModelEvent::Text(text) = event {
                said.push_str(&text);
            }
        };
        let answer = runtime.block_on(Offline.ask(&request, &mut told, &CancellationToken::new())).unwrap();
        (answer.blocks, said)
    };
    fuzz("offline", |text| {
        let (blocks, said) = ask(Message::user(text));
        match blocks.as_slice() {
            [Block::Text { text, .. }] => assert!(!text.is_empty() && *text == said),
            [Block::Call { name, arguments, .. }] => {
                assert!(tools.iter().any(|tool| tool.name == *name), "{name}");
                assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
            }
            other => panic!("{other:?}"),
        }
        let content = serde_json::from_str(text).unwrap_or_else(|_| json!({"content": text, "n": 1}));
        let (id, name) = (ModelCallId::new("c"), "builtin__read_file".to_owned());
        let result = Block::Result { id, name, content: Arc::new(content), is_error: text.len() % 2 == 0 };
        let (blocks, said) = ask(Message { role: Role::User, blocks: vec![result] });
        assert_eq!(blocks, [Block::text(said)]);
    });
}
