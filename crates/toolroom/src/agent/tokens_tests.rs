use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::{Image, ModelCallId};
use crate::scale::cases;

/// Characters of a token, in tenths.
fn tenths_per_token(sample: &str) -> u64 {
    10 * u64::try_from(sample.chars().count()).unwrap() / text(sample)
}

#[test]
fn every_script_has_its_own_measure() {
    let english = "The committee met on Tuesday and agreed that the harbour should be dredged before winter, since \
                   several ships had run aground there during the last storm.";
    let json = r#"{"id":"call_81","status":"done","items":[{"name":"harbour","depth":12.5,"open":true}]}"#;
    let code =
        "fn depth(of: &Harbour) -> Option<f64> {\n    of.soundings.iter().copied().min_by(f64::total_cmp)\n}";
    let russian = "Комитет собрался во вторник и решил углубить гавань до наступления зимы";
    let arabic = "اجتمعت اللجنة يوم الثلاثاء وقررت تعميق الميناء قبل الشتاء";
    let thai = "คณะกรรมการประชุมเมื่อวันอังคาร";
    let chinese = "委员会星期二开会，决定在冬天之前疏浚港口。";
    let korean = "위원회는 화요일에 회의를 열었다";
    for (sample, least, most) in [
        (english, 36, 46),
        (json, 22, 34),
        (code, 26, 36),
        (russian, 19, 26),
        (arabic, 17, 24),
        (thai, 10, 20),
        (chinese, 6, 10),
        (korean, 8, 13),
        ("🎉🚀✅", 3, 8),
        ("3141592653589793", 15, 30),
        ("q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ", 15, 28),
    ] {
        let found = tenths_per_token(sample);
        assert!((least..=most).contains(&found), "{sample}: {found}");
    }
}

#[test]
fn everything_in_a_message_counts() {
    let words = Message::user("hello");
    assert_eq!(message(&words), 6);
    let with = |block: Block| message(&Message { blocks: vec![block], ..words.clone() });
    let picture =
        Block::Image(Image { media_type: "image/png".to_owned(), base64: "AAAA".repeat(99_999).into() });
    assert_eq!(with(picture), 1_604);
    let arguments = json!({ "content": "word ".repeat(1_000) }).to_string();
    let call = Block::Call {
        id: ModelCallId::new("c"),
        name: "write_file".to_owned(),
        arguments: arguments.into(),
        opaque: None,
    };
    assert!(with(call) > 1_000);
    let content = Arc::new(json!({ "lines": vec!["word"; 1_000] }));
    let result =
        Block::Result { id: ModelCallId::new("c"), name: "read_file".to_owned(), content, is_error: false };
    assert!(with(result) > 2_000);
    let opaque = Opaque { owner: "v".into(), part: Arc::new(json!({ "signature": "x".repeat(4_000) })) };
    assert!(with(Block::Reasoning { text: String::new(), opaque: Some(opaque) }) > 1_000);
}

#[test]
fn the_schema_of_a_tool_counts() {
    let tool = |parameters| OfferedTool {
        name: "find".to_owned(),
        description: "Finds something.".to_owned(),
        parameters: Arc::new(parameters),
    };
    let bare = offered(&tool(json!({ "type": "object" })));
    let choices: Vec<String> = (0..100).map(|n| format!("choice {n}")).collect();
    let full = offered(&tool(json!({ "type": "object", "properties": { "what": { "enum": choices } } })));
    assert!(bare < 35, "{bare}");
    assert!(full > bare + 300, "{full}");
}

#[test]
fn an_unknown_model_gets_some_more_than_estimated() {
    let estimator = Estimator::default();
    assert_eq!(estimator.corrected("v/m", 1_000), 1_150);
    assert!(estimator.corrected("v/m", estimator.estimate_for("v/m", 8_000)) <= 8_000);
}

#[test]
fn what_a_model_reports_corrects_its_estimates_and_no_others() {
    let mut estimator = Estimator::default();
    estimator.learn("v/m", 1_000, 800);
    assert_eq!(estimator.corrected("v/m", 1_000), 800);
    assert_eq!(estimator.corrected("v/other", 1_000), 1_150);
    estimator.learn("v/m", 1_000, 1_100);
    assert_eq!(estimator.corrected("v/m", 1_000), 900);
    // Too little to go by, and nothing reported.
    estimator.learn("v/m", 20, 100);
    estimator.learn("v/m", 1_000, 0);
    assert_eq!(estimator.corrected("v/m", 1_000), 900);
}

#[test]
fn a_refusal_raises_the_estimate_to_where_it_would_have_been_noticed() {
    let mut estimator = Estimator::default();
    estimator.refused("v/m", 4_000, 8_000);
    assert!(estimator.corrected("v/m", 4_000) >= 8_000);
    for _ in 0..50 {
        estimator.refused("v/m", 10_000, 8_000);
    }
    assert_eq!(estimator.corrected("v/m", 1_000), 3_000);
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn text_costs_more_the_longer_it_is_and_about_the_sum_of_its_parts(one in "\\PC{0,60}", other in "\\PC{0,60}") {
        let both = text(&format!("{one}{other}"));
        prop_assert!(both >= text(&one) && both >= text(&one).max(text(&other)).saturating_sub(1));
        prop_assert!(both <= text(&one) + text(&other) + 1);
        prop_assert!(text(&one) <= 3 * u64::try_from(one.chars().count()).unwrap());
    }

    #[test]
    fn corrections_stay_within_bounds_for_any_report(
        reports in prop::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 0..20),
        estimate in 0_u64..1_000_000,
    ) {
        let mut estimator = Estimator::default();
        for (estimated, reported, refused) in reports {
            if refused {
                estimator.refused("v/m", estimated, reported);
            } else {
                estimator.learn("v/m", estimated, reported);
            }
        }
        let corrected = estimator.corrected("v/m", estimate);
        prop_assert!(corrected >= estimate / 2 && corrected <= 3 * estimate);
        prop_assert!(estimator.corrected("v/m", estimator.estimate_for("v/m", estimate)) <= estimate);
    }
}
