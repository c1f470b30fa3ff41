use proptest::prelude::*;
use toolroom::model::{ModelCallId, ModelErrorKind};

use super::*;
use crate::openai_chat::OpenAiChat;
use crate::recorded::{heard, next_request, read, wire_options};
use crate::scale::cases;
use crate::wire::Wire;

const TEXT: &str = include_str!("../../tests/corpus/openai_chat/text.sse");
const REASONING_AND_CALLS: &str = include_str!("../../tests/corpus/openai_chat/reasoning_and_calls.sse");
const PARALLEL: &str = include_str!("../../tests/corpus/openai_chat/parallel.sse");
const WITHOUT_INDEX: &str = include_str!("../../tests/corpus/openai_chat/without_index.sse");
const DETAILS: &str = include_str!("../../tests/corpus/openai_chat/reasoning_details.sse");
const BROKEN_OFF: &str = include_str!("../../tests/corpus/openai_chat/broken_off.sse");
const ERROR: &str = include_str!("../../tests/corpus/openai_chat/error.sse");

fn answer(stream: &str) -> Answer {
    heard(&OpenAiChat, &wire_options("vendor", "m"), stream).1.unwrap()
}

fn failure(stream: &str) -> ModelError {
    heard(&OpenAiChat, &wire_options("vendor", "m"), stream).1.unwrap_err()
}

/// A stream of these chunks.
fn stream(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::Call { id: ModelCallId::new(id), name: name.to_owned(), arguments: arguments.into(), opaque: None }
}

/// The answer as the next request has it.
fn given_back(answer: Answer) -> Value {
    OpenAiChat.encode(&next_request(answer), &wire_options("vendor", "m"))["messages"]
        .as_array()
        .unwrap()
        .first()
        .cloned()
        .unwrap_or_default()
}

#[test]
fn words_arrive_one_by_one_and_the_usage_at_the_end() {
    let (told, answer) = heard(&OpenAiChat, &wire_options("vendor", "m"), TEXT);
    let text = |text: &str| ModelEvent::Text(text.to_owned());
    assert_eq!(told, [text("Grüß"), text(" Gott"), text("!")]);
    let answer = answer.unwrap();
    assert_eq!(answer.blocks, [Block::text("Grüß Gott!")]);
    assert_eq!((answer.stop, answer.model.as_deref()), (StopReason::Done, Some("gpt-4o-2024-08-06")));
    let usage = Usage { input: 19, output: 10, cache_read: 8, cache_write: 0, reasoning: 0 };
    assert_eq!(answer.usage, usage);
}

#[test]
fn thoughts_and_a_call_arrive_in_pieces() {
    let (told, answer) = heard(&OpenAiChat, &wire_options("vendor", "m"), REASONING_AND_CALLS);
    let answer = answer.unwrap();
    let thoughts = Block::Reasoning { text: "The user wants 2+2.".to_owned(), opaque: None };
    assert_eq!(
        answer.blocks,
        [thoughts, Block::text("I calculate."), call("call_00_a", "calculator", "{\"expression\": \"2+2\"}")]
    );
    assert_eq!(answer.stop, StopReason::Calls);
    assert_eq!((answer.usage.cache_read, answer.usage.reasoning), (128, 7));
    let begun =
        ModelEvent::Call { index: 0, id: ModelCallId::new("call_00_a"), name: "calculator".to_owned() };
    assert!(told.contains(&begun), "{told:?}");
    let pieces = told.iter().filter(|event| matches!(event, ModelEvent::Arguments { index: 0, .. })).count();
    assert_eq!(pieces, 3);
}

#[test]
fn parallel_calls_are_kept_apart() {
    let answer = answer(PARALLEL);
    let expected = [
        call("call_a", "weather", "{\"city\":\"Oslo\"}"),
        call("call_b", "weather", "{\"city\":\"Bergen\"}"),
    ];
    assert_eq!(answer.blocks, expected);
    assert_eq!(answer.stop, StopReason::Calls);
}

#[test]
fn calls_without_index_or_id_are_told_apart_and_a_stop_with_calls_means_calls() {
    let answer = answer(WITHOUT_INDEX);
    let extra = json!({"extra_content": {"google": {"thought_signature": "c2ln"}}});
    let signed = Block::Call {
        id: ModelCallId::new("function-call-1"),
        name: "weather".to_owned(),
        arguments: "{\"city\":\"Oslo\"}".into(),
        opaque: Some(Opaque { owner: "vendor".into(), part: Arc::new(extra) }),
    };
    let nameless = call("answer-7-call-1", "weather", "{\"city\":\"Bergen\"}");
    assert_eq!(answer.blocks, [signed, nameless]);
    assert_eq!(answer.stop, StopReason::Calls);
    assert_eq!(answer.usage.output, 40, "thoughts that are counted beside the words count");
}

#[test]
fn thoughts_with_details_are_put_together_and_given_back() {
    let answer = answer(DETAILS);
    let details = json!([
        {"type": "reasoning.text", "text": "Let me see.", "format": "anthropic-claude-v1", "index": 0, "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "AAAA", "format": "anthropic-claude-v1", "index": 1},
    ]);
    let Some(Block::Reasoning { text, opaque: Some(opaque) }) = answer.blocks.first() else {
        panic!("{answer:?}")
    };
    assert_eq!((text.as_str(), &opaque.part["reasoning_details"]), ("Let me see.", &details));
    assert_eq!(given_back(answer)["reasoning_details"], details);
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
fn an_error_in_the_middle_of_a_stream_is_an_error() {
    let error = failure(ERROR);
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Server, "Provider disconnected"));
    let in_choice =
        json!({"choices": [{"index": 0, "delta": {}, "error": {"code": 429, "message": "slow"}}]});
    assert_eq!(failure(&stream(&[in_choice])).kind, ModelErrorKind::RateLimit);
    assert_eq!(failure("event: error\ndata: {\"message\": \"oh\"}\n\n").kind, ModelErrorKind::Server);
    assert_eq!(failure("data: oh no\n\n").kind, ModelErrorKind::Protocol);
}

#[test]
fn a_whole_message_of_a_server_that_does_not_stream_is_an_answer() {
    let whole = json!({"model": "local", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Yes.", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "a", "arguments": {"x": [1]}}},
            {"id": "2", "type": "function", "function": {"name": "b", "arguments": null}},
        ],
    }}]});
    let expected = [Block::text("Yes."), call("1", "a", "{\"x\":[1]}"), call("2", "b", "")];
    assert_eq!(answer(&stream(std::slice::from_ref(&whole))).blocks, expected);
    assert_eq!(answer(&stream(&[whole.clone(), whole])).blocks, expected, "said twice is said once");
}

#[test]
fn calls_that_all_count_as_the_first_are_several() {
    let piece = |id: &str, name: &str, arguments: &str| {
        let call = json!({"index": 0, "id": id, "function": {"name": name, "arguments": arguments}});
        json!({"choices": [{"delta": {"tool_calls": [call]}}]})
    };
    // A new id without a name does not begin a call.
    let chunks = [piece("x", "a", "{"), piece("y", "", "}"), piece("z", "b", "{}")];
    let answer = answer(&format!("{}data: [DONE]\n\n", stream(&chunks)));
    assert_eq!(answer.blocks, [call("x", "a", "{}"), call("z", "b", "{}")]);
    assert_eq!(answer.stop, StopReason::Calls);
}

#[test]
fn calls_with_the_same_id_get_ids_of_their_own() {
    let piece = |index: u64| json!({"index": index, "id": "0", "function": {"name": "f", "arguments": "{}"}});
    let chunk = json!({"id": "r", "choices": [{"delta": {"tool_calls": [piece(0), piece(1)]}, "finish_reason": "stop"}]});
    assert_eq!(answer(&stream(&[chunk])).blocks, [call("0", "f", "{}"), call("r-call-1", "f", "{}")]);
}

#[test]
fn a_call_of_no_tool_is_no_answer() {
    let call = json!({"index": 0, "id": "x", "function": {"arguments": "{}"}});
    let chunk = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    assert_eq!(failure(&stream(&[chunk])).kind, ModelErrorKind::Protocol);
}

#[test]
fn every_end_has_its_reason() {
    let stop = |reason: &str, delta: Value| {
        answer(&stream(&[json!({"choices": [{"delta": delta, "finish_reason": reason}]})])).stop
    };
    let words = json!({"content": "x"});
    let function = json!({"function_call": {"name": "f", "arguments": "{}"}});
    assert_eq!(stop("stop", words.clone()), StopReason::Done);
    assert_eq!(stop("tool_calls", words.clone()), StopReason::Done);
    assert_eq!(stop("function_call", function.clone()), StopReason::Calls);
    assert_eq!(stop("STOP", function.clone()), StopReason::Calls);
    assert_eq!(stop("length", function), StopReason::Length);
    assert_eq!(stop("content_filter", words.clone()), StopReason::Filtered);
    assert_eq!(
        stop("insufficient_system_resource", words),
        StopReason::Other("insufficient_system_resource".to_owned())
    );
}

#[test]
fn refusals_and_parts_are_words_like_others() {
    let parts = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "A"}]);
    let chunks = [
        json!({"choices": [{"delta": {"content": parts}}]}),
        json!({"choices": [{"delta": {"refusal": " no"}, "finish_reason": "stop"}]}),
    ];
    let thoughts = Block::Reasoning { text: "hm".to_owned(), opaque: None };
    assert_eq!(answer(&stream(&chunks)).blocks, [thoughts, Block::text("A no")]);
}

#[test]
fn a_signature_that_comes_alone_is_given_back() {
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let call = json!({"id": "1", "function": {"name": "f", "arguments": "{}"}});
    let chunks = [
        json!({"choices": [{"delta": {"tool_calls": [call]}}]}),
        json!({"choices": [{"delta": {"content": "", "extra_content": extra}, "finish_reason": "stop"}]}),
    ];
    let back = given_back(answer(&stream(&chunks)));
    assert_eq!((&back["extra_content"], &back["content"]), (&extra, &Value::Null));
}

#[test]
fn what_a_model_called_is_given_back_to_the_letter() {
    let calls = |stream: &str| given_back(answer(stream))["tool_calls"].take();
    assert_eq!(
        calls(REASONING_AND_CALLS),
        json!([{"id": "call_00_a", "type": "function", "function": {
            "name": "calculator", "arguments": "{\"expression\": \"2+2\"}",
        }}])
    );
    let signed = calls(WITHOUT_INDEX);
    assert_eq!(signed[0]["extra_content"], json!({"google": {"thought_signature": "c2ln"}}));
    assert_eq!(signed[1]["id"], "answer-7-call-1");
}

proptest! {
    #![proptest_config(cases(128))]
    #[test]
    fn arguments_survive_whole(
        calls in prop::collection::vec(("[a-z0-9_]{1,8}", ".{1,40}"), 1..5), size in 1_usize..7,
    ) {
        let mut chunks = Vec::new();
        for (index, (id, arguments)) in calls.iter().enumerate() {
            let id = format!("{id}{index}");
            let call = json!({"index": index, "id": id, "function": {"name": "f", "arguments": ""}});
            chunks.push(json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
            for piece in arguments.chars().collect::<Vec<_>>().chunks(size) {
                let piece: String = piece.iter().collect();
                let call = json!({"index": index, "function": {"arguments": piece}});
                chunks.push(json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
            }
        }
        let stream = format!("{}data: [DONE]\n\n", stream(&chunks));
        let answer = read(&OpenAiChat, &wire_options("vendor", "m"), &[stream.as_bytes()]).1.unwrap();
        let back = given_back(answer);
        for (index, (id, arguments)) in calls.iter().enumerate() {
            prop_assert_eq!(&back["tool_calls"][index]["id"], &json!(format!("{id}{index}")));
            let expected = if arguments.trim().is_empty() { "{}" } else { arguments };
            prop_assert_eq!(&back["tool_calls"][index]["function"]["arguments"], &json!(expected));
        }
    }

    #[test]
    fn hostile_bytes_are_no_harm(
        pieces in prop::collection::vec(prop_oneof![
            any::<Vec<u8>>(),
            prop::sample::select(vec![TEXT, REASONING_AND_CALLS, WITHOUT_INDEX, DETAILS])
                .prop_flat_map(|text| (0..text.len()).prop_map(|at| text.as_bytes()[at..].to_vec())),
            "data: \\{\"choices\":\\[\\{\"delta\":\\{\"(content|tool_calls|reasoning_details|function_call)\":(\\[\\{\"index\":[0-9]{1,20}\\}\\]|\\[\\[\\]\\]|3|\\{\\}|null)\\}\\}\\]\\}\n\n"
                .prop_map(String::into_bytes),
        ], 0..6),
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let (_, answer) = read(&OpenAiChat, &wire_options("vendor", "m"), &pieces);
        if let Ok(answer) = answer {
            given_back(answer);
        }
    }
}
