//! The title of a conversation, from its first message.

use super::sanitize::clean_input;
use crate::model::Message;

/// Most characters of a title.
const TITLE_CHARS: usize = 50;

/// The title of a conversation that begins with this message.
#[must_use]
pub(super) fn title_of(first: &Message) -> String {
    let text = first.text();
    let title = cut(text.trim_start_matches(['#', '>', '*', '-', '`', ' ', '\n', '\t']), TITLE_CHARS);
    if title.is_empty() { "New conversation".to_owned() } else { title }
}

/// The beginning of a text as one clean line of at most so many characters, cut between words.
pub(super) fn cut(text: &str, most: usize) -> String {
    // Words are taken one by one, so a text of any length costs no more than its beginning.
    let beginning: String = text.chars().take(most.saturating_mul(20)).collect();
    let mut line = String::new();
    let mut room = most;
    let mut words =
        clean_input(&beginning).split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter();
    for word in words.by_ref() {
        let size = word.chars().count() + usize::from(!line.is_empty());
        if size > room {
            if line.is_empty() {
                // A word that is longer than a line, or a language without spaces.
                line.extend(word.chars().take(most.saturating_sub(1)));
            } else if room == 0 {
                let shorter = line.rsplit_once(' ').map(|(line, _)| line.to_owned());
                line = shorter.unwrap_or_else(|| line.chars().take(most.saturating_sub(1)).collect());
            }
            line.push('…');
            return line;
        }
        room -= size;
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    fn title(text: &str) -> String {
        title_of(&Message::user(text))
    }

    #[test]
    fn a_title_is_one_clean_line_cut_between_words() {
        for (text, expected) in [
            ("What is 2+2?", "What is 2+2?"),
            ("  # Plan\n\n- buy   milk\n", "Plan - buy milk"),
            (
                "Please compare the two contracts in my folder and tell me what differs",
                "Please compare the two contracts in my folder and…",
            ),
            ("pass\u{200b}word\u{202e}", "password"),
            ("", "New conversation"),
            ("\n\t", "New conversation"),
        ] {
            assert_eq!(title(text), expected);
        }
        assert_eq!(title(&"x".repeat(200)), format!("{}…", "x".repeat(49)));
        assert_eq!(title(&"字".repeat(200)), format!("{}…", "字".repeat(49)));
        let exact = format!("{} tail", "word ".repeat(10));
        assert_eq!(title(&exact), format!("{}…", "word ".repeat(10).trim_end()));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn any_words_make_a_title(text in any::<String>(), most in 1_usize..80) {
            let line = cut(&text, most);
            prop_assert!(line.chars().count() <= most.max(1));
            prop_assert!(!line.contains('\n'));
            prop_assert!(!title(&text).is_empty());
        }
    }
}
