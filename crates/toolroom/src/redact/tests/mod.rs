mod formats;
mod hostile;

use super::{Patterns, Redactor};

/// Letters of both cases and digits, as keys are made of. Keys in these tests are assembled, so that secret scanners do
/// not report them.
fn random(length: usize) -> String {
    "k7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5t".chars().cycle().take(length).collect()
}

fn hex(length: usize) -> String {
    "9f86d081884c7d659a2feaa0c55ad015".chars().cycle().take(length).collect()
}

/// What is hidden is hidden in a sentence, in quotes, at the start and at the end, and hidden text stays as it is.
fn check(text: &str, expected: &str) {
    let redactor = Redactor::new([], Patterns::All);
    for (before, after) in [("", ""), ("a ", " b"), ("\"", "\""), ("x\n", "\ny"), ("(", ")"), ("é ", " é")]
    {
        let (text, expected) = (format!("{before}{text}{after}"), format!("{before}{expected}{after}"));
        assert_eq!(redactor.redact_text(&text), expected, "{text}");
        assert_eq!(redactor.redact_text(&expected), expected, "hidden twice");
    }
}

fn check_untouched(text: &str) {
    check(text, text);
}
