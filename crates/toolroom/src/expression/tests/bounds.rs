use std::thread;

use proptest::collection::vec;
use proptest::prelude::{any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::strategy::Strategy;
use serde_json::{Value as Json, json};

use super::super::{
    Expression, ExpressionProblem as Problem, MAX_DEPTH, MAX_EXPRESSION_CHARACTERS, MAX_LIST_ITEMS,
    MAX_PRODUCED_CHARACTERS, MAX_STEPS, Value, evaluate,
};
use super::cases;

/// Smaller than the stack of any thread the product starts.
const SMALL_STACK: usize = 512 * 1024;

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(SMALL_STACK).spawn(work).unwrap().join().unwrap();
}

fn problem_of(text: &str) -> Option<Problem> {
    evaluate(text, &json!({ "x": 1 })).err().map(|error| error.problem().clone())
}

/// Shapes that nest without end: what is repeated before the value and after it.
const NESTING: [(&str, &str); 19] = [
    ("(", ")"),
    ("[", "]"),
    ("-", ""),
    ("- ", ""),
    ("+", ""),
    ("!", ""),
    ("not ", ""),
    ("2^", ""),
    ("2**-", ""),
    ("abs(", ")"),
    ("max(1, ", ")"),
    ("if(true, ", ", 0)"),
    ("if(", ", true, true)"),
    ("x[", "]"),
    ("[1][", "]"),
    ("1+(", ")"),
    ("1-2*-3^(", ")"),
    ("(not 1 == 1 + 1 * -1 ^ abs([", "][0]))"),
    ("(false or true and not 1 == [1, ", "][0])"),
];

#[test]
fn nesting_is_an_error_and_not_a_crash() {
    on_small_stack(|| {
        for (before, after) in NESTING {
            for (times, long) in [(MAX_DEPTH + 1, false), (300, false), (1_000_000, true)] {
                for closed in [true, false] {
                    let end = if closed { after.repeat(times) } else { String::new() };
                    let text = format!("{}1{end}", before.repeat(times));
                    let expected = if long || text.len() > MAX_EXPRESSION_CHARACTERS {
                        Problem::TooLong
                    } else {
                        Problem::TooDeep
                    };
                    assert_eq!(problem_of(&text), Some(expected), "of {times} times `{before}`");
                }
            }
        }
    });
}

/// The deepest expression of each shape that is still read is also evaluated and dropped on the small stack.
#[test]
fn the_deepest_allowed_nesting_fits_a_small_stack() {
    on_small_stack(|| {
        for (before, after) in NESTING {
            let read = (1..=MAX_DEPTH)
                .map(|times| format!("{}1{}", before.repeat(times), after.repeat(times)))
                .map_while(|text| Expression::parse(&text).ok())
                .map(|expression| drop(expression.clone().evaluate(&json!({ "x": 1 }))))
                .count();
            assert!(read >= MAX_DEPTH / 10, "`{before}` can be nested {read} times only");
        }
        let nested = |times: usize| format!("{}1{}", "(".repeat(times), ")".repeat(times));
        assert_eq!(evaluate(&nested(MAX_DEPTH - 1), &()), Ok(Value::Int(1)));
        assert_eq!(problem_of(&nested(MAX_DEPTH)), Some(Problem::TooDeep));
    });
}

#[test]
fn long_chains_are_not_deep() {
    on_small_stack(|| {
        let terms = MAX_EXPRESSION_CHARACTERS / 2;
        let sum = format!("1{}", "+1".repeat(terms - 1));
        assert_eq!(evaluate(&sum, &()), Ok(Value::Int(5_000)));
        let mixed = format!("1{}", "+1*1-1/1".repeat(1_000));
        assert_eq!(evaluate(&mixed, &()), Ok(Value::Int(1)));
        let keys = format!("x{}", ".x".repeat(terms - 1));
        assert_eq!(evaluate(&keys, &json!({ "x": 1 })), Ok(Value::Null));
        let logic = format!("true{}", "&&true".repeat(1_000));
        assert_eq!(evaluate(&logic, &()), Ok(Value::Bool(true)));
        assert_eq!(problem_of(&"1+".repeat(1_000_000)), Some(Problem::TooLong));
    });
}

#[test]
fn the_length_of_the_text_is_counted_in_characters() {
    let quotes = 2;
    let exact = format!("'{}'", "ä".repeat(MAX_EXPRESSION_CHARACTERS - quotes));
    assert_eq!(problem_of(&exact), None);
    let error = evaluate(&format!("{exact} "), &()).unwrap_err();
    assert_eq!(error.to_string(), "the expression is longer than 10000 characters at character 10001");
}

#[test]
fn lists_and_calls_have_a_most() {
    let items = |count: usize| vec!["1"; count].join(",");
    assert_eq!(evaluate(&format!("len([{}])", items(MAX_LIST_ITEMS)), &()), Ok(Value::Int(1_000)));
    assert_eq!(evaluate(&format!("sum({})", items(MAX_LIST_ITEMS)), &()), Ok(Value::Int(1_000)));
    assert_eq!(problem_of(&format!("[{}]", items(MAX_LIST_ITEMS + 1))), Some(Problem::TooManyItems));
    assert_eq!(problem_of(&format!("sum({})", items(MAX_LIST_ITEMS + 1))), Some(Problem::TooManyItems));
}

#[test]
fn built_texts_have_a_most() {
    let variables = json!({ "most": "ä".repeat(MAX_PRODUCED_CHARACTERS), "ten": "ß".repeat(10) });
    let check = |text: &str, operation: Option<&'static str>| {
        let found = evaluate(text, &variables).err().map(|error| error.problem().clone());
        assert_eq!(found, operation.map(|operation| Problem::TextTooLong { operation }), "of `{text}`");
    };
    check("most + ''", None);
    check("most + 'a'", Some("+"));
    check("upper(most)", None);
    check("upper(most + '')", None);
    check("concat(most, 'a')", Some("concat"));
    check("replace(most, 'ä', 'a')", None);
    check("replace(most, 'ä', 'ab')", Some("replace"));
    check("replace(ten, 'ß', most)", Some("replace"));
    check("upper(replace(substring(most, 0, 60000), 'ä', 'ß'))", Some("upper"));
    check("len(substring(most, 1) + 'a') == len(most)", None);
}

#[test]
fn steps_have_a_most() {
    let long: Vec<Json> = vec![json!(1); MAX_STEPS];
    let wide = "a".repeat(100 * MAX_STEPS);
    let variables = json!({ "long": long, "short": [1, 2], "wide": wide });
    let check = |text: &str, expected: Option<Problem>| {
        let found = evaluate(text, &variables).err().map(|error| error.problem().clone());
        assert_eq!(found, expected, "of `{text}`");
    };
    let too_many = Some(Problem::TooManySteps);
    check("2 in long", too_many.clone());
    check("1 in long", None);
    check("sum(long)", too_many.clone());
    check("long == long", too_many.clone());
    check("long", too_many.clone());
    check("[long, short]", too_many.clone());
    check("len(long)", None);
    check("long[5]", None);
    check("short == long", None);
    check("wide contains 'b'", None);
    check("wide contains 'b' or wide contains 'c'", too_many.clone());
    check("[wide, wide, wide]", too_many);
}

#[test]
fn data_that_is_too_deep_is_neither_compared_nor_returned() {
    let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let variables = json!({ "fine": deep(100), "deep": deep(200) });
    on_small_stack(move || {
        let problem = |text: &str| evaluate(text, &variables).err().map(|error| error.problem().clone());
        assert_eq!(problem("fine == fine"), None);
        assert_eq!(problem("fine"), None);
        assert_eq!(problem("deep == deep"), Some(Problem::DataTooDeep));
        assert_eq!(problem("deep"), Some(Problem::DataTooDeep));
        let nested = |inner: &str| {
            let levels = (MAX_DEPTH - 2) / 2;
            format!("{}{inner}{}", "[if(true, ".repeat(levels), ", 0)]".repeat(levels))
        };
        assert_eq!(problem(&nested("fine == fine")), None);
        assert_eq!(problem(&nested("fine")), None);
        assert_eq!(problem(&nested("deep == deep")), Some(Problem::DataTooDeep));
    });
}

/// Pieces of the language in any order: far more often nearly right than arbitrary characters are.
fn nearly_expressions() -> impl Strategy<Value = String> {
    let pieces = [
        "1",
        "2.5",
        "'a'",
        "\"",
        "\\",
        "x",
        "x.y",
        "pi",
        "true",
        "null",
        "and",
        "or",
        "not",
        "in",
        "contains",
        "if(",
        "max(",
        "round(",
        "sum(",
        "replace(",
        "text(",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "^",
        "=",
        "!=",
        "<",
        ">=",
        "!",
        " ",
        "9223372036854775807",
        "1e308",
        "0x",
        "_",
        "ä",
        "≤",
        "factorial(",
    ];
    vec(select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn any_text_gives_a_value_or_an_error_inside_the_text(
        text in prop_oneof![any::<String>(), nearly_expressions()]
    ) {
        match evaluate(&text, &json!({ "x": { "y": [1, "a"] } })) {
            Ok(Value::Float(float)) => assert!(float.is_finite(), "of `{text}`"),
            Ok(_) => {}
            Err(error) => {
                let end = text.chars().count() + 1;
                assert!((1..=end).contains(&error.position()), "of `{text}`: {error}");
            }
        }
    }
}
