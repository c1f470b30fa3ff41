//! Weak values. They are hidden like any other, but can be guessed: a correct guess is hidden and a wrong one is shown.

/// 10^12 numbers and 26^8 words are fewer than 2^40.
const MAX_DIGITS: usize = 12;
const MAX_LETTERS: usize = 8;

/// Longer values are not split into words.
const MAX_WORDS: usize = 40;

/// Words that passwords are made of, and the beginnings of keyboards and alphabets.
const WORDS: &str = "
    abc abcd abcdef account admin administrator april asdf asdfgh asdfghjkl august autumn azerty
    baseball batman change charlie company computer credential daniel database december default demo dev
    development dragon example february football foobar freedom friday guest hello hunter iloveyou
    internet january jennifer jessica july june letmein login love manager march master me michael
    monday monkey my mysql ninja november october oracle p pass passwd password pin postgres princess
    private prod production public qaz qwer qwert qwerty qwertyuiop qwertz redis root saturday secret
    security september server service shadow spring staging starwars summer sunday sunshine super
    superman support system test testing the thursday toor token toolroom trustno tuesday user wednesday
    welcome whatever winter wsx yxcvbnm zxcvbn zxcvbnm
";

/// Why a value can be guessed; `None` if it cannot.
pub(super) fn weakness(value: &str) -> Option<&'static str> {
    let value = value.trim();
    let chars: Vec<char> = value.chars().collect();
    let digits = chars.iter().filter(|c| c.is_ascii_digit()).count();
    let is_number =
        chars.iter().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.' | '/' | ':' | '+'));
    if digits > 0 && digits <= MAX_DIGITS && is_number {
        return Some("digits alone");
    }
    if is_regular(&chars) {
        return Some("a repetition or a sequence");
    }
    let is_case = |is: fn(&char) -> bool| chars.iter().all(is);
    if chars.len() <= MAX_LETTERS && (is_case(char::is_ascii_lowercase) || is_case(char::is_ascii_uppercase))
    {
        return Some("a few letters of one case");
    }
    are_common_words(value).then_some("common words")
}

/// Whether every character follows from the one before: the same one, the next one, or the one before it.
fn is_regular(chars: &[char]) -> bool {
    let step = |pair: &[char; 2]| i64::from(u32::from(pair[1])) - i64::from(u32::from(pair[0]));
    let mut steps = chars.array_windows::<2>().map(step);
    let first = steps.next();
    first.is_none_or(|first| (-1..=1).contains(&first) && steps.all(|step| step == first))
}

/// Whether a value is made of common words, with the usual substitutions: `P4ssw0rd123!`.
pub(super) fn are_common_words(value: &str) -> bool {
    if value.len() > MAX_WORDS {
        return false;
    }
    let core = value.trim_matches(|c: char| !c.is_alphabetic());
    let letter = |c: char| match c.to_ascii_lowercase() {
        '@' | '4' => 'a',
        '3' => 'e',
        '1' | '!' => 'i',
        '0' => 'o',
        '$' | '5' => 's',
        '7' => 't',
        other => other,
    };
    let core: String = core.chars().map(letter).filter(|c| !matches!(c, ' ' | '-' | '_' | '.')).collect();
    !core.is_empty() && is_made_of_words(&core)
}

fn is_made_of_words(text: &str) -> bool {
    // Whether the text up to each offset is made of words.
    let mut reached = vec![false; text.len() + 1];
    let mut ends = vec![0];
    while let Some(at) = ends.pop() {
        let rest = text.get(at..).unwrap_or_default();
        for word in WORDS.split_whitespace().filter(|word| rest.starts_with(word)) {
            if let Some(is_known) = reached.get_mut(at + word.len())
                && !std::mem::replace(is_known, true)
            {
                ends.push(at + word.len());
            }
        }
    }
    reached.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_words_and_patterns_are_weak() {
        for (value, why) in [
            ("4711", "digits alone"),
            ("12345678", "digits alone"),
            ("2026-01-31", "digits alone"),
            ("+49 170 1234567", "digits alone"),
            ("aaaaaaaaaaaa", "a repetition or a sequence"),
            ("abcdefghijkl", "a repetition or a sequence"),
            ("zyxwvuts", "a repetition or a sequence"),
            ("kitchens", "a few letters of one case"),
            ("password", "a few letters of one case"),
            ("P4ssw0rd123!", "common words"),
            ("administrator", "common words"),
            ("test-database", "common words"),
            ("Summer2026!", "common words"),
            ("changeme123", "common words"),
        ] {
            assert_eq!(weakness(value), Some(why), "{value}");
        }
        for value in [
            "correct horse battery",
            "1234567890123",
            "hunter2-x9",
            "kitchenset",
            "sk-ab12cd34",
            "k7Rq2ZxW",
            "\u{1f600}x",
        ] {
            assert_eq!(weakness(value), None, "{value}");
        }
    }

    #[test]
    fn a_long_value_is_judged_at_once() {
        assert_eq!(weakness(&"me".repeat(30_000)), None);
        assert!(are_common_words(&"me".repeat(20)));
    }
}
