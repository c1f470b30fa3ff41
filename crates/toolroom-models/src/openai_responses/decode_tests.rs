use proptest::prelude::*;
use toolroom::model::{Block, ModelCallId};

use super::*;
use crate::openai_responses::OpenAiResponses;
use crate::recorded::{heard, next_request, read, wire_options};
use crate::scale::cases;
use crate::wire::Wire;

const TEXT: &str = include_str!("../../tests/corpus/openai_responses/text.sse");
const REASONING_AND_CALLS: &str = include_str!("../../tests/corpus/openai_responses/reasoning_and_calls.sse");
const BROKEN_OFF: &str = include_str!("../../tests/corpus/openai_responses/broken_off.sse");
const INCOMPLETE: &str = include_str!("../../tests/corpus/openai_responses/incomplete.sse");
const FAILED: &str = include_str!("../../tests/corpus/openai_responses/failed.sse");

fn answer(stream: &str) -> Answer {
    heard(&OpenAiResponses, &wire_options("vendor", "m"), stream).1.unwrap()
}

fn failure(stream: &str) -> ModelError {
    heard(&OpenAiResponses, &wire_options("vendor", "m"), stream).1.unwrap_err()
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// The items of the next request.
fn given_back(answer: Answer) -> Value {
    OpenAiResponses.encode(&next_request(answer), &wire_options("vendor", "m"))["input"].take()
}

#[test]
fn words_arrive_one_by_one_and_the_usage_at_the_end() {
    let (told, answer) = heard(&OpenAiResponses, &wire_options("vendor", "m"), TEXT);
    let text = |text: &str| ModelEvent::Text(text.to_owned());
    assert_eq!(told, [text("Grüß"), text(" Gott!")]);
    let answer = answer.unwrap();
    assert!(matches!(&answer.blocks[..], [Block::Text { text, .. }] if text == "Grüß Gott!"), "{answer:?}");
    assert_eq!((answer.stop, answer.model.as_deref()), (StopReason::Done, Some("gpt-5.1")));
    let usage = Usage { input: 36, output: 87, cache_read: 12, cache_write: 0, reasoning: 64 };
    assert_eq!(answer.usage, usage);
}

#[test]
fn thoughts_and_parallel_calls_are_told_and_given_back_to_the_letter() {
    let (told, answer) = heard(&OpenAiResponses, &wire_options("vendor", "m"), REASONING_AND_CALLS);
    let call =
        |index, id: &str| ModelEvent::Call { index, id: ModelCallId::new(id), name: "weather".to_owned() };
    let arguments = |index, text: &str| ModelEvent::Arguments { index, text: text.to_owned() };
    let thought = |text: &str| ModelEvent::Reasoning(text.to_owned());
    let expected = [
        thought("First"),
        thought(" one."),
        thought("\n\n"),
        thought("Then another."),
        call(0, "call_a"),
        arguments(0, "{\"city\""),
        arguments(0, ": \"Oslo\"}"),
        call(1, "call_b"),
        arguments(1, "{\"city\": \"Bergen\"}"),
    ];
    assert_eq!(told, expected);
    let answer = answer.unwrap();
    assert_eq!(answer.stop, StopReason::Calls);
    assert!(
        matches!(answer.blocks.first(), Some(Block::Reasoning { text, .. }) if text == "First one.\n\nThen another.")
    );
    let items = json!([
        {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAAB", "summary": [
            {"type": "summary_text", "text": "First one."}, {"type": "summary_text", "text": "Then another."},
        ]},
        {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": "{\"city\": \"Oslo\"}",
         "status": "completed"},
        {"type": "function_call", "call_id": "call_b", "name": "weather", "arguments": "{\"city\": \"Bergen\"}",
         "status": "completed"},
        {"type": "function_call_output", "call_id": "call_a", "output": "ok"},
        {"type": "function_call_output", "call_id": "call_b", "output": "ok"},
    ]);
    assert_eq!(given_back(answer), items);
}

#[test]
fn a_stream_that_breaks_off_is_no_answer() {
    for stream in [BROKEN_OFF, "", ": waiting\n\n", "data: [DONE]\n\n"] {
        let error = failure(stream);
        assert_eq!(error.kind, ModelErrorKind::Network, "{stream}");
        assert!(error.message.contains("ended before"));
    }
}

#[test]
fn an_answer_that_is_too_long_keeps_what_was_said() {
    let answer = answer(INCOMPLETE);
    assert_eq!((&answer.blocks[..], answer.stop), (&[Block::text("The answer")][..], StopReason::Length));
    let filtered = json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}});
    assert_eq!(self::answer(&stream(&[filtered])).stop, StopReason::Filtered);
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_an_error() {
    let error = failure(FAILED);
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::RateLimit, "Too many tokens."));
    let kind = |event: Value| failure(&stream(&[event])).kind;
    let nested = json!({"type": "error", "error": {"type": "invalid_request_error", "code": "context_length_exceeded"}});
    assert_eq!(kind(nested), ModelErrorKind::ContextOverflow);
    assert_eq!(
        kind(json!({"type": "error", "code": "server_error", "message": "oh"})),
        ModelErrorKind::Server
    );
    assert_eq!(kind(json!({"error": {"code": 503, "message": "busy"}})), ModelErrorKind::Overloaded);
    assert_eq!(failure("data: oh no\n\n").kind, ModelErrorKind::Protocol);
}

#[test]
fn a_whole_response_of_a_server_that_does_not_stream_is_an_answer() {
    let whole = json!({"object": "response", "id": "resp_9", "status": "completed", "model": "local", "output": [
        {"type": "web_search_call", "id": "ws_1"},
        {"type": "message", "content": [{"type": "output_text", "text": "A"}, {"type": "refusal", "refusal": " no"}]},
        {"type": "function_call", "name": "f", "arguments": {"x": 1}},
    ]});
    let answer = answer(&stream(&[whole]));
    let [Block::Opaque(searched), Block::Text { text, .. }, Block::Call { id, arguments, .. }] =
        &answer.blocks[..]
    else {
        panic!("{answer:?}")
    };
    assert_eq!((&searched.part["id"], text.as_str()), (&json!("ws_1"), "A no"));
    assert_eq!((id.as_str(), &**arguments), ("resp_9-call-0", "{\"x\":1}"));
    assert_eq!(answer.stop, StopReason::Calls);
}

#[test]
fn arguments_that_come_at_once_or_before_their_call_are_not_lost() {
    let done = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"x\":1}"});
    let begun = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": ""});
    let end = json!({"type": "response.completed", "response": {}});
    let at_once = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
        json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "{\"x\":1}"}),
        end.clone(),
    ];
    let before = [
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"x\":1}"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": done}),
        end,
    ];
    for events in [at_once, before] {
        let answer = answer(&stream(&events));
        assert!(
            matches!(&answer.blocks[..], [Block::Call { id, arguments, .. }]
                if id.as_str() == "c" && &**arguments == "{\"x\":1}"),
            "{answer:?}"
        );
    }
}

#[test]
fn items_without_a_place_are_known_by_their_ids() {
    let mut events = Vec::new();
    for id in ["a", "b"] {
        let begun = json!({"type": "function_call", "id": id, "call_id": id, "name": "f", "arguments": ""});
        events.push(json!({"type": "response.output_item.added", "item": begun}));
    }
    for id in ["a", "b"] {
        let done = json!({"type": "function_call", "id": id, "call_id": id, "name": "f", "arguments": id});
        events.push(json!({"type": "response.function_call_arguments.delta", "item_id": id, "delta": id}));
        events.push(json!({"type": "response.output_item.done", "item": done}));
    }
    events.push(json!({"type": "response.completed", "response": {}}));
    let back = given_back(answer(&stream(&events)));
    let arguments: Vec<&str> =
        back.as_array().unwrap().iter().filter_map(|item| item["arguments"].as_str()).collect();
    assert_eq!(arguments, ["a", "b"]);
}

#[test]
fn a_call_of_no_tool_is_no_answer() {
    let events = [
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"}),
        json!({"type": "response.completed", "response": {}}),
    ];
    assert_eq!(failure(&stream(&events)).kind, ModelErrorKind::Protocol);
}

proptest! {
    #![proptest_config(cases(128))]
    #[test]
    fn what_a_model_called_is_given_back_to_the_letter(
        calls in prop::collection::vec(("[a-z0-9_]{1,8}", ".{0,40}"), 1..5), encrypted in ".{0,20}", size in 1_usize..7,
    ) {
        let thoughts = json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": encrypted});
        let mut events =
            vec![json!({"type": "response.output_item.done", "output_index": 0, "item": thoughts})];
        for (index, (id, arguments)) in calls.iter().enumerate() {
            let item = |arguments: &str| {
                json!({"type": "function_call", "call_id": format!("{id}{index}"), "name": "f", "arguments": arguments})
            };
            let at = index + 1;
            events.push(json!({"type": "response.output_item.added", "output_index": at, "item": item("")}));
            for piece in arguments.chars().collect::<Vec<_>>().chunks(size) {
                let piece: String = piece.iter().collect();
                events.push(
                    json!({"type": "response.function_call_arguments.delta", "output_index": at, "delta": piece}),
                );
            }
            events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item(arguments)}));
        }
        events.push(json!({"type": "response.completed", "response": {}}));
        let (told, answer) = read(&OpenAiResponses, &wire_options("vendor", "m"), &[stream(&events).as_bytes()]);
        let back = given_back(answer.unwrap());
        prop_assert_eq!(&back[0], &thoughts);
        for (index, (id, arguments)) in calls.iter().enumerate() {
            let pieces: String = (told.iter())
                .filter_map(|event| match event {
                    ModelEvent::Arguments { index: of, text } if *of == index => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            prop_assert_eq!(&pieces, arguments);
            prop_assert_eq!(&back[index + 1]["call_id"], &json!(format!("{id}{index}")));
            let expected = if arguments.trim().is_empty() { "{}" } else { arguments };
            prop_assert_eq!(&back[index + 1]["arguments"], &json!(expected));
        }
    }

    #[test]
    fn hostile_bytes_are_no_harm(
        pieces in prop::collection::vec(prop_oneof![
            any::<Vec<u8>>(),
            prop::sample::select(vec![TEXT, REASONING_AND_CALLS, INCOMPLETE, FAILED])
                .prop_flat_map(|text| (0..text.len()).prop_map(|at| text.as_bytes()[at..].to_vec())),
            "data: \\{\"type\":\"response\\.(output_item\\.(added|done)|output_text\\.delta|completed|function_call_arguments\\.delta)\",\"output_index\":[0-9]{1,19},\"(item|delta|response)\":(\\{\"type\":\"(function_call|message|reasoning)\",\"name\":\"f\"\\}|3|\"x\"|\\{\\}|null)\\}\n\n"
                .prop_map(String::into_bytes),
        ], 0..8),
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let (_, answer) = read(&OpenAiResponses, &wire_options("vendor", "m"), &pieces);
        if let Ok(answer) = answer {
            given_back(answer);
        }
    }
}
