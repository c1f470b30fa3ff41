//! Cost of decoding a response and encoding a conversation, for each wire format.

#![expect(
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench reads the clock and its arguments, and rounds its figures"
)]

#[path = "../../toolroom/benches/measure/mod.rs"]
#[expect(dead_code, reason = "this bench sets no thresholds")]
mod measure;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use measure::{Bar, Measure, median, report};
use serde_json::{Value, json};
use toolroom::model::{
    Block, Message, ModelCallId, ModelError, ModelErrorKind, ModelRequest, OfferedTool, Role, SystemPrompt,
    ToolUse,
};
use toolroom_host::sse::Reader;
use toolroom_models::vendor::WireKind;
use toolroom_models::wire::{Quirks, WireOptions};

/// Events of the response.
const EVENTS: usize = 4_000;
const TURNS: usize = 50;
const ROUNDS: usize = 21;

fn main() -> Result<(), ModelError> {
    let measure = Measure::from_arguments();
    let options = WireOptions { model: "m".to_owned(), owner: Arc::from("v"), quirks: Quirks::default() };
    let request = conversation();
    for kind in WireKind::ALL {
        let (wire, name) = (kind.wire(), kind.as_str());
        let stream = response(kind);
        decode(kind, &options, &stream)?;
        throughput(&measure, &format!("decode_{name}"), stream.len(), || decode(kind, &options, &stream));
        let case = format!("encode_{TURNS}_turns_{name}");
        measure.time("models", &case, Bar::NONE, || wire.encode(&request, &options).to_string());
    }
    Ok(())
}

/// Reads a stream in chunks that are not aligned with events.
fn decode(kind: WireKind, options: &WireOptions, stream: &str) -> Result<usize, ModelError> {
    let mut reader = Reader::default();
    let mut decoder = kind.wire().decoder(options);
    let mut events = Vec::new();
    let mut deltas = 0;
    for piece in stream.as_bytes().chunks(1_400) {
        let read = reader.push(piece, |event| events.push(event));
        read.map_err(|_| ModelError::new(ModelErrorKind::Protocol, "an event without an end"))?;
        for event in events.drain(..) {
            decoder.event(&event, &mut |_| deltas += 1)?;
        }
    }
    decoder.finish().map(|answer| answer.blocks.len() + deltas)
}

/// A streamed response of many small deltas.
fn response(kind: WireKind) -> String {
    let word = "lorem ";
    let delta = |at: usize| match kind {
        WireKind::OpenaiChat => {
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": null}]})
        }
        WireKind::OpenaiResponses => json!({"type": "response.output_text.delta", "sequence_number": at,
            "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": word}),
        WireKind::Anthropic => json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": word}}),
        WireKind::Gemini => {
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": word}]}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": at}, "modelVersion": "m"})
        }
    };
    let (before, after): (Vec<Value>, Vec<Value>) = match kind {
        WireKind::OpenaiChat => {
            (Vec::new(), vec![json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})])
        }
        WireKind::OpenaiResponses => (
            vec![json!({"type": "response.output_item.added", "output_index": 0,
                "item": {"type": "message", "id": "msg_1", "role": "assistant", "content": []}})],
            vec![json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}})],
        ),
        WireKind::Anthropic => (
            vec![
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ],
            vec![json!({"type": "message_stop"})],
        ),
        WireKind::Gemini => (Vec::new(), vec![json!({"candidates": [{"finishReason": "STOP"}]})]),
    };
    let events = before.into_iter().chain((0..EVENTS).map(delta)).chain(after);
    events.map(|event| format!("data: {event}\n\n")).collect()
}

/// A conversation of questions, calls, results and answers, with tools.
fn conversation() -> ModelRequest {
    let turn = |at: usize| {
        let id = ModelCallId::new(&format!("call_{at}"));
        let name = "get_weather".to_owned();
        let call = Block::Call {
            id: id.clone(),
            name: name.clone(),
            arguments: "{\"city\":\"Oslo\"}".into(),
            opaque: None,
        };
        let content = Arc::new(json!({"sky": "clear", "degrees": at}));
        [
            Message::user("What is the weather in Oslo, and what was it yesterday?"),
            Message::assistant(vec![Block::text("Let me look."), call]),
            Message { role: Role::User, blocks: vec![Block::Result { id, name, content, is_error: false }] },
            Message::assistant(vec![Block::text("It is clear, as it was yesterday.")]),
        ]
    };
    let tool = |at: usize| OfferedTool {
        name: format!("tool_{at}"),
        description: "Does one thing, and does it well.".to_owned(),
        parameters: Arc::new(
            json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
        ),
    };
    ModelRequest {
        system: SystemPrompt { lasting: "Be kind.".into(), changing: "It is noon.".into() },
        messages: (0..TURNS).flat_map(turn).map(Arc::new).collect(),
        tools: (0..20).map(tool).collect(),
        tool_use: ToolUse::Free,
        max_tokens: None,
        temperature: None,
    }
}

/// Reports megabytes per second.
fn throughput<T>(measure: &Measure, case: &str, bytes: usize, mut work: impl FnMut() -> T) {
    if !measure.selects("models", case) {
        return;
    }
    let mut round = || {
        let start = Instant::now();
        black_box(work());
        bytes as f64 / start.elapsed().as_secs_f64() / 1e6
    };
    let mut rates: Vec<f64> = std::iter::repeat_with(&mut round).take(ROUNDS).collect();
    report("models", case, median(&mut rates), "MB/s", Bar::NONE, ROUNDS);
}
