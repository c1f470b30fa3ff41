//! Sixty stored values, in every encoding, in text and JSON: none comes through.

use std::sync::LazyLock;

use proptest::prelude::{prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::Index;
use serde_json::{Value, json};
use toolroom::redact::{Patterns, Redactor, Secret};

use super::encoders::{ENCODERS, Encoder, base64_readings};
use super::{canaries, redactor};
use crate::mutation::Dice;
use crate::scale::cases;

static CANARIES: LazyLock<Vec<String>> = LazyLock::new(canaries);
static REDACTOR: LazyLock<Redactor> = LazyLock::new(redactor);

/// What a stored key has in common with others.
const FRAME: &str = "-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----";

/// A piece of so many characters of a secret is too much.
const PIECE: usize = 8;

/// No piece of the canary is in a text, as it is, as the encoder writes it, or in base64.
fn assert_hidden(redacted: &str, canary: &str, (name, encode): &Encoder) {
    let readings = base64_readings(redacted);
    let characters: Vec<char> = canary.trim().chars().collect();
    for piece in characters.windows(PIECE) {
        let piece: String = piece.iter().collect();
        if piece.contains('\n') || FRAME.contains(&piece) {
            continue;
        }
        let encoded = encode(&piece, &mut Dice(1));
        for hidden in [&piece, &encoded] {
            assert!(!redacted.contains(hidden), "{name}: {hidden:?} of {canary:?} in {redacted:?}");
        }
        let read = |reading: &Vec<u8>| reading.windows(piece.len()).any(|part| part == piece.as_bytes());
        assert!(!readings.iter().any(read), "{name}: {piece:?} of {canary:?} in base64 in {redacted:?}");
    }
}

#[test]
fn no_canary_survives_in_any_encoding() {
    let mut dice = Dice(0x0dd_ba11);
    let mut tried = 0;
    for canary in CANARIES.iter() {
        for encoder in ENCODERS {
            for (before, after) in
                [("", ""), ("value: ", "."), ("abc", "xyz"), ("{\"a\":\"", "\"}"), ("?q=1&v=", "&x=2")]
            {
                let encoded = encoder.1(canary, &mut dice);
                let redacted = REDACTOR.redact_text(&format!("{before}{encoded}{after}")).into_owned();
                assert_hidden(&redacted, canary, encoder);
                assert!(redacted.contains("[secret CANARY_"), "{}: {encoded} became {redacted}", encoder.0);
                assert_eq!(REDACTOR.redact_text(&redacted), redacted, "hidden twice");
                let mut value = json!({"list": [{"text": format!("{before}{encoded}{after}"), &encoded: 1}]});
                REDACTOR.redact_value(&mut value);
                assert_hidden(&value.to_string(), canary, encoder);
                tried += 1;
            }
        }
    }
    assert!(tried > 10_000, "only {tried}");
}

#[test]
fn overlapping_values_leave_nothing_of_each_other() {
    let secrets =
        [("SHORT", "inner-secret"), ("LONG", "outer-inner-secret-outer"), ("NEXT", "secret-outer-next")];
    let redactor = Redactor::new(secrets.map(|(name, value)| Secret::new(name, value)), Patterns::None);
    for (text, expected) in [
        ("a inner-secret b", "a [secret SHORT] b"),
        ("a outer-inner-secret-outer b", "a [secret LONG] b"),
        ("a outer-inner-secret-outer-next b", "a [secret LONG] b"),
        ("inner-secret-outer-next", "[secret SHORT]"),
        ("inner-secretinner-secret", "[secret SHORT][secret SHORT]"),
    ] {
        assert_eq!(redactor.redact_text(text), expected, "{text}");
    }
    let repeated = Redactor::new([Secret::new("R", "abcabcabc")], Patterns::None);
    assert_eq!(repeated.redact_text("xabcabcabcabcabcy"), "x[secret R]y");
}

#[test]
fn a_marker_never_tells_a_secret() {
    for (name, value) in [
        ("hunter2hunter2", "hunter2hunter2"),
        ("[secret]", "[secret]"),
        ("a", "[secret a"),
        ("name\nwith \"odd\" things]", "hunter2hunter2"),
        ("redacted", "redacted"),
        ("x", "github token"),
        ("", "hunter2hunter2"),
    ] {
        let redactor = Redactor::new([Secret::new(name, value)], Patterns::All);
        let text = format!("{value} and ghp_{}", "a1B2".repeat(9));
        let redacted = redactor.redact_text(&text);
        assert!(!redacted.contains(value) && !redacted.contains("a1B2"), "{redacted}");
        assert_eq!(redactor.redact_text(&redacted), redacted, "hidden twice");
        assert!(!format!("{redactor:?}{:?}", Secret::new("n", value)).contains(value));
    }
}

#[test]
fn values_below_eight_characters_are_not_looked_for() {
    let short = Secret::new("SHORT", " 1234567\n");
    assert!(short.is_too_short());
    assert!(!Secret::new("LONG", "12345678").is_too_short());
    assert_eq!(Redactor::new([short], Patterns::None).redact_text("1234567"), "1234567");
}

#[test]
fn lines_of_a_stored_key_are_hidden_one_by_one() {
    let key = &CANARIES[58];
    for line in key.lines().filter(|line| !line.starts_with("-----")) {
        assert_eq!(REDACTOR.redact_text(&format!("12: {line};")), "12: [secret CANARY_58];");
    }
    assert_eq!(REDACTOR.redact_text("-----BEGIN PRIVATE KEY-----"), "-----BEGIN PRIVATE KEY-----");
    assert_eq!(REDACTOR.redact_text(&key.replace('\n', "\r\n")), "[secret CANARY_58]\r\n");
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn canaries_are_hidden_wherever_they_stand(
        canary in proptest::arbitrary::any::<Index>(),
        encoder in proptest::arbitrary::any::<Index>(),
        seed in 1..u64::MAX,
        before in prop_oneof!["[a-z{}\":,\n0-9=+/]{0,40}", "\\PC{0,20} "],
        after in "[^0-9a-zA-Z%\\\\&=+/-]\\PC{0,20}",
    ) {
        let (canary, encoder) = (canary.get(&CANARIES), encoder.get(ENCODERS));
        // An escape character just before would make other escapes of what follows.
        let before = before.trim_end_matches(['\\', '%', '&', '#', ';']);
        let encoded = encoder.1(canary, &mut Dice(seed));
        let text = format!("{before}{encoded}{after}");
        let redacted = REDACTOR.redact_text(&text);
        assert_hidden(&redacted, canary, encoder);
        prop_assert_eq!(&REDACTOR.redact_text(&redacted), &redacted);
        let mut value = json!([text, {"nested": {text.as_str(): [text]}}]);
        REDACTOR.redact_value(&mut value);
        let Value::Array(_) = &value else { panic!("{value}") };
        assert_hidden(&value.to_string(), canary, encoder);
        prop_assert!(value.to_string().contains("[secret "));
    }
}
