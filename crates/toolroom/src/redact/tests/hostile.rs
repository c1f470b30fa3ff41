//! Texts made to be slow.

use super::random;
use crate::redact::matches::Matches;
use crate::redact::text::{Text, TextEnd};
use crate::redact::{Patterns, Redactor, Secret};

/// Bytes that may be read for each byte of a text, besides the scanner.
const MAX_READS_PER_BYTE: usize = 40;

fn work(redactor: &Redactor, text: &str) -> usize {
    let text = Text::new(text.as_bytes(), TextEnd::Final);
    redactor.find(&text, 0, &mut Matches::new(0));
    text.work.get()
}

#[test]
fn the_work_is_linear_in_the_length() {
    let redactor = Redactor::default();
    let key = format!("-----BEGIN PRIVATE KEY-----{}", random(64));
    for piece in [
        "xoxb-",
        "xoxb-1",
        "sk-",
        "sk-proj-",
        "ghp_",
        "eyJ",
        "eyJhbGciOiJI.",
        "eyJhbGciOiJI-",
        "SG.",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nabc",
        "-----BEGIN PRIVATE KEY-----\nabc\nabc\nabc\nabc\nabc\nabc",
        "\na",
        &key,
        "----------",
        "password=",
        "password='",
        "password=\"\\",
        "token=a1",
        "authorization: bearer ",
        "bearer ",
        "a://b:c@",
        "a://",
        "1:a",
        "123456789:",
        "4",
        "4 ",
        "4111 ",
        "4111 1111 1111 1111 ",
        "4111111111111111 ",
        "SK0",
        "hooks.slack.com/",
    ] {
        let text = |bytes: usize| piece.repeat(bytes / piece.len());
        let (small, large) = (work(&redactor, &text(50_000)), work(&redactor, &text(500_000)));
        assert!(large <= 11 * small, "{piece}: {small} bytes, then {large}");
        assert!(large <= MAX_READS_PER_BYTE * 500_000, "{piece}: {large} bytes");
    }
}

#[test]
fn long_hostile_texts_are_read_to_their_end() {
    let secrets = ["aaaaaaaaaaaaaaaaaaaa", "%41%41%41%41", "\\u0041\\u0041", "&amp;&amp;&amp;"];
    let secrets = secrets.iter().enumerate().map(|(n, value)| Secret::new(format!("S{n}"), *value));
    let redactor = Redactor::new(secrets, Patterns::All);
    for piece in ["a", "\\", "\\\\u0041", "%2541", "&amp;", "-----BEGIN ", "xoxb-", "QUFB\n"] {
        let text = piece.repeat(300_000 / piece.len());
        let redacted = redactor.redact_text(&text);
        assert!(redacted.len() < 2 * text.len(), "{piece}");
    }
}
