use std::sync::Arc;

use proptest::prelude::*;
use toolroom::clock::SystemClock;
use toolroom::schema::PatternRule;

use super::*;
use crate::mcp::catalog::outcome::outcome;

fn try_output(promised: Option<&Schema>, result: &Value) -> Result<ToolOutput, String> {
    let make_file = |media_type: &str, bytes| Attachment::new(&SystemClock, media_type, bytes);
    let output = outcome(&make_file, promised, result.as_object().unwrap().clone());
    output.map_err(|error| error.for_model().to_owned())
}

fn given(promised: Option<&Schema>, result: &Value) -> ToolOutput {
    try_output(promised, result).unwrap()
}

/// The value, with a number for each artifact it names.
fn value(output: &ToolOutput) -> Value {
    let mut text = output.value.to_string();
    for (index, file) in output.attachments.iter().enumerate() {
        text = text.replace(file.id().as_str(), &format!("file {index}"));
    }
    serde_json::from_str(&text).unwrap()
}

fn value_of(result: &Value) -> Value {
    value(&given(None, result))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn a_single_text_becomes_a_string_and_data_alone_becomes_that_value() {
    assert_eq!(value_of(&json!({"content": [text("a")]})), json!("a"));
    assert_eq!(value_of(&json!({"content": []})), json!(""));
    assert_eq!(value_of(&json!({})), json!(""));
    assert_eq!(value_of(&json!({"content": [], "structuredContent": {"x": 1}})), json!({"x": 1}));
    let repeated = json!({"content": [text("{\"x\": 1}")], "structuredContent": {"x": 1}});
    assert_eq!(value_of(&repeated), json!({"x": 1}));
    let wrapped = json!({"content": [text("42")], "structuredContent": {"result": 42}});
    assert_eq!(value_of(&wrapped), json!({"result": 42}));
    let worded = json!({"content": [text("done")], "structuredContent": {"result": "done"}});
    assert_eq!(value_of(&worded), json!({"result": "done"}));
}

#[test]
fn any_other_result_keeps_the_form_of_the_protocol() {
    let two = json!({"content": [text("a"), text("b")]});
    assert_eq!(value_of(&two), two);
    let explained = json!({"content": [text("It is warm.")], "structuredContent": {"degrees": 20}});
    assert_eq!(value_of(&explained), explained);
    let link = json!({"content": [{"type": "resource_link", "uri": "x://y", "name": "y", "mimeType": "text/plain"}]});
    assert_eq!(value_of(&link), link);
    let written = json!({"content": [{"type": "resource", "resource": {"uri": "x://y", "text": "t"}}]});
    assert_eq!(value_of(&written), written);
    // Data that looks like a result is not mistaken for one.
    let odd = json!({"content": [], "structuredContent": {"content": [text("a")]}});
    assert_eq!(value_of(&odd), odd);
    let strange = value_of(&json!({"content": [3, {"type": "novel", "payload": "x"}, {"type": "text"}]}));
    assert_eq!(strange["content"][0]["type"], "text");
    assert!(!strange.to_string().contains("payload"), "{strange}");
}

#[test]
fn bytes_become_attachments() {
    let image = json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8=", "_meta": {"x": 1}});
    let blob =
        json!({"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/html; x", "blob": "aGk"}});
    let result = given(None, &json!({"content": [image, blob], "structuredContent": [1]}));
    let bytes: Vec<(&str, usize)> =
        result.attachments.iter().map(|file| (file.media_type(), file.size())).collect();
    assert_eq!(bytes, [("image/png", 5), ("text/html", 2)]);
    let image = json!({"type": "image", "mimeType": "image/png", "bytes": 5, "artifact": "file 0"});
    let resource = json!({"uri": "x://y", "mimeType": "text/html", "bytes": 2, "artifact": "file 1"});
    let blocks = json!([image, {"type": "resource", "resource": resource}]);
    assert_eq!(value(&result), json!({"content": blocks, "structuredContent": [1]}));

    let broken = given(None, &json!({"content": [{"type": "audio", "data": "?"}, {"type": "image"}]}));
    assert!(
        broken.attachments.is_empty() && broken.value.to_string().contains("not valid base64"),
        "{broken:?}"
    );
    let many = vec![json!({"type": "image", "mimeType": "image/png", "data": "AA=="}); 100];
    assert_eq!(given(None, &json!({"content": many})).attachments.len(), MAX_FILES);
}

#[test]
fn data_that_violates_its_schema_becomes_text_with_a_warning() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let schema = Schema::new(Arc::new(schema), PatternRule::Relax).unwrap();
    let fits = given(Some(&schema), &json!({"structuredContent": {"n": 1}}));
    assert_eq!((fits.value, fits.message), (json!({"n": 1}), None));
    let wrong = given(Some(&schema), &json!({"content": [text("hm")], "structuredContent": {"n": "x"}}));
    assert_eq!(wrong.value, json!({"content": [text("hm"), text("{\"n\":\"x\"}")]}));
    assert!(wrong.message.unwrap().contains("does not match"));
    let none = given(Some(&schema), &json!({"content": [text("hm")]}));
    assert_eq!(none.value, json!({"content": [text("hm")]}), "never mistaken for data");
    assert!(none.message.unwrap().contains("no structured content"));
}

#[test]
fn a_result_marked_as_an_error_is_an_error() {
    let error = |result: &Value| try_output(None, result).unwrap_err();
    assert_eq!(error(&json!({"content": [text("no such city")], "isError": true})), "no such city");
    assert!(error(&json!({"isError": true})).contains("no reason"));
    assert_eq!(error(&json!({"content": [text(&"x".repeat(10_000))], "isError": true})).len(), 4_000);
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = vec![
        "type",
        "text",
        "image",
        "audio",
        "resource",
        "resource_link",
        "data",
        "blob",
        "uri",
        "AAAA",
        "?",
    ];
    let word = proptest::sample::select(words);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            proptest::collection::vec((word.clone(), inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn every_block_is_one_of_the_protocol_and_holds_no_bytes(
        content in any_json(), structured in any_json(),
    ) {
        let output = given(None, &json!({"content": content, "structuredContent": structured}));
        if let Some(blocks) = output.value.get("content").and_then(Value::as_array).filter(|_| structured.is_null()) {
            for block in blocks {
                let kind = block["type"].as_str().unwrap();
                prop_assert!(["text", "image", "audio", "resource", "resource_link"].contains(&kind));
                prop_assert!(block.get("data").is_none() && block["resource"].get("blob").is_none());
                let is_file = matches!(kind, "image" | "audio");
                prop_assert_eq!(block.get("artifact").is_some(), is_file);
            }
        }
        for file in &output.attachments {
            prop_assert!(output.value.to_string().contains(file.id().as_str()));
        }
    }
}
