//! Text that arrives in pieces.

use std::sync::{Arc, LazyLock};

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::{Index, select};
use toolroom::redact::{Patterns, Redactor, Secret, Stream};

use super::encoders::ENCODERS;
use super::{canaries, redactor};
use crate::mutation::Dice;
use crate::scale::cases;

static REDACTOR: LazyLock<Arc<Redactor>> = LazyLock::new(|| Arc::new(redactor()));

fn streamed<'c>(redactor: &Arc<Redactor>, chunks: impl IntoIterator<Item = &'c str>) -> String {
    let mut stream = Stream::new(Arc::clone(redactor));
    let mut shown: String = chunks.into_iter().map(|chunk| stream.push(chunk)).collect();
    shown.push_str(&stream.finish());
    shown
}

#[test]
fn a_secret_in_two_chunks_is_one_secret() {
    let redactor = Arc::new(Redactor::new([Secret::new("A", "geheim/wort")], Patterns::All));
    let mut stream = Stream::new(redactor);
    assert_eq!(stream.push("the word is geh"), "the word is ");
    assert_eq!(stream.push("eim/wo"), "");
    assert_eq!(stream.push("rt, "), "[secret A], ");
    assert_eq!(stream.push("or geheim%"), "or ");
    assert_eq!(stream.push("2Fwort. And geheim"), "[secret A]. And ");
    assert_eq!(stream.push("nis!"), "geheimnis!");
    assert_eq!(stream.push(" Key: ghp_"), " Key: ");
    assert_eq!(stream.finish(), "ghp_");
}

#[test]
fn what_cannot_be_a_beginning_comes_at_once() {
    let redactor = Arc::new(Redactor::new([Secret::new("A", "geheim/wort")], Patterns::All));
    let mut stream = Stream::new(redactor);
    for chunk in
        ["Hello, ", "world!\n", "fn main() {", "}\n\n", "| a | b |\n", "é ü ", "{\"a\": [1, 2]}", "…"]
    {
        assert_eq!(stream.push(chunk), chunk);
    }
    assert_eq!(stream.finish(), "");
}

#[test]
fn what_has_no_end_is_swallowed_not_kept() {
    let line = "k7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5tk7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5t\n";
    for (begin, piece, kind) in [
        ("-----BEGIN PRIVATE KEY-----\n", line, "private key"),
        ("ghp_", line.trim(), "github token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJ", line.trim(), "jwt"),
        ("Authorization: Basic ", line.trim(), "authorization"),
        ("password=\"", line.trim(), "password"),
    ] {
        let mut stream = Stream::new(Arc::new(Redactor::default()));
        let mut shown = stream.push(begin);
        for _ in 0..2_000 {
            shown.push_str(&stream.push(piece));
        }
        shown.push_str(&stream.push("\n\n; and so on"));
        shown.push_str(&stream.finish());
        assert!(shown.ends_with("and so on") && shown.len() < 100, "{shown}");
        assert!(shown.contains(&format!("[redacted {kind}]")), "{shown}");
    }
}

#[test]
fn long_texts_are_redacted_like_short_ones() {
    let filler = "An ordinary line of text, with a number like 42 in it.\n".repeat(6_000);
    let canary = &canaries()[20];
    let text = format!("{filler}{canary}\n{filler}ghp_{}\n{filler}{canary}", "a1B2".repeat(9));
    let expected =
        format!("{filler}[secret CANARY_20]\n{filler}[redacted github token]\n{filler}[secret CANARY_20]");
    assert!(text.len() > 900_000);
    assert_eq!(REDACTOR.redact_text(&text), expected);
    assert!(matches!(REDACTOR.redact_text(&filler), std::borrow::Cow::Borrowed(_)));
}

/// Pieces that are secrets, begin like secrets, or are nothing.
fn text() -> impl Strategy<Value = String> {
    let canaries = canaries();
    let canary = (select(canaries.clone()), any::<Index>(), 1..u64::MAX)
        .prop_map(|(canary, encoder, seed)| encoder.get(ENCODERS).1(&canary, &mut Dice(seed)));
    let cut = (select(canaries), any::<Index>())
        .prop_map(|(canary, at)| canary.chars().take(at.index(canary.len())).collect());
    let known = select(vec![
        "ghp_",
        "github_pat_",
        "sk-",
        "sk-ant-",
        "sk_live_",
        "xoxb-1",
        "AKIAIOSFODNN7EXAMPLE",
        "AKIA",
        "eyJhbGciOiJI.",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN ",
        "password=",
        "PASSWORD=",
        "\"token\": \"",
        "?secret=",
        "Authorization: Bearer ",
        "bearer ",
        "https://user:",
        "@host",
        "://",
        "123456789:",
        "4111 1111 1111 1111",
        "4111",
        " 1111",
        "SG.",
        "SK",
        "hooks.slack.com/",
        "api_key",
        ": ",
        "a1B2c3D4e5F6g7H8",
        "0123456789abcdef0123456789abcdef",
        "k7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5tk7Rq2ZxW9m",
        "\\u00",
        "\\",
        "%",
        "&#x",
        "\n",
    ])
    .prop_map(str::to_owned);
    vec(prop_oneof![2 => canary, 1 => cut, 5 => known, 3 => "[ a-z.\n]{0,12}", 1 => "\\PC{0,6}"], 0..10)
        .prop_map(|pieces| pieces.concat())
}

/// A private key, or what looks a little like one: blocks of lines of any width, with or without an end.
fn key() -> impl Strategy<Value = String> {
    let line =
        prop_oneof![Just("k7RqpQ5t"), Just("k7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5t"), Just("abc"), Just("A/+=")];
    let width = prop_oneof![3 => 1..12_usize, 1 => 12..90_usize];
    let count = prop_oneof![3 => 1..4_usize, 1 => 4..40_usize];
    let lines = (line, width, count, select(vec!["\n", "\n", "\n", "\r\n", "\\n", "\n> "])).prop_map(
        |(line, width, count, before)| {
            let line: String = line.chars().cycle().take(width).collect();
            format!("{before}{line}").repeat(count)
        },
    );
    let other = select(vec![
        "\n-----END PRIVATE KEY-----",
        "\n-----BEGIN PRIVATE KEY-----",
        "\n-----END",
        "\n\n",
        "\n; and so on, with ordinary words.\n",
        "\nProc-Type: 4,ENCRYPTED\n",
        " ",
    ])
    .prop_map(str::to_owned);
    vec(prop_oneof![4 => lines, 1 => other], 0..8)
        .prop_map(|pieces| format!("-----BEGIN PRIVATE KEY-----{}", pieces.concat()))
}

/// A text cut at these places.
fn chunks<'t>(text: &'t str, cuts: &[Index]) -> Vec<&'t str> {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| places[cut.index(places.len())]).collect();
    cuts.sort_unstable();
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([text.len()]);
    starts.zip(ends).map(|(start, end)| text.get(start..end).unwrap()).collect()
}

#[test]
fn a_key_in_narrow_lines_is_hidden_to_its_end_wherever_it_is_cut() {
    let wide = "k7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5tk7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5t";
    for narrow in [
        format!("{}{}\nk7R", "\nk7Rq2pQ5t".repeat(24), "\nk7RqpQ5t".repeat(60)),
        format!("{}\nk7R", "\nk7RqpQ5t".repeat(60)),
        format!("{}\nk7R", "\\nk7RqpQ5t".repeat(60)),
    ] {
        let text = format!("-----BEGIN PRIVATE KEY-----\n{wide}{narrow}\n\n; and so on");
        let whole = REDACTOR.redact_text(&text);
        for cut in 0..=text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(streamed(&REDACTOR, [first, second]), whole, "cut at {cut}");
        }
    }
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn chunks_make_no_difference(text in text(), cuts in vec(any::<Index>(), 0..12)) {
        let whole = REDACTOR.redact_text(&text);
        prop_assert_eq!(streamed(&REDACTOR, chunks(&text, &cuts)), whole.as_ref());
    }

    #[test]
    fn chunks_make_no_difference_to_a_key(key in key(), cuts in vec(any::<Index>(), 0..12)) {
        let whole = REDACTOR.redact_text(&key);
        prop_assert_eq!(streamed(&REDACTOR, chunks(&key, &cuts)), whole.as_ref());
    }

    #[test]
    fn hiding_twice_changes_nothing(text in text()) {
        let once = REDACTOR.redact_text(&text).into_owned();
        prop_assert_eq!(&REDACTOR.redact_text(&once), &once);
        let mut stream = Stream::new(Arc::clone(&REDACTOR));
        let again = stream.push(&once) + &stream.finish();
        prop_assert!(again == once, "{} became {}", once, again);
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn single_characters_make_no_difference(text in text()) {
        let chunks: Vec<String> = text.chars().map(String::from).collect();
        let whole = REDACTOR.redact_text(&text);
        prop_assert_eq!(streamed(&REDACTOR, chunks.iter().map(String::as_str)), whole.as_ref());
    }
}
