//! A calculation in a sentence: `what is 17*23?`, `15% of 80`, `the square root of 2`.

use toolroom::expression::{ExpressionProblem, Value, evaluate};

/// The longest calculation that is recognised.
const MAX_BYTES: usize = 500;

/// Words before a calculation that are ignored.
const BEFORE: [&str; 32] = [
    "what",
    "whats",
    "what's",
    "what’s",
    "is",
    "are",
    "how",
    "much",
    "many",
    "calculate",
    "compute",
    "evaluate",
    "solve",
    "work",
    "out",
    "please",
    "can",
    "could",
    "would",
    "you",
    "tell",
    "me",
    "give",
    "the",
    "result",
    "value",
    "answer",
    "to",
    "of",
    "for",
    "hey",
    "so",
];

/// Words after a calculation that are ignored.
const AFTER: [&str; 8] = ["please", "is", "equal", "equals", "to", "thanks", "exactly", "now"];

/// Words that stand for an operator.
const OPERATORS: [(&[&str], &str); 14] = [
    (&["raised", "to", "the", "power", "of"], "^"),
    (&["to", "the", "power", "of"], "^"),
    (&["multiplied", "by"], "*"),
    (&["divided", "by"], "/"),
    (&["times"], "*"),
    (&["x"], "*"),
    (&["plus"], "+"),
    (&["minus"], "-"),
    (&["over"], "/"),
    (&["modulo"], "%"),
    (&["mod"], "%"),
    (&["squared"], "^ 2"),
    (&["cubed"], "^ 3"),
    (&["percent"], "%"),
];

/// Words that stand for a function of what follows them.
const FUNCTIONS: [(&[&str], &str); 5] = [
    (&["square", "root", "of"], "sqrt"),
    (&["cube", "root", "of"], "cbrt"),
    (&["root", "of"], "sqrt"),
    (&["sqrt", "of"], "sqrt"),
    (&["factorial", "of"], "factorial"),
];

/// The expression of a sentence in the kernel's language; `None` if the sentence has other words.
pub(super) fn expression(sentence: &str) -> Option<String> {
    if sentence.len() > MAX_BYTES || !sentence.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let lower = sentence.to_lowercase();
    let bare = lower.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '!' | '.' | '='));
    let words: Vec<&str> = bare.split_whitespace().collect();
    let first = words.iter().position(|word| !BEFORE.contains(&word.trim_matches([',', ':'])))?;
    let last = words.iter().rposition(|word| !AFTER.contains(word))?;
    let text = translated(words.get(first..=last)?);
    (is_calculation(&text) && can_be_calculated(&text)).then_some(text)
}

/// Replaces words by operators.
fn translated(words: &[&str]) -> String {
    let mut text: Vec<String> = Vec::new();
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        if let Some((behind, name)) = begins(rest, &FUNCTIONS) {
            let (operand, behind) = operand(behind);
            text.push(format!("{name}({operand})"));
            rest = behind;
        } else if let Some((share, behind)) = percent_of(rest) {
            let (operand, behind) = operand(behind);
            text.push(format!("{} * {operand} / 100", number(share)));
            rest = behind;
        } else if let Some((behind, sign)) = begins(rest, &OPERATORS) {
            text.push(sign.to_owned());
            rest = behind;
        } else {
            text.push(number(word));
            rest = behind;
        }
    }
    text.join(" ")
}

fn begins<'w, 'a>(
    words: &'w [&'a str],
    known: &[(&[&'static str], &'static str)],
) -> Option<(&'w [&'a str], &'static str)> {
    known.iter().find_map(|(phrase, sign)| Some((words.strip_prefix(*phrase)?, *sign)))
}

/// `15% of`, `15 % of`, `15 percent of`: the share, and the rest.
fn percent_of<'w, 'a>(words: &'w [&'a str]) -> Option<(&'a str, &'w [&'a str])> {
    let (share, behind) = match words {
        [share, "of", behind @ ..] => (share.strip_suffix('%')?, behind),
        [share, "%" | "percent", "of", behind @ ..] => (*share, behind),
        _ => return None,
    };
    share.trim_start_matches('-').parse::<f64>().is_ok().then_some((share, behind))
}

/// The next word, or all words up to the end of the bracket it opens.
fn operand<'w, 'a>(words: &'w [&'a str]) -> (String, &'w [&'a str]) {
    let mut open = 0_usize;
    for (at, word) in words.iter().enumerate() {
        open = (open + word.matches('(').count()).saturating_sub(word.matches(')').count());
        if open == 0 {
            let (taken, rest) = words.split_at_checked(at + 1).unwrap_or((words, &[]));
            return (taken.iter().map(|word| number(word)).collect::<Vec<_>>().join(" "), rest);
        }
    }
    (words.join(" "), &[])
}

/// A word without the sign of a currency and without commas between thousands, if it is a number.
fn number(word: &str) -> String {
    let bare = word.trim_start_matches(['$', '€', '£']).replace(',', "");
    let mut groups = word.trim_start_matches(['$', '€', '£']).split(',').skip(1);
    let is_grouped = groups.all(|group| group.split('.').next().is_some_and(|digits| digits.len() == 3));
    if is_grouped && bare.parse::<f64>().is_ok() { bare } else { word.to_owned() }
}

/// Whether a text is a calculation rather than a number or a date.
fn is_calculation(text: &str) -> bool {
    let has_sign = text.contains(['+', '-', '−', '*', '×', '/', '÷', '%', '^', '<', '>', '=', '(']);
    let is_date = ['-', '/'].iter().any(|sign| {
        let parts: Vec<&str> = text.split(*sign).collect();
        matches!(parts.as_slice(), [a, b, c] if a.len().max(c.len()) == 4 && b.len() <= 2
            && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())))
    });
    has_sign && !is_date && text.parse::<f64>().is_err()
}

/// Whether the kernel can evaluate it, or explains why it has no result.
fn can_be_calculated(text: &str) -> bool {
    match evaluate(text, &()) {
        Ok(value) => matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_)),
        Err(error) => matches!(
            error.problem(),
            ExpressionProblem::DivisionByZero
                | ExpressionProblem::IntOverflow { .. }
                | ExpressionProblem::IntTooLarge(_)
                | ExpressionProblem::FloatTooLarge(_)
                | ExpressionProblem::NotFinite { .. }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calculations_are_found_in_sentences() {
        for (sentence, expected) in [
            ("what is 17*23?", "17*23"),
            ("What's 2 + 2", "2 + 2"),
            ("2+2=?", "2+2"),
            ("15% of 80", "15 * 80 / 100"),
            ("what is 17.5 % of 240?", "17.5 * 240 / 100"),
            ("how much is 20 percent of $1,250.50", "20 * 1250.50 / 100"),
            ("10% of (20 + 30)", "10 * (20 + 30) / 100"),
            ("Can you tell me what 3 times 4 is please?", "3 * 4"),
            ("7 divided by 2", "7 / 2"),
            ("2 to the power of 10", "2 ^ 10"),
            ("12 squared", "12 ^ 2"),
            ("the square root of 2", "sqrt(2)"),
            ("sqrt(16) + 1", "sqrt(16) + 1"),
            ("3 x 4", "3 * 4"),
            ("is 7 > 3?", "7 > 3"),
            ("1,000 + 1", "1000 + 1"),
            ("max(1,200)", "max(1,200)"),
            ("1/0", "1/0"),
        ] {
            assert_eq!(expression(sentence).as_deref(), Some(expected), "{sentence}");
        }
    }

    #[test]
    fn other_sentences_are_no_calculations() {
        for sentence in [
            "",
            "hello",
            "42",
            "-5",
            "2026-11-16",
            "16/11/2026",
            "read notes2.txt",
            "what is 5 apples",
            "x + 1",
            "what is the time",
            "1,2",
            "call 555-1234",
            "100%",
            "a1/b2",
            "2 +",
            "[1, 2]",
            "'a1' + 'b'",
        ] {
            assert_eq!(expression(sentence), None, "{sentence}");
        }
    }
}
