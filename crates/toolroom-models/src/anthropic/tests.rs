use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolroom::model::{
    Block, Image, Message, ModelCallId, ModelErrorKind, ModelEvent, ModelRequest, OfferedTool, Opaque, Role,
    StopReason, SystemPrompt, ToolUse, Usage,
};

use super::Anthropic;
use crate::recorded::{answer, endure, heard, nearly, next_request, read, request, wire_options};
use crate::scale::cases;
use crate::wire::{Wire, WireOptions};

const TEXT: &str = include_str!("../../tests/corpus/anthropic/text.sse");
const THINKING_AND_CALLS: &str = include_str!("../../tests/corpus/anthropic/thinking_and_calls.sse");
const OPAQUE_BLOCKS: &str = include_str!("../../tests/corpus/anthropic/opaque_blocks.sse");
const BROKEN_OFF: &str = include_str!("../../tests/corpus/anthropic/broken_off.sse");
const ERROR_MIDWAY: &str = include_str!("../../tests/corpus/anthropic/error_midway.sse");

fn claude() -> WireOptions {
    wire_options("anthropic", "claude-sonnet-4-5")
}

fn again(options: &WireOptions, messages: Vec<impl Into<Arc<Message>>>) -> Value {
    let mut request = request();
    request.messages = messages.into_iter().map(Into::into).collect();
    Anthropic.encode(&request, options)["messages"].take()
}

fn result(id: &str, content: Value, is_error: bool) -> Block {
    Block::Result { id: ModelCallId::new(id), name: "tool".to_owned(), content: Arc::new(content), is_error }
}

#[test]
fn words_are_told_as_they_come_and_counted_at_the_end() {
    let (told, answer) = heard(&Anthropic, &claude(), TEXT);
    let answer = answer.unwrap();
    assert_eq!(told, [ModelEvent::Text("Grüß".to_owned()), ModelEvent::Text(" Gott 🙂".to_owned())]);
    assert_eq!(answer.blocks, [Block::text("Grüß Gott 🙂")]);
    assert_eq!(answer.stop, StopReason::Done);
    assert_eq!(
        answer.usage,
        Usage { input: 2_112, output: 7, cache_read: 2_000, cache_write: 100, reasoning: 0 }
    );
    assert_eq!(answer.model.as_deref(), Some("claude-sonnet-4-5-20250929"));
}

#[test]
fn thoughts_and_calls_are_read_with_what_has_to_be_given_back() {
    let (told, answer) = heard(&Anthropic, &claude(), THINKING_AND_CALLS);
    let answer = answer.unwrap();
    let opaque = |part: Value| Opaque { owner: "anthropic".into(), part: Arc::new(part) };
    let thinking =
        json!({"type": "thinking", "thinking": "Two cities, two calls.", "signature": "EqQBCgIYAhIM+/a=="});
    let redacted = json!({"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"});
    let expected = [
        Block::Reasoning { text: "Two cities, two calls.".to_owned(), opaque: Some(opaque(thinking)) },
        Block::Opaque(opaque(redacted)),
        Block::text("Let me look."),
        Block::Call {
            id: ModelCallId::new("toolu_01A"),
            name: "get_weather".to_owned(),
            arguments: "{\"city\": \"Oslo\", \"days\": 1.50}".into(),
            opaque: None,
        },
        Block::Call {
            id: ModelCallId::new("toolu_01B"),
            name: "now".to_owned(),
            arguments: "{}".into(),
            opaque: Some(opaque(json!({"caller": {"type": "direct"}}))),
        },
    ];
    assert_eq!(answer.blocks, expected);
    assert_eq!(answer.stop, StopReason::Calls);
    let call =
        |index, id, name: &str| ModelEvent::Call { index, id: ModelCallId::new(id), name: name.to_owned() };
    let arguments = |text: &str| ModelEvent::Arguments { index: 0, text: text.to_owned() };
    assert_eq!(
        told,
        [
            ModelEvent::Reasoning("Two cities, ".to_owned()),
            ModelEvent::Reasoning("two calls.".to_owned()),
            ModelEvent::Text("Let me look.".to_owned()),
            call(0, "toolu_01A", "get_weather"),
            arguments("{\"city\": \"Os"),
            arguments("lo\", \"days\": 1.50}"),
            call(1, "toolu_01B", "now"),
        ]
    );
}

#[test]
fn an_answer_is_given_back_block_by_block_as_it_came() {
    let sent = again(&claude(), next_request(answer(&Anthropic, &claude(), THINKING_AND_CALLS)).messages);
    let expected = json!([
        {"type": "thinking", "thinking": "Two cities, two calls.", "signature": "EqQBCgIYAhIM+/a=="},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_01A", "name": "get_weather", "input": {"city": "Oslo", "days": 1.5}},
        {"type": "tool_use", "id": "toolu_01B", "name": "now", "input": {}, "caller": {"type": "direct"}},
    ]);
    assert_eq!(sent[0], json!({"role": "assistant", "content": expected}));
}

#[test]
fn blocks_without_meaning_here_are_given_back_to_their_owner_alone() {
    let answer = answer(&Anthropic, &claude(), OPAQUE_BLOCKS);
    assert_eq!(answer.stop, StopReason::Other("pause_turn".to_owned()));
    let turn = answer.into_message();
    let sent = again(&claude(), vec![Message::user("Oslo?"), turn.clone()]);
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "oslo"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
        {"type": "web_search_result", "url": "https://example.org", "title": "Oslo", "encrypted_content": "Eqg"},
    ]});
    let cited = json!({"type": "text", "text": "Oslo is cold.", "citations": [
        {"type": "web_search_result_location", "url": "https://example.org", "encrypted_index": "Eo8"},
    ]});
    assert_eq!(sent[1]["content"], json!([search, found, cited]));

    let elsewhere = again(&wire_options("other", "m"), vec![Message::user("Oslo?"), turn]);
    assert_eq!(elsewhere[1]["content"], json!([{"type": "text", "text": "Oslo is cold."}]));
}

#[test]
fn half_an_answer_is_an_error() {
    let (told, broken) = heard(&Anthropic, &claude(), BROKEN_OFF);
    let error = broken.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert_eq!(error.message, "the stream ended before the answer was complete");
    assert_eq!(told.len(), 2);
    let (_, nothing) = read(&Anthropic, &claude(), &[]);
    assert_eq!(nothing.unwrap_err().kind, ModelErrorKind::Network);
}

#[test]
fn an_error_in_the_stream_ends_it() {
    let (told, failed) = heard(&Anthropic, &claude(), ERROR_MIDWAY);
    let error = failed.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Overloaded, "Overloaded"));
    assert_eq!(told, [ModelEvent::Text("Grüß".to_owned())]);
}

#[test]
fn every_reason_to_stop_has_a_meaning() {
    let other = |word: &str| StopReason::Other(word.to_owned());
    for (word, with_calls, without) in [
        ("end_turn", StopReason::Calls, StopReason::Done),
        ("tool_use", StopReason::Calls, StopReason::Done),
        ("stop_sequence", StopReason::Calls, StopReason::Done),
        ("max_tokens", StopReason::Length, StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length, StopReason::Length),
        ("refusal", StopReason::Filtered, StopReason::Filtered),
        ("pause_turn", other("pause_turn"), other("pause_turn")),
    ] {
        let calls = THINKING_AND_CALLS
            .replace("\"tool_use\",\"stop_sequence\"", &format!("\"{word}\",\"stop_sequence\""));
        let (_, heard) = read(&Anthropic, &claude(), &[calls.as_bytes()]);
        assert_eq!(heard.unwrap().stop, with_calls, "{word}");
        let words = TEXT.replace("end_turn", word);
        let (_, heard) = read(&Anthropic, &claude(), &[words.as_bytes()]);
        assert_eq!(heard.unwrap().stop, without, "{word}");
    }
}

#[test]
fn a_stream_that_makes_no_sense_is_not_understood() {
    for stream in [
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0}\n\n",
        "event: content_block_start\ndata: []\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"x\"}}\n\n",
        "data: not json\n\n",
    ] {
        let (_, heard) = read(&Anthropic, &claude(), &[stream.as_bytes()]);
        assert_eq!(heard.unwrap_err().kind, ModelErrorKind::Protocol, "{stream}");
    }
}

#[test]
fn a_request_is_written_with_what_lasts_marked_for_the_cache() {
    let mut request = request();
    request.system = SystemPrompt { lasting: "Be kind.".into(), changing: "It is noon.".into() };
    request.messages = vec![Arc::new(Message {
        role: Role::User,
        blocks: vec![
            Block::text("What is this?"),
            Block::Image(Image { media_type: "image/png".to_owned(), base64: "iVBO".into() }),
        ],
    })];
    let tool = |name: &str, parameters: Value| OfferedTool {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: Arc::new(parameters),
    };
    request.tools = [
        tool("look", json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]})),
        tool("wait", json!({"anyOf": [{"required": ["s"]}, {"required": ["m"]}], "properties": {}})),
    ]
    .into();
    request.tool_use = ToolUse::Never;
    request.temperature = Some(1.5);
    let expected = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 8192,
        "stream": true,
        "system": [
            {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "It is noon."},
        ],
        "tools": [
            {"name": "look", "description": "Does look.", "input_schema":
                {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}},
            {"name": "wait", "description": "Does wait.", "input_schema": {"type": "object", "properties": {}},
                "cache_control": {"type": "ephemeral"}},
        ],
        "tool_choice": {"type": "none"},
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
        ]}],
        "temperature": 1.0,
    });
    assert_eq!(Anthropic.encode(&request, &claude()), expected);
    assert_eq!(Anthropic.path(&claude()), "messages");

    let mut bare = claude();
    bare.quirks.default_max_tokens = Some(500);
    let empty = crate::recorded::request();
    let expected = json!({"model": "claude-sonnet-4-5", "max_tokens": 500, "stream": true, "messages": []});
    assert_eq!(Anthropic.encode(&empty, &bare), expected);
}

#[test]
fn while_tools_are_at_work_the_conversation_is_marked_for_the_cache() {
    let offered =
        OfferedTool { name: "tool".to_owned(), description: String::new(), parameters: Arc::new(json!({})) };
    let mut request = next_request(answer(&Anthropic, &claude(), THINKING_AND_CALLS));
    request.tools = [offered].into();
    let marked = |request: &ModelRequest| -> Vec<String> {
        let messages = Anthropic.encode(request, &claude())["messages"].take();
        let blocks =
            messages.as_array().unwrap().iter().flat_map(|message| message["content"].as_array().unwrap());
        let marked = blocks.filter(|block| block.get("cache_control").is_some());
        marked.map(|block| block["tool_use_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(marked(&request), ["toolu_01B"]);
    let last = ModelRequest { tool_use: ToolUse::Never, ..request.clone() };
    assert!(marked(&last).is_empty(), "nothing follows it");
    request.messages.push(Arc::new(Message::assistant(vec![Block::text("Done.")])));
    request.messages.push(Arc::new(Message::user("Thanks.")));
    assert!(marked(&request).is_empty(), "more may follow");
}

#[test]
fn all_results_of_a_turn_stand_first_in_the_message_that_follows() {
    let call = |id: &str, arguments: &str| Block::Call {
        id: ModelCallId::new(id),
        name: "tool".to_owned(),
        arguments: arguments.into(),
        opaque: None,
    };
    let user = |blocks| Message { role: Role::User, blocks };
    let sent = again(
        &claude(),
        vec![
            Message::user("Go."),
            Message::assistant(vec![call("a", "{\"x\":1}"), call("functions.b:0", "{\"x\":")]),
            user(vec![result("a", json!({"sum": 2}), false)]),
            user(vec![
                Block::text("By the way"),
                Block::text(" "),
                result("functions.b:0", json!("no such file"), true),
            ]),
        ],
    );
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "tool", "input": {"x": 1}},
            {"type": "tool_use", "id": "functions_2eb_3a0", "name": "tool", "input": {"not_an_object": "{\"x\":"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "{\"sum\":2}"},
            {"type": "tool_result", "tool_use_id": "functions_2eb_3a0", "content": "no such file", "is_error": true},
            {"type": "text", "text": "By the way"},
        ]},
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn refusals_are_told_apart() {
    let said = |kind: &str, message: &str| {
        json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
    };
    for (status, body, kind) in [
        (401, said("authentication_error", "invalid x-api-key"), ModelErrorKind::Auth),
        (403, said("permission_error", "not yours"), ModelErrorKind::Auth),
        (402, said("billing_error", "pay"), ModelErrorKind::Billing),
        (
            400,
            said("invalid_request_error", "Your credit balance is too low to access the API"),
            ModelErrorKind::Billing,
        ),
        (
            400,
            said("invalid_request_error", "prompt is too long: 215000 tokens > 200000 maximum"),
            ModelErrorKind::ContextOverflow,
        ),
        (
            400,
            said("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2"),
            ModelErrorKind::ContextOverflow,
        ),
        (
            400,
            said("invalid_request_error", "Output blocked by content filtering policy"),
            ModelErrorKind::ContentFilter,
        ),
        (400, said("invalid_request_error", "tools.0: no"), ModelErrorKind::BadRequest),
        (404, said("not_found_error", "model: x"), ModelErrorKind::NotFound),
        (413, said("request_too_large", "too large"), ModelErrorKind::ContextOverflow),
        (429, said("rate_limit_error", "slow down"), ModelErrorKind::RateLimit),
        (500, said("api_error", "sorry"), ModelErrorKind::Server),
        (529, said("overloaded_error", "Overloaded"), ModelErrorKind::Overloaded),
        (502, "<html>Bad gateway</html>".to_owned(), ModelErrorKind::Server),
        (503, String::new(), ModelErrorKind::Overloaded),
    ] {
        let error = Anthropic.refusal(status, &body);
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{body}");
    }
    assert_eq!(Anthropic.refusal(404, &said("not_found_error", "model: x")).message, "model: x");
}

proptest! {
    #![proptest_config(cases(256))]
    #[test]
    fn every_input_is_harmless(
        lines in prop::collection::vec(nearly(&[TEXT, THINKING_AND_CALLS, OPAQUE_BLOCKS, ERROR_MIDWAY]), 0..40),
    ) {
        endure(&Anthropic, &claude(), &lines);
    }

    #[test]
    fn calls_keep_their_ids_arguments_and_places(
        calls in prop::collection::vec(("[a-zA-Z0-9_-]{1,12}", "[a-z_]{1,12}", "\\PC{0,12}", any::<i64>()), 1..8),
    ) {
        let mut stream = String::new();
        let mut expected = Vec::new();
        let mut push = |event: Value| stream.push_str(&format!("data: {event}\n\n"));
        for (index, (id, name, text, number)) in calls.iter().enumerate() {
            let id = format!("{id}-{index}");
            let input = json!({ "z": text, "a": [number, { "deep": text }] });
            let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
            let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
            push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            expected.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
        }
        push(json!({ "type": "message_stop" }));
        let (_, heard) = read(&Anthropic, &claude(), &[stream.as_bytes()]);
        let sent = again(&claude(), next_request(heard.unwrap()).messages);
        prop_assert_eq!(sent[0]["content"].to_string(), json!(expected).to_string());
    }
}

#[test]
fn thoughts_without_a_signature_are_read_and_not_given_back() {
    let unsigned = THINKING_AND_CALLS.replace("EqQBCgIYAhIM+/a==", "");
    let turn = answer(&Anthropic, &claude(), &unsigned).into_message();
    assert_eq!(turn.blocks[0], Block::Reasoning { text: "Two cities, two calls.".to_owned(), opaque: None });
    assert_eq!(again(&claude(), vec![turn])[0]["content"][0]["type"], "redacted_thinking");
}
