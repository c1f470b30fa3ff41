//! T7: results that are too long, and where the whole of them stays.

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq};
use serde_json::{Value, json};
use toolroom::call::Outcome;
use toolroom::ledger::Artifacts;
use toolroom::scope::Scope;
use toolroom::testing::Bench;
use toolroom::tool::{Arguments, Capability, Effect, Origin, ToolError, ToolOutput};

use crate::room::{scripted, spec};
use crate::scale::cases;

fn bench(value: &Value) -> Bench {
    let value = value.clone();
    let tool = scripted(spec(Effect::Pure), move |_context, _arguments| {
        let value = value.clone();
        async move { Ok(ToolOutput::new(value)) }
    });
    Bench::new(tool).unwrap()
}

#[tokio::test]
async fn a_long_text_keeps_both_ends_and_the_whole_is_kept() {
    let whole = format!("HEAD{}TAIL", "é".repeat(50_000));
    let bench = bench(&json!(whole));
    let report = bench.report(json!({})).await;
    let Outcome::Done(done) = &report.outcome else { panic!("{report:?}") };
    let short = done.value.as_str().unwrap();
    assert!(short.starts_with("HEAD") && short.ends_with("TAIL"), "{short}");
    assert!(short.contains("50008 characters"), "the marker names the original length");
    assert!(short.chars().count() <= 20_000);
    assert!(done.truncated);

    let id = done.artifact.clone().unwrap();
    assert!(short.contains(id.as_str()), "a model finds the artifact");
    let kept = bench.ledger().artifact(&Scope::default(), &id).await.unwrap().unwrap();
    assert_eq!(&*kept.bytes, whole.as_bytes());
    let row = bench.journal().await.remove(0);
    assert_eq!((row.artifact, row.result_chars), (Some(id), 50_008));
}

#[tokio::test]
async fn a_long_object_stays_json_and_keeps_its_small_parts() {
    let value =
        json!({"status": "ok", "body": "x".repeat(100_000), "items": vec!["item"; 10_000], "end": true});
    let bench = bench(&value);
    let Outcome::Done(done) = bench.report(json!({})).await.outcome else { panic!("not done") };
    assert_eq!((&done.value["status"], &done.value["end"]), (&json!("ok"), &json!(true)));
    assert!(done.value.to_string().chars().count() <= 20_000);
    let kept = bench.ledger().artifact(&Scope::default(), &done.artifact.unwrap()).await.unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept.bytes).unwrap(), value);
}

#[tokio::test]
async fn other_users_cannot_read_an_artifact() {
    let bench = bench(&json!("x".repeat(30_000)));
    let request = bench.request().scope(Scope::user("local", "ann"));
    let Outcome::Done(done) = bench.room().call(request).await.outcome else { panic!("not done") };
    let id = done.artifact.unwrap();
    let sees = async |scope: Scope| bench.ledger().artifact(&scope, &id).await.unwrap().is_some();
    assert!(sees(Scope::user("local", "ann")).await);
    assert!(sees(Scope::project("local")).await, "the owner of the project does");
    assert!(!sees(Scope::user("local", "bob")).await);
    assert!(!sees(Scope::project("other")).await);
}

#[tokio::test]
async fn a_result_that_fits_is_given_as_it_is() {
    let value = json!({"b": 1, "a": [null, 1.5, "é"], "not found": "not found"});
    let bench = bench(&value);
    let Outcome::Done(done) = bench.report(json!({})).await.outcome else { panic!("not done") };
    assert_eq!(*done.value, value, "nothing is added to a document that speaks of errors");
    assert_eq!(done.value.to_string(), value.to_string(), "the order of keys stays");
    assert!(!done.truncated && done.artifact.is_none());
    assert_eq!(done.origin, Origin::Trusted);
}

#[tokio::test]
async fn a_cap_of_its_own_and_untrusted_content() {
    let mut capped = spec(Effect::Read).capabilities(&[Capability::ReadsUntrusted]);
    capped.result_cap = 1_000;
    let bench = Bench::new(scripted(capped, |_context, _arguments| async {
        Ok(ToolOutput::new("y".repeat(5_000)).with_message("a page"))
    }))
    .unwrap();
    let report = bench.report(json!({})).await;
    assert_eq!(report.for_client().message.as_deref(), Some("a page"), "a message may accompany success");
    let Outcome::Done(done) = report.outcome else { panic!("not done") };
    assert!(done.value.as_str().unwrap().chars().count() <= 1_000);
    assert_eq!(done.origin, Origin::Untrusted);
}

#[tokio::test]
async fn each_text_has_a_cap_of_its_own_and_models_read_less() {
    let capped = spec(Effect::Read).result_cap(100_000).text_cap(3_000).model_cap(2_000);
    let long = |unit: &str| unit.repeat(10_000 / unit.len());
    let whole = json!({"stdout": long("ab\u{1}"), "stderr": long("é"), "exit_code": 0});
    let given = whole.clone();
    let bench = Bench::new(scripted(capped, move |_context, _arguments| {
        let given = given.clone();
        async move { Ok(ToolOutput::new(given)) }
    }))
    .unwrap();
    let Outcome::Done(done) = bench.report(json!({})).await.outcome else { panic!("not done") };
    let id = done.artifact.clone().unwrap();
    for name in ["stdout", "stderr"] {
        let text = done.value[name].as_str().unwrap();
        let chars = text.chars().count();
        assert!((2_800..=3_000).contains(&chars) && text.matches("left out").count() == 1, "{chars} {text}");
    }
    assert_eq!(done.value.to_string().matches(id.as_str()).count(), 1);
    assert_eq!((&done.value["exit_code"], done.truncated), (&json!(0), true));
    let kept = bench.ledger().artifact(&Scope::default(), &id).await.unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept.bytes).unwrap(), whole);
    let mut request = bench.request();
    request.run = Some("run_1".into());
    let Outcome::Done(done) = bench.room().call(request).await.outcome else { panic!("not done") };
    assert!(done.value.to_string().chars().count() <= 2_000 && done.artifact.is_some());
}

#[tokio::test]
async fn a_result_that_nests_too_deep_is_cut_where_no_reader_follows() {
    let mut deep = json!("bottom");
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let bench = bench(&deep);
    let Outcome::Done(done) = bench.report(json!({})).await.outcome else { panic!("not done") };
    assert!(done.truncated && done.value.to_string().contains("nested deeper"), "{}", done.value);
    assert_eq!(bench.journal().await[0].result, Some(done.value));
}

#[tokio::test]
async fn no_depth_can_overflow_the_stack() {
    let deepest = || (0..100_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let tool =
        scripted(
            spec(Effect::Pure),
            move |_context, _arguments| async move { Ok(ToolOutput::new(deepest())) },
        );
    let bench = Bench::new(tool).unwrap();
    let Outcome::Done(done) = bench.report(json!({})).await.outcome else { panic!("not done") };
    assert!(done.truncated);
    for name in ["probe", "missing"] {
        let request = toolroom::call::CallRequest::new(name).argument("deep", deepest());
        assert!(!bench.room().call(request).await.for_client().success, "{name}");
    }
}

#[tokio::test]
async fn error_texts_and_messages_are_bounded_too() {
    let long = scripted(spec(Effect::Pure), |_context, arguments: Arguments| async move {
        match arguments.contains_key("fail") {
            true => Err(ToolError::tool("e".repeat(1_000_000)).with_hint("h".repeat(1_000_000))),
            false => Ok(ToolOutput::new(1).with_message("m".repeat(1_000_000))),
        }
    });
    let bench = Bench::new(long).unwrap();
    for arguments in [json!({}), json!({"fail": true})] {
        let report = bench.report(arguments).await;
        let told = format!("{:?}{:?}", report.for_model(), report.for_client());
        assert!(told.len() < 30_000, "{} characters", told.len());
        let row = serde_json::to_string(&bench.journal().await[0]).unwrap();
        assert!(row.len() < 30_000, "{} characters", row.len());
    }
    let unknown = bench.room().call(toolroom::call::CallRequest::new("x".repeat(1_000_000))).await;
    assert!(unknown.tool.len() < 1_000);
}

#[test]
fn every_result_is_shortened_to_json_that_fits() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let leaf = proptest::prop_oneof![
        any::<String>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (1usize..60_000).prop_map(|length| Value::from("\u{1}é🙂".repeat(length / 3))),
    ];
    let value = leaf.prop_recursive(4, 64, 16, |inner| {
        proptest::prop_oneof![
            proptest::collection::vec(inner.clone(), 0..16).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..16)
                .prop_map(|pairs| pairs.into_iter().collect()),
        ]
    });
    proptest::test_runner::TestRunner::new(cases(64))
        .run(&value, |value| {
            let report = runtime.block_on(bench(&value).report(json!({})));
            let Outcome::Done(done) = report.outcome else { panic!("not done") };
            let text = done.value.as_str().map_or_else(|| done.value.to_string(), str::to_owned);
            prop_assert!(text.chars().count() <= 20_000);
            prop_assert_eq!(done.truncated, *done.value != value);
            prop_assert_eq!(done.truncated, done.artifact.is_some());
            prop_assert_eq!(&serde_json::from_str::<Value>(&done.value.to_string()).unwrap(), &*done.value);
            Ok(())
        })
        .unwrap();
}
