//! T4, T5, T9: arguments as a model writes them, through the whole path.

use serde_json::{Value, json};
use toolroom::call::{CallContext, Outcome};
use toolroom::ledger::CallStatus;
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::testing::Bench;
use toolroom::tool::{Effect, ErrorKind, ToolError, ToolOutput, tool_fn};

use crate::room::{echo, error_of, kind_of, scripted, spec};

#[tokio::test]
async fn empty_text_and_null_mean_no_arguments() {
    let bench = Bench::new(echo()).unwrap();
    for text in ["", "  \n", "null", "{}"] {
        let report = bench.room().call(bench.request().arguments_text(text)).await;
        assert_eq!(report.for_model(), Some(json!({})), "{text:?}");
    }
}

#[tokio::test]
async fn text_that_is_no_object_fails_and_is_kept() {
    let bench = Bench::new(echo()).unwrap();
    for text in ["{", "[1]", "\"x\"", "5", "{\"a\": 1, \"a\": 2}", "{\"n\": 123456789012345678901}", "nul"] {
        let report = bench.room().call(bench.request().arguments_text(text)).await;
        assert_eq!(kind_of(&report), ErrorKind::InvalidArguments, "{text}");
        let row = bench.journal().await.remove(0);
        assert_eq!((row.status, &*row.arguments), (CallStatus::Failed, &Value::from(text)));
        assert_eq!(row.begun_at, None, "it never began");
    }
}

#[tokio::test]
async fn whole_numbers_keep_every_digit() {
    let bench = Bench::new(echo()).unwrap();
    for number in ["9007199254740993", "-9223372036854775808", "18446744073709551615"] {
        let report = bench.room().call(bench.request().arguments_text(format!("{{\"n\": {number}}}"))).await;
        assert_eq!(report.for_model().unwrap()["n"].to_string(), number);
    }
}

#[tokio::test]
async fn a_whole_number_is_one_however_it_is_written() {
    let bench = Bench::new(echo()).unwrap();
    for (written, got) in [
        ("20.0", "20"),
        ("-3e2", "-300"),
        ("0.5", "0.5"),
        ("1e300", "1e+300"),
        ("[{\"n\": 7.0}]", "[{\"n\":7}]"),
    ] {
        let report = bench.room().call(bench.request().arguments_text(format!("{{\"n\": {written}}}"))).await;
        assert_eq!(report.for_model().unwrap()["n"].to_string(), got);
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Pages {
        count: usize,
    }
    let count = |_context: CallContext, pages: Pages| std::future::ready(Ok::<_, ToolError>(pages.count));
    let typed = Bench::new(tool_fn("app:pages", "Count", count).unwrap()).unwrap();
    assert_eq!(typed.report(json!({"count": 20.0})).await.for_model(), Some(json!(20)));
}

#[tokio::test]
async fn all_problems_are_told_at_once_with_a_hint() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["city", "days"],
        "additionalProperties": false
    });
    let tool = scripted(spec(Effect::Pure).parameters(schema), |_context, _arguments| async {
        Ok(ToolOutput::new("never"))
    });
    let bench = Bench::new(tool).unwrap();
    let report = bench.report(json!({"days": 0, "dayz": 1})).await;
    let text = error_of(&report).for_model();
    for part in ["city", "days", "dayz"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(report.for_model().unwrap()["hint"].as_str().unwrap().contains("unchanged they fail again"));
}

#[tokio::test]
async fn a_tools_own_check_lists_its_problems() {
    let mut tool =
        scripted(spec(Effect::Pure), |_context, _arguments| async { Ok(ToolOutput::new("never")) });
    tool.check =
        |_| vec![Problem::new("/from", "must lie before `to`"), Problem::new("/to", "is in the past")];
    let bench = Bench::new(tool).unwrap();
    let report = bench.report(json!({})).await;
    let text = error_of(&report).for_model();
    assert!(text.contains("must lie before `to`") && text.contains("is in the past"), "{text}");
}

#[tokio::test]
async fn a_check_with_too_much_to_say_is_cut_and_says_so() {
    let mut tool =
        scripted(spec(Effect::Pure), |_context, _arguments| async { Ok(ToolOutput::new("never")) });
    tool.check = |_| (0..100_000).map(|n| Problem::new(format!("/{n}"), "is wrong")).collect();
    let report = Bench::new(tool).unwrap().report(json!({})).await;
    let text = error_of(&report).for_model();
    assert!(text.contains("`0` is wrong; `1` is wrong"), "{text}");
    assert!(text.ends_with("; and more, listed once these are fixed"), "{text}");
}

#[tokio::test]
async fn a_tools_own_no_is_a_denial_and_its_doubt_asks() {
    let mut tool = scripted(spec(Effect::Pure), |_context, _arguments| async { Ok(ToolOutput::new("ran")) });
    tool.judge = |arguments| match arguments.get("say").and_then(Value::as_str) {
        Some("no") => Judgement::Deny("not on a Sunday".into()),
        Some("maybe") => Judgement::Ask("better ask".into()),
        _ => Judgement::Allow,
    };
    let bench = Bench::new(tool).unwrap();
    assert!(bench.run(json!({"say": "yes"})).await.success);

    let denied = bench.report(json!({"say": "no"})).await;
    assert!(matches!(&denied.outcome, Outcome::Denied(denial) if denial.reason == "not on a Sunday"));
    assert!(denied.for_model().unwrap()["error"].as_str().unwrap().starts_with("denied"));
    assert_eq!(bench.journal().await[0].status, CallStatus::Denied);

    let asked = bench.report(json!({"say": "maybe"})).await;
    assert!(matches!(asked.outcome, Outcome::Pending(_)));
    assert_eq!(asked.for_model(), None, "a pending call never reaches a model");
    assert_eq!(bench.journal().await[0].status, CallStatus::Pending);
}

#[tokio::test]
async fn top_level_defaults_are_filled_before_the_tool_runs() {
    let schema = json!({
        "type": "object",
        "properties": {"unit": {"type": "string", "default": "metric"}, "deep": {"properties": {"x": {"default": 1}}}}
    });
    let tool = scripted(spec(Effect::Pure).parameters(schema), |_context, arguments| async move {
        Ok(ToolOutput::new(Value::Object(arguments)))
    });
    let bench = Bench::new(tool).unwrap();
    assert_eq!(bench.run(json!({"deep": {}})).await.result, Some(json!({"deep": {}, "unit": "metric"})));
    assert_eq!(bench.journal().await[0].arguments["unit"], "metric");
}

#[tokio::test]
async fn values_that_are_too_deep_are_refused_without_a_crash() {
    let bench = Bench::new(echo()).unwrap();
    let mut deep = json!(1);
    for _ in 0..1_000 {
        deep = json!([deep]);
    }
    let report = bench.report(json!({"deep": deep.clone()})).await;
    assert_eq!(kind_of(&report), ErrorKind::InvalidArguments);
    let text = format!("{{\"deep\": {}", "[".repeat(1_000_000));
    let report = bench.room().call(bench.request().arguments_text(text)).await;
    assert_eq!(kind_of(&report), ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn objects_and_context_are_bounded_like_text() {
    let bench = Bench::new(echo()).unwrap();
    let huge = bench.report(json!({"text": "x".repeat(5 * 1024 * 1024)})).await;
    assert_eq!(kind_of(&huge), ErrorKind::InvalidArguments);
    let context = serde_json::Map::from_iter([("k".to_owned(), json!("x".repeat(70_000)))]);
    let chatty = bench.room().call(bench.request().context(context)).await;
    assert!(error_of(&chatty).for_model().contains("the context has 70"), "{chatty:?}");
    let context = serde_json::Map::from_iter([("k".to_owned(), json!("x".repeat(70_000)))]);
    bench.room().call(bench.request().argument("n", 1).context(context)).await;
    assert_eq!(*bench.journal().await[0].arguments, json!({"n": 1}), "the row still shows what was asked");
    let deep = (0..1_000).fold(json!(1), |inner, _| json!([inner]));
    let unknown = bench.room().call(toolroom::call::CallRequest::new("missing").argument("deep", deep)).await;
    assert_eq!(kind_of(&unknown), ErrorKind::NotFound, "also where the arguments are only kept");
}

#[tokio::test]
async fn arguments_that_take_too_much_work_are_the_callers_fault() {
    let part = json!({"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]});
    let schema = json!({
        "type": "object",
        "$defs": {"n": {"type": "object", "properties": {"a": part.clone(), "b": part.clone()}, "required": ["leaf"]}},
        "properties": {"value": part}
    });
    let tool = scripted(spec(Effect::Pure).parameters(schema), |_context, _arguments| async {
        Ok(ToolOutput::new(1))
    });
    let bench = Bench::new(tool).unwrap();
    let value = (0..60).fold(json!({}), |inner, _| json!({"a": inner, "b": {}}));
    assert_eq!(kind_of(&bench.report(json!({"value": value})).await), ErrorKind::InvalidArguments);
}
