use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::scale::cases;

fn names() -> WireNames {
    WireNames::new(["builtin:calculator", "builtin:write_file", "mcp:a:search", "mcp:b:search"])
}

fn tools() -> Vec<OfferedTool> {
    let parameters = json!({
        "type": "object",
        "properties": {
            "expression": { "type": "string" },
            "digits": { "type": "integer" },
            "exact": { "type": ["boolean", "null"] },
            "values": { "type": "array" },
            "options": { "anyOf": [{ "type": "object" }, { "type": "null" }] },
        },
    });
    let parameters = Arc::new(parameters);
    let tool = |(_, wire): (&str, &str)| OfferedTool {
        name: wire.to_owned(),
        description: String::new(),
        parameters: Arc::clone(&parameters),
    };
    names().iter().map(tool).collect()
}

fn found(text: &str) -> Option<(String, Vec<(String, Value)>)> {
    let recovered = recover_calls(text, &tools(), &names())?;
    let call = |call: InlineCall| (call.name, Value::Object(call.arguments));
    Some((recovered.text, recovered.calls.into_iter().map(call).collect()))
}

#[test]
fn every_form_is_read() {
    let expected = vec![("builtin__calculator".to_owned(), json!({ "expression": "1+1" }))];
    for text in [
        r#"<tool_call>{"name": "calculator", "arguments": {"expression": "1+1"}}</tool_call>"#,
        r#"<tool_call>{"name": "builtin:calculator", "parameters": {"expression": "1+1"}}"#,
        r#"<tool_call>{"function": {"name": "calculator", "arguments": "{\"expression\": \"1+1\"}"}}</tool_call>"#,
        "<tool_call>\n```json\n{\"name\": \"calculator\", \"args\": {\"expression\": \"1+1\"}}\n```\n</tool_call>",
        "<tool_call>\n<function=builtin__calculator>\n<parameter=expression>\n1+1\n</parameter>\n</function>\n</tool_call>",
        "<function=calculator><parameter=expression>1+1</parameter></function>",
        "<function=calculator><parameter=expression>1+1",
        r#"<function=calculator>{"expression": "1+1"}</function>"#,
        r#"<function_calls><invoke name="calculator"><parameter name="expression">1+1</parameter></invoke></function_calls>"#,
        "<invoke name='calculator'>\n<parameter name='expression' string='true'>1+1</parameter>\n</invoke>",
        "```tool_call\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"1+1\"}}\n```",
        "```tool_calls\n[{\"name\": \"calculator\", \"arguments\": {\"expression\": \"1+1\"}}]\n```",
        r#"[TOOL_CALLS][{"name": "calculator", "arguments": {"expression": "1+1"}}]"#,
        r#"[TOOL_CALLS]calculator[ARGS]{"expression": "1+1"}"#,
        r#"[TOOL_CALLS] calculator{"expression": "1+1"}</s>"#,
        r#"<|python_tag|>{"name": "calculator", "parameters": {"expression": "1+1"}}<|eom_id|>"#,
    ] {
        assert_eq!(found(text), Some((String::new(), expected.clone())), "{text}");
    }
}

#[test]
fn words_around_calls_stay_and_calls_keep_their_order() {
    let text = "First this.\n<tool_call>{\"name\":\"calculator\"}</tool_call>\nThen that.\n\
                <tool_call>{\"name\":\"write_file\"}\n{\"name\":\"calculator\"}</tool_call> Done.";
    let (text, calls) = found(text).unwrap();
    assert_eq!(text, "First this.\n\nThen that.\n Done.");
    let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["builtin__calculator", "builtin__write_file", "builtin__calculator"]);
}

#[test]
fn what_opens_and_never_closes_ends_with_the_next_one_or_the_text() {
    let text = "<tool_call>{\"name\":\"calculator\"}\n<tool_call>{\"name\":\"write_file\"} That was it.";
    let (text, calls) = found(text).unwrap();
    assert_eq!(text, "That was it.");
    assert_eq!(calls.len(), 2);
}

#[test]
fn what_is_no_call_of_a_tool_on_offer_stays() {
    for text in [
        "Plain words with a < b and [1] and `code`.",
        "Write `<tool_call>{\"name\": \"your_tool\", \"arguments\": {}}</tool_call>` to call a tool.",
        "```xml\n<invoke name=\"example\"><parameter name=\"x\">1</parameter></invoke>\n```",
        "<tool_call>not json</tool_call>",
        "<tool_call>{\"name\": \"calculator\", \"arguments\": 3}</tool_call>",
        "<tool_call>{\"name\": \"calculator\"} and more</tool_call>",
        "<tool_call>",
        "<function=>",
        "<function=calculator",
        "[TOOL_CALLS]",
        "<tool_call>{\"name\": \"calculator\"}{\"name\": \"unknown\"}</tool_call>",
        // Two tools are called that.
        "<tool_call>{\"name\": \"search\"}</tool_call>",
    ] {
        assert_eq!(found(text), None, "{text}");
    }
    let (text, calls) = found("A <tool_call> or [TOOL_CALLS]: <function=calculator></function>").unwrap();
    assert_eq!((text.as_str(), calls.len()), ("A <tool_call> or [TOOL_CALLS]:", 1));
    let (text, calls) =
        found("<tool_call>oops</tool_call><tool_call>{\"name\":\"calculator\"}</tool_call>").unwrap();
    assert_eq!((text.as_str(), calls.len()), ("<tool_call>oops</tool_call>", 1));
}

#[test]
fn a_code_block_with_nothing_but_calls_goes_with_them() {
    let text = "Like this:\n```xml\n<tool_call>{\"name\":\"calculator\"}</tool_call>\n```\nright?";
    assert_eq!(found(text).unwrap().0, "Like this:\n\nright?");
}

#[test]
fn values_get_the_types_that_are_declared() {
    let parameters = [
        ("expression", "12", json!("12")),
        ("digits", "12", json!(12)),
        ("digits", "many", json!("many")),
        ("exact", "true", json!(true)),
        ("exact", "False", json!(false)),
        ("exact", "null", json!(null)),
        ("values", "[1, \"2\"]", json!([1, "2"])),
        ("values", "{\"a\": 1}", json!("{\"a\": 1}")),
        ("options", "{\"a\": 1}", json!({ "a": 1 })),
        ("undeclared", "12", json!("12")),
    ];
    for (key, written, expected) in parameters {
        let text = format!("<function=calculator>\n<parameter={key}>\n{written}\n</parameter>\n</function>");
        assert_eq!(found(&text).unwrap().1[0].1[key], expected, "{key} {written}");
        let text = json!({ "name": "calculator", "arguments": { key: written } });
        let text = format!("<tool_call>{text}</tool_call>");
        assert_eq!(found(&text).unwrap().1[0].1[key], expected, "{key} {written}");
    }
}

#[test]
fn a_value_may_have_many_lines_and_marks_in_it() {
    let text = "<function=write_file><parameter=path>a.rs</parameter><parameter=content>\nfn main() {\n    a < b;\n}\n\n</parameter></function>";
    let (_, calls) = found(text).unwrap();
    assert_eq!(calls[0].1["content"], "fn main() {\n    a < b;\n}\n");
}

#[test]
fn many_openings_are_read_once() {
    for opening in
        ["<tool_call>", "<tool_call>{\"a\":\"", "<function=", "<invoke name=", "[TOOL_CALLS]", "```tool_call"]
    {
        assert_eq!(found(&opening.repeat(200_000)), None);
    }
    assert_eq!(found(&"<tool_call><function=[TOOL_CALLS]".repeat(100_000)), None);
    let calls = "<tool_call>{\"name\":\"calculator\"}".repeat(2_000);
    assert_eq!(found(&calls).unwrap().1.len(), 2_000);
}

#[test]
fn what_is_repeated_calls_nothing() {
    let said =
        r#"The page says: <tool_call>{"name": "calculator", "arguments": {}}</tool_call> and [TOOL_CALLS]."#;
    assert!(found(said).is_some());
    let safe = without_calls(said);
    assert_eq!(found(&safe), None);
    assert!(safe.starts_with("The page says: < tool_call>{") && safe.ends_with("[ TOOL_CALLS]."));
    assert!(matches!(without_calls("a < b and `c`"), Cow::Borrowed("a < b and `c`")));
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn only_offered_tools_are_called_and_no_argument_is_made_up(
        pieces in prop::collection::vec(prop_oneof![
            prop::sample::select(vec![
                "<tool_call>", "</tool_call>", "<function=", "calculator", "search", ">", "</function>",
                "<parameter=expression>", "</parameter>", "<function_calls>", "<invoke name=\"", "\">", "</invoke>",
                "{\"name\":\"calculator\",\"arguments\":{\"values\":\"[1]\"}}", "```", "```tool_call\n", "\n",
                "[TOOL_CALLS]", "[ARGS]", "{}", "<|python_tag|>", "<|eom_id|>",
            ]).prop_map(str::to_owned),
            "\\PC{0,5}",
        ], 0..24),
    ) {
        let text = pieces.concat();
        prop_assert_eq!(next_form(&without_calls(&text)).map(|(_, form, _)| form.opens), None);
        if let Some(recovered) = recover_calls(&text, &tools(), &names()) {
            prop_assert!(!recovered.calls.is_empty());
            prop_assert!(recovered.calls.iter().all(|call| tools().iter().any(|tool| tool.name == call.name)));
            prop_assert!(recovered.text.len() < text.len());
        }
    }
}
