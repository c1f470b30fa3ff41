use proptest::prelude::*;

use super::*;
use crate::scale::cases;
use crate::tool::{Origin, Source};

fn tool(name: &str) -> ClientTool {
    ClientTool::new(name, "Pick a file", json!({"type": "object", "properties": {"in": {"type": "string"}}}))
        .unwrap()
}

#[test]
fn it_is_a_tool_of_the_client_that_writes_and_sends_outward() {
    let tool = tool("pick-file");
    assert_eq!((tool.id().as_str(), tool.name()), ("client:pick-file", "pick-file"));
    assert_eq!(tool.id().source(), Source::Client);
    let spec = tool.spec();
    assert_eq!(spec.effect, Some(Effect::OnceOnlyWrite));
    let able: Vec<Capability> = spec.effective_capabilities().iter().collect();
    assert_eq!(able, [Capability::Writes, Capability::Egress]);
    assert_eq!(spec.origin(), Origin::Trusted, "the caller's own words");
}

#[test]
fn what_is_kept_of_it_is_what_was_brought() {
    let kept = serde_json::to_value(tool("pick")).unwrap();
    assert_eq!(
        kept,
        json!({
            "name": "pick", "description": "Pick a file",
            "parameters": {"type": "object", "properties": {"in": {"type": "string"}}}
        })
    );
    assert_eq!(serde_json::from_value::<ClientTool>(kept).unwrap(), tool("pick"));
    let bare: ClientTool = serde_json::from_value(json!({"name": "wave"})).unwrap();
    assert_eq!(bare.spec().parameters.as_ref(), &json!({"type": "object"}));
}

#[test]
fn what_is_none_or_too_large_is_refused_by_name() {
    let large = json!({"type": "object", "description": "x".repeat(MAX_SCHEMA_BYTES)});
    for (refused, expected) in [
        (ClientTool::new("", "", Value::Null), "`` cannot be the name"),
        (ClientTool::new("a:b", "", Value::Null), "`a:b` cannot be the name"),
        (ClientTool::new(&"n".repeat(65), "", Value::Null), "cannot be the name"),
        (ClientTool::new("a", &"d".repeat(4_097), Value::Null), "tool `a` has 4097 characters"),
        (ClientTool::new("a", "", json!([])), "tool `a` are not a valid JSON Schema"),
        (ClientTool::new("a", "", json!({"type": "string"})), "tool `a` are not a valid JSON Schema"),
        (ClientTool::new("a", "", large), "tool `a` have"),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(ClientTool::new(&"n".repeat(64), &"d".repeat(4_096), Value::Null).is_ok());
}

#[test]
fn a_pattern_that_cannot_be_checked_is_no_reason_to_refuse_a_tool() {
    let ahead = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=x)"}}});
    assert!(ClientTool::new("a", "", ahead).is_ok());
}

#[test]
fn so_many_tools_are_taken_and_no_name_twice() {
    let named = |count: usize| (0..count).map(|number| tool(&format!("t{number}"))).collect::<Vec<_>>();
    assert_eq!(ClientTools::new(named(128)).unwrap().len(), 128);
    assert_eq!(ClientTools::new(named(129)), Err(ClientToolError::TooMany { count: 129 }));
    let twice = ClientTools::new(vec![tool("a"), tool("b"), tool("a")]);
    assert_eq!(twice, Err(ClientToolError::Twice { name: "a".to_owned() }));
    let heavy = json!({"type": "object", "description": "x".repeat(60 * 1024)});
    let heavy = |number: usize| ClientTool::new(&format!("t{number}"), "", heavy.clone()).unwrap();
    assert!(ClientTools::new((0..8).map(heavy).collect()).is_ok());
    let error = ClientTools::new((0..9).map(heavy).collect()).unwrap_err();
    assert!(matches!(error, ClientToolError::TooLarge { .. }), "{error}");
    let kept = serde_json::to_value(ClientTools::new(named(2)).unwrap()).unwrap();
    assert_eq!(serde_json::from_value::<ClientTools>(kept).unwrap().len(), 2);
    assert!(serde_json::from_value::<ClientTools>(json!([{"name": "a"}, {"name": "a"}])).is_err());
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_name_is_an_id_or_refused(name in "\\PC{0,70}|[a-zA-Z0-9_-]{0,70}") {
        let is_name = !name.is_empty() && name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        match ClientTool::new(&name, "", Value::Null) {
            Ok(tool) => {
                prop_assert!(is_name);
                prop_assert_eq!(tool.name(), &name);
            }
            Err(error) => prop_assert!(!is_name, "{}", error),
        }
    }
}
