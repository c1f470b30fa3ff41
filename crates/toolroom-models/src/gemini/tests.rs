use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolroom::model::{
    Block, Image, Message, ModelCallId, ModelErrorKind, ModelEvent, OfferedTool, Role, StopReason,
    SystemPrompt, ToolUse, Usage,
};

use super::Gemini;
use crate::recorded::{answer, endure, heard, nearly, next_request, read, request, wire_options};
use crate::scale::cases;
use crate::wire::{Wire, WireOptions};

const TEXT: &str = include_str!("../../tests/corpus/gemini/text.sse");
const THOUGHTS_AND_CALLS: &str = include_str!("../../tests/corpus/gemini/thoughts_and_calls.sse");
const CALLS_WITH_IDS: &str = include_str!("../../tests/corpus/gemini/calls_with_ids.sse");
const SIGNED_WORDS: &str = include_str!("../../tests/corpus/gemini/signed_words.sse");
const BROKEN_OFF: &str = include_str!("../../tests/corpus/gemini/broken_off.sse");
const ERROR_MIDWAY: &str = include_str!("../../tests/corpus/gemini/error_midway.sse");
const BLOCKED: &str = include_str!("../../tests/corpus/gemini/blocked.sse");

fn gemini() -> WireOptions {
    wire_options("google", "gemini-3-pro")
}

fn again(options: &WireOptions, messages: Vec<impl Into<Arc<Message>>>) -> Value {
    let mut request = request();
    request.messages = messages.into_iter().map(Into::into).collect();
    Gemini.encode(&request, options)["contents"].take()
}

fn result(id: &str, name: &str, content: Value, is_error: bool) -> Block {
    Block::Result { id: ModelCallId::new(id), name: name.to_owned(), content: Arc::new(content), is_error }
}

fn user(blocks: Vec<Block>) -> Message {
    Message { role: Role::User, blocks }
}

#[test]
fn words_are_told_as_they_come_and_counted_at_the_end() {
    let (told, answer) = heard(&Gemini, &gemini(), TEXT);
    let answer = answer.unwrap();
    assert_eq!(told, [ModelEvent::Text("Grüß".to_owned()), ModelEvent::Text(" Gott 🙂".to_owned())]);
    assert_eq!(answer.stop, StopReason::Done);
    assert_eq!(
        answer.usage,
        Usage { input: 20, output: 109, cache_read: 16, cache_write: 0, reasoning: 100 }
    );
    assert_eq!(answer.model.as_deref(), Some("gemini-3-pro"));
    let turn = answer.into_message();
    assert_eq!(turn.text(), "Grüß Gott 🙂");
    let parts = json!([{"text": "Grüß Gott 🙂"}, {"text": "", "thoughtSignature": "Sig0+/=="}]);
    assert_eq!(again(&gemini(), vec![turn.clone()])[0], json!({"role": "model", "parts": parts}));
    let elsewhere = again(&wire_options("other", "m"), vec![turn]);
    assert_eq!(elsewhere[0]["parts"], json!([{"text": "Grüß Gott 🙂"}]));
}

#[test]
fn signatures_stay_on_the_parts_they_came_with() {
    let (told, answer) = heard(&Gemini, &gemini(), THOUGHTS_AND_CALLS);
    let answer = answer.unwrap();
    assert_eq!(answer.stop, StopReason::Calls);
    assert_eq!(answer.blocks[0], Block::Reasoning { text: "Two cities.".to_owned(), opaque: None });
    let ids: Vec<&str> = answer
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Call { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["gemini-resp1-0", "gemini-resp1-1", "gemini-resp1-2"]);
    assert_eq!(told.len(), 9);
    assert_eq!(
        told[4],
        ModelEvent::Arguments { index: 0, text: "{\"city\":\"Oslo\",\"days\":1.5}".to_owned() }
    );

    let results = vec![
        Block::text("Also:"),
        result("gemini-resp1-2", "now", json!("noon"), false),
        result("gemini-resp1-0", "get_weather", json!({"celsius": 3}), false),
        result("gemini-resp1-1", "get_weather", json!("no such city"), true),
    ];
    let sent = again(&gemini(), vec![Message::user("Weather?"), answer.into_message(), user(results)]);
    let expected = json!([
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {"role": "model", "parts": [
            {"text": "Let me look."},
            {"functionCall": {"name": "get_weather", "args": {"city": "Oslo", "days": 1.5}},
                "thoughtSignature": "SigA+/=="},
            {"functionCall": {"name": "get_weather", "args": {"city": "Bergen"}}},
            {"functionCall": {"name": "now", "args": {}}},
            {"text": "", "thoughtSignature": "SigB=="},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "get_weather", "response": {"celsius": 3}}},
            {"functionResponse": {"name": "get_weather", "response": {"error": "no such city"}}},
            {"functionResponse": {"name": "now", "response": {"result": "noon"}}},
            {"text": "Also:"},
        ]},
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn ids_of_the_api_are_given_back_and_ours_are_not() {
    let answer = answer(&Gemini, &gemini(), CALLS_WITH_IDS);
    assert_eq!(answer.stop, StopReason::Calls);
    let sent =
        again(&gemini(), vec![answer.into_message(), user(vec![result("fc_1", "now", json!([1]), false)])]);
    let call = json!({"functionCall": {"id": "fc_1", "name": "now", "args": {}}, "thoughtSignature": "SigC"});
    assert_eq!(sent[0]["parts"], json!([call]));
    let response = json!({"id": "fc_1", "name": "now", "response": {"result": [1]}});
    assert_eq!(sent[1]["parts"], json!([{"functionResponse": response}]));
}

#[test]
fn a_call_that_was_renamed_has_the_id_of_its_result() {
    let mut turn = answer(&Gemini, &gemini(), CALLS_WITH_IDS).into_message();
    for block in &mut turn.blocks {
        if let Block::Call { id, .. } = block {
            *id = ModelCallId::new("fc_1_2");
        }
    }
    let sent = again(&gemini(), vec![turn, user(vec![result("fc_1_2", "now", json!([1]), false)])]);
    assert_eq!(sent[0]["parts"][0]["functionCall"]["id"], "fc_1_2");
    assert_eq!(sent[1]["parts"][0]["functionResponse"]["id"], "fc_1_2");
}

#[test]
fn ids_differ_from_turn_to_turn_even_where_the_api_names_nothing() {
    let nameless = THOUGHTS_AND_CALLS.replace(",\"responseId\":\"resp1\"", "");
    let later = nameless.replace("\"promptTokenCount\":20", "\"promptTokenCount\":57");
    let ids = |stream: &str| -> Vec<ModelCallId> {
        let call = |block: Block| match block {
            Block::Call { id, .. } => Some(id),
            _ => None,
        };
        answer(&Gemini, &gemini(), stream).blocks.into_iter().filter_map(call).collect()
    };
    let (first, second) = (ids(&nameless), ids(&later));
    assert_eq!(first, ids(&nameless));
    assert_eq!((first.len(), second.len()), (3, 3));
    assert!(first.iter().all(|id| !second.contains(id)));
}

#[test]
fn signed_words_are_one_text_for_people_and_parts_for_the_api() {
    let answer = answer(&Gemini, &gemini(), SIGNED_WORDS);
    assert_eq!(answer.stop, StopReason::Length);
    let turn = answer.into_message();
    assert_eq!(turn.text(), "one two three four");
    let expected = json!([
        {"text": "one "},
        {"text": "two", "thoughtSignature": "SigD"},
        {"text": " three four"},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
    ]);
    assert_eq!(again(&gemini(), vec![turn])[0]["parts"], expected);
}

#[test]
fn calls_of_another_model_get_the_signature_that_stands_for_none() {
    let call = |id: &str, arguments: &str| Block::Call {
        id: ModelCallId::new(id),
        name: "now".to_owned(),
        arguments: arguments.into(),
        opaque: None,
    };
    let turn = Message::assistant(vec![call("toolu_1", "{\"zone\":\"UTC\"}"), call("toolu_2", "{\"zo")]);
    let results = ["toolu_1", "toolu_2"].map(|id| result(id, "now", json!(null), false));
    let sent = again(&gemini(), vec![turn, user(results.to_vec())]);
    let expected = json!([
        {"thoughtSignature": "skip_thought_signature_validator",
            "functionCall": {"name": "now", "args": {"zone": "UTC"}}},
        {"functionCall": {"name": "now", "args": {"not_an_object": "{\"zo"}}},
    ]);
    assert_eq!(sent[0]["parts"], expected);
    let response = json!({"name": "now", "response": {"result": null}});
    assert_eq!(sent[1]["parts"], json!([{"functionResponse": response}, {"functionResponse": response}]));
}

#[test]
fn half_an_answer_is_an_error() {
    let (told, broken) = heard(&Gemini, &gemini(), BROKEN_OFF);
    assert_eq!(broken.unwrap_err().kind, ModelErrorKind::Network);
    assert_eq!(told.len(), 2);
}

#[test]
fn errors_and_blocks_in_the_stream_end_it() {
    let error = heard(&Gemini, &gemini(), ERROR_MIDWAY).1.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    assert_eq!(error.message, "The model is overloaded. Please try again later.");
    let error = heard(&Gemini, &gemini(), BLOCKED).1.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::ContentFilter);
    assert_eq!(error.message, "the vendor refuses to answer this (`PROHIBITED_CONTENT`)");
}

#[test]
fn every_reason_to_stop_has_a_meaning() {
    for (word, stop) in [
        ("STOP", Some(StopReason::Done)),
        ("FUNCTION_CALL", Some(StopReason::Done)),
        ("MAX_TOKENS", Some(StopReason::Length)),
        ("SAFETY", Some(StopReason::Filtered)),
        ("RECITATION", Some(StopReason::Filtered)),
        ("PROHIBITED_CONTENT", Some(StopReason::Filtered)),
        ("OTHER", Some(StopReason::Other("OTHER".to_owned()))),
        ("MALFORMED_FUNCTION_CALL", None),
    ] {
        let stream = TEXT.replace("\"STOP\"", &format!("\"{word}\""));
        let (_, heard) = read(&Gemini, &gemini(), &[stream.as_bytes()]);
        match (heard, stop) {
            (Ok(answer), Some(stop)) => assert_eq!(answer.stop, stop, "{word}"),
            (Err(error), None) => assert_eq!(error.kind, ModelErrorKind::Protocol, "{word}"),
            (heard, stop) => panic!("{word}: {heard:?} instead of {stop:?}"),
        }
    }
}

#[test]
fn a_request_is_written_as_the_api_reads_it() {
    let mut request = request();
    request.system = SystemPrompt { lasting: "Be kind.".into(), changing: "It is noon.".into() };
    let image = Image { media_type: "image/png".to_owned(), base64: "iVBO".into() };
    request.messages = vec![Arc::new(user(vec![Block::text("What is this?"), Block::Image(image)]))];
    let schema = json!({"type": "object", "properties": {"at": {"$ref": "#/$defs/place"}}, "$defs":
        {"place": {"type": ["string", "null"]}}, "additionalProperties": false});
    request.tools = [OfferedTool {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        parameters: Arc::new(schema.clone()),
    }]
    .into();
    request.tool_use = ToolUse::Never;
    request.max_tokens = Some(300);
    request.temperature = Some(0.5);
    let expected = json!({
        "contents": [{"role": "user", "parts": [
            {"text": "What is this?"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBO"}},
        ]}],
        "systemInstruction": {"parts": [{"text": "Be kind."}, {"text": "It is noon."}]},
        "tools": [{"functionDeclarations": [
            {"name": "look", "description": "Looks.", "parametersJsonSchema": schema},
        ]}],
        "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
        "generationConfig": {"maxOutputTokens": 300, "temperature": 0.5},
    });
    assert_eq!(Gemini.encode(&request, &gemini()), expected);
    let mut older = gemini();
    older.quirks.openapi_parameters = true;
    let parameters = json!({"type": "object", "properties": {"at": {"type": "string", "nullable": true}}});
    assert_eq!(
        Gemini.encode(&request, &older)["tools"][0]["functionDeclarations"][0],
        json!({"name": "look", "description": "Looks.", "parameters": parameters})
    );
    assert_eq!(Gemini.encode(&crate::recorded::request(), &gemini()), json!({"contents": []}));
}

#[test]
fn the_path_names_the_model_and_leads_nowhere_else() {
    let path = |model| Gemini.path(&wire_options("google", model));
    assert_eq!(path("gemini-2.5-flash"), "models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    assert_eq!(path("models/gemini-3-pro"), "models/gemini-3-pro:streamGenerateContent?alt=sse");
    assert_eq!(path("../x?y"), "models/..%2Fx%3Fy:streamGenerateContent?alt=sse");
}

#[test]
fn refusals_are_told_apart() {
    let said = |code: u16, status: &str, message: &str| {
        json!({"error": {"code": code, "status": status, "message": message}}).to_string()
    };
    let invalid_key = json!([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no", "details": [
        {"reason": "API_KEY_INVALID"},
    ]}}]);
    for (status, body, kind) in [
        (400, invalid_key.to_string(), ModelErrorKind::Auth),
        (400, said(400, "INVALID_ARGUMENT", "API key not valid."), ModelErrorKind::Auth),
        (403, said(403, "PERMISSION_DENIED", "no"), ModelErrorKind::Auth),
        (400, said(400, "FAILED_PRECONDITION", "Please enable billing."), ModelErrorKind::Billing),
        (
            429,
            said(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, check your plan and billing details.",
            ),
            ModelErrorKind::RateLimit,
        ),
        (
            429,
            said(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
            ModelErrorKind::Billing,
        ),
        (
            400,
            said(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens",
            ),
            ModelErrorKind::ContextOverflow,
        ),
        (400, said(400, "INVALID_ARGUMENT", "Unknown name"), ModelErrorKind::BadRequest),
        (404, said(404, "NOT_FOUND", "models/x is not found"), ModelErrorKind::NotFound),
        (413, String::new(), ModelErrorKind::ContextOverflow),
        (500, said(500, "INTERNAL", "An internal error"), ModelErrorKind::Server),
        (503, said(503, "UNAVAILABLE", "overloaded"), ModelErrorKind::Overloaded),
        (502, "<html>".to_owned(), ModelErrorKind::Server),
    ] {
        let error = Gemini.refusal(status, &body);
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{body}");
    }
    let wait = json!({"error": {"status": "RESOURCE_EXHAUSTED", "message": "wait", "details": [
        {"reason": "x"}, {"retryDelay": "34.5s"},
    ]}});
    let error = Gemini.refusal(429, &wait.to_string());
    assert_eq!(error.retry_after, Some(Duration::from_millis(34_500)));
    assert_eq!(error.message, "wait");
}

proptest! {
    #![proptest_config(cases(256))]
    #[test]
    fn every_input_is_harmless(
        lines in prop::collection::vec(nearly(&[TEXT, THOUGHTS_AND_CALLS, CALLS_WITH_IDS, SIGNED_WORDS, ERROR_MIDWAY, BLOCKED]), 0..40),
    ) {
        endure(&Gemini, &gemini(), &lines);
    }

    #[test]
    fn parts_come_back_in_their_places(
        parts in prop::collection::vec(
            ("[a-z_]{1,12}", "\\PC{1,12}", any::<i64>(), any::<bool>(), any::<bool>(), any::<bool>()),
            1..10,
        ),
    ) {
        let mut sent = Vec::new();
        for (at, (name, text, number, is_call, has_id, is_signed)) in parts.iter().enumerate() {
            let mut part = match is_call {
                true => json!({ "functionCall": { "name": name, "args": { "z": text, "a": [number] } } }),
                false => json!({ "text": text }),
            };
            if *is_call && *has_id {
                part["functionCall"]["id"] = json!(format!("{name}-{at}"));
            }
            // Words without a signature may be joined, so all of these have one.
            if *is_signed || !is_call {
                part["thoughtSignature"] = json!(text);
            }
            sent.push(part);
        }
        let stream: String = sent
            .iter()
            .map(|part| json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }] }))
            .map(|chunk| format!("data: {chunk}\n\n"))
            .collect();
        let (_, heard) = read(&Gemini, &gemini(), &[stream.as_bytes()]);
        let back = again(&gemini(), next_request(heard.unwrap()).messages);
        prop_assert_eq!(&back[0]["parts"], &json!(sent));
    }
}
