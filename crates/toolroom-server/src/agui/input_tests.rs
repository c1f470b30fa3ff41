use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::scale::cases;

fn read(more: Value) -> Result<Input, InputError> {
    let mut input = json!({"threadId": "t", "runId": "r", "messages": []});
    if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
        input.extend(more);
    }
    Input::try_from(serde_json::from_value::<RunAgentInput>(input).unwrap())
}

fn said(role: &str, id: &str, content: &str) -> Value {
    json!({"id": id, "role": role, "content": content})
}

#[test]
fn what_is_too_long_or_makes_no_sense_is_refused_in_words() {
    let tool = json!({"id": "m", "role": "tool", "content": "x"});
    let answer = json!({"interruptId": "i", "status": "cancelled"});
    for (more, expected) in [
        (json!({"threadId": ""}), "`threadId` has 0 bytes"),
        (json!({"runId": "x".repeat(513)}), "`runId` has 513 bytes"),
        (json!({"messages": [tool]}), "has no `toolCallId`"),
        (json!({"state": {"a": "x".repeat(70_000)}}), "at most 65536 are taken"),
        (json!({"resume": [answer, answer]}), "answered twice"),
        (json!({"tools": [{"name": "a b"}]}), "cannot be the name"),
        (json!({"tools": [{"name": "a"}, {"name": "a"}]}), "`a`"),
        (json!({"messages": [{"id": "m", "role": "user", "content": [{"type": "video"}]}]}), "`video`"),
    ] {
        let error = read(more).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let wrong = json!({"threadId": "t", "runId": "r", "messages": [said("wizard", "m", "x")]});
    assert!(serde_json::from_value::<RunAgentInput>(wrong).is_err());
}

#[test]
fn null_is_absent_on_the_way_in() {
    let input =
        read(json!({"tools": null, "context": null, "resume": null, "protocolVersion": null})).unwrap();
    assert!(!input.modern && input.tools.is_empty() && input.resume.is_none());
    assert!(read(json!({"protocolVersion": "1.0"})).unwrap().modern);
}

#[test]
fn what_the_client_says_of_its_situation_is_one_document() {
    let input = read(json!({
        "forwardedProps": {"user": {"name": "Ada"}},
        "context": [{"description": "page", "value": "cart"}],
        "state": {"items": 2, "toolroom": {"status": "old"}},
        "messages": [said("system", "s", "Be brief."), said("user", "u", "hi")],
    }));
    assert_eq!(
        Value::Object(input.unwrap().context),
        json!({
            "user": {"name": "Ada"},
            "context": [{"description": "page", "value": "cart"}],
            "instructions": ["Be brief."],
            "state": {"items": 2},
        })
    );
    assert!(read(json!({"state": {}})).unwrap().context.is_empty());
}

#[test]
fn a_failure_of_the_client_is_one_however_it_is_said() {
    let tool = |call: &str, content: &str, error: Value| json!({"id": call, "role": "tool", "toolCallId": call, "content": content, "error": error});
    let input = read(json!({"messages": [
        tool("a", "12 C", Value::Null),
        tool("b", "{\"c\": 12}", Value::Null),
        tool("c", "", json!("the dialog was closed")),
        tool("d", "{\"success\": false, \"message\": \"city is missing\"}", Value::Null),
        tool("e", "{\"success\": true, \"result\": 3}", Value::Null),
        tool("f", "{\"success\": false, \"items\": []}", Value::Null),
        tool("a", "13 C", Value::Null),
    ]}))
    .unwrap();
    let brought: Vec<_> = input.client_results().into_iter().map(|one| (one.call, one.outcome)).collect();
    let expected = [
        ("b", Ok(json!({"c": 12}))),
        ("c", Err("the dialog was closed")),
        ("d", Err("city is missing")),
        ("e", Ok(json!(3))),
        ("f", Ok(json!({"success": false, "items": []}))),
        ("a", Ok(json!("13 C"))),
    ];
    let expected: Vec<_> =
        expected.map(|(call, outcome)| (call.to_owned(), outcome.map_err(str::to_owned))).into();
    assert_eq!(brought, expected);
}

#[test]
fn history_holds_messages_and_results_of_tools() {
    let input = read(json!({"messages": [
        said("system", "s", "x"), said("user", "u1", "one"),
        {"id": "a1", "role": "assistant", "content": "two", "toolCalls": []},
        {"id": "t1", "role": "tool", "toolCallId": "c", "content": "three"}, said("user", "u2", "four"),
    ]}))
    .unwrap();
    let (place, last) = input.last_words().unwrap();
    assert_eq!((place, last.text().as_str()), (4, "four"));
    let words: Vec<String> = input.history(place).iter().map(ModelMessage::text).collect();
    assert_eq!(words, ["one", "two", ""]);
    assert!(matches!(input.history(place)[2].blocks[..], [Block::Result { .. }]));
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_document_is_an_input_or_refused(text in "\\PC{0,80}", id in "\\PC{0,600}", depth in 0_usize..200) {
        drop(serde_json::from_str::<RunAgentInput>(&text));
        let nested = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let whole = format!(
            "{{\"threadId\": {}, \"runId\": \"r\", \"messages\": [], \"state\": {nested}}}", json!(id)
        );
        if let Ok(input) = serde_json::from_str::<RunAgentInput>(&whole) {
            prop_assert_eq!(Input::try_from(input).is_ok(), (1..=ID_BYTES).contains(&id.len()));
        }
    }
}
