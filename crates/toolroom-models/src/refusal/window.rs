//! Reads a model's context window from a context overflow message.

/// Texts before the number, in lower case, most reliable first: OpenAI and compatible servers, xAI, llama.cpp, Gemini,
/// and Anthropic's `210000 tokens > 200000 maximum`.
const BEFORE: [&str; 9] = [
    "maximum context length is",
    "maximum prompt length is",
    "context size (",
    "tokens allowed (",
    "context window of",
    "context length of",
    "context limit of",
    "context length is only",
    ">",
];

/// Texts after the number: Mistral.
const AFTER: [&str; 2] = [" maximum context length", " token context"];

/// Plausible windows.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 256..=100_000_000;

/// The window that a message names, in tokens.
pub(crate) fn window_in(words: &str) -> Option<u64> {
    let words = words.to_lowercase();
    let before = BEFORE.iter().find_map(|mark| first_number(words.split_once(mark)?.1));
    let after = || AFTER.iter().find_map(|mark| last_number(words.split_once(mark)?.0));
    before.or_else(after).filter(|window| PLAUSIBLE.contains(window))
}

fn is_part(character: char) -> bool {
    character.is_ascii_digit() || matches!(character, ',' | '_')
}

/// The number at the beginning of a text.
fn first_number(words: &str) -> Option<u64> {
    let words = words.trim_start();
    let end = words.find(|character| !is_part(character)).unwrap_or(words.len());
    number(words.get(..end)?)
}

/// The number at the end of a text.
fn last_number(words: &str) -> Option<u64> {
    let digits = words.trim_end().rsplit(|character| !is_part(character)).next()?;
    number(digits)
}

fn number(digits: &str) -> Option<u64> {
    digits.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_names_its_window_in_its_own_way() {
        for (words, window) in [
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
                128_000,
            ),
            (
                "This endpoint's maximum context length is 32,768 tokens. However, you requested about 40000",
                32_768,
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease",
                200_000,
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                1_048_576,
            ),
            (
                "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
                4_096,
            ),
            ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
            ("This model's maximum prompt length is 131072 but the request contains 150000 tokens.", 131_072),
        ] {
            assert_eq!(window_in(words), Some(window), "{words}");
        }
    }

    #[test]
    fn where_no_window_is_named_none_is_guessed() {
        for words in [
            "",
            "Please reduce the length of the messages",
            "context size (tokens)",
            "> 5",
            "a > b",
            "maximum context length is 99999999999999999999999",
        ] {
            assert_eq!(window_in(words), None, "{words}");
        }
    }
}
