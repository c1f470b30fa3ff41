//! Extracts parts of a sentence that can become arguments.

use super::arithmetic;
use super::zones;

/// Parts of one kind in a simple sentence.
const MAX_PARTS: usize = 16;

/// Endings of host names, as opposed to file names.
const SITES: [&str; 6] = ["com", "org", "net", "dev", "io", "edu"];

/// The parts of a sentence.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Evidence {
    pub(super) expression: Option<String>,
    pub(super) urls: Vec<String>,
    pub(super) paths: Vec<String>,
    pub(super) quoted: Vec<String>,
    pub(super) numbers: Vec<String>,
    pub(super) zone: Option<&'static str>,
    /// The sentence without these parts.
    pub(super) rest: String,
}

impl Evidence {
    pub(super) fn read(sentence: &str) -> Self {
        let expression = arithmetic::expression(sentence);
        let (quoted, unquoted) = quotations(sentence);
        let mut found = Self { expression, quoted, ..Self::default() };
        for word in unquoted.split_whitespace() {
            let bare = word.trim_matches(|c| {
                matches!(c, ',' | ';' | ':' | '!' | '?' | '(' | ')' | '<' | '>' | '"' | '\'')
            });
            let bare = bare.trim_end_matches('.');
            if let Some(url) = url(bare) {
                found.urls.push(url);
            } else if is_path(bare) {
                found.paths.push(bare.to_owned());
            } else if bare.parse::<f64>().is_ok_and(f64::is_finite)
                && bare.contains(|c: char| c.is_ascii_digit())
            {
                found.numbers.push(bare.to_owned());
            } else {
                found.rest.push_str(word);
                found.rest.push(' ');
            }
        }
        if let Some((zone, name)) = zones::find(&found.rest) {
            found.zone = Some(zone);
            found.rest = found.rest.to_lowercase().replacen(name, " ", 1);
        }
        found
    }

    /// Whether there are more parts than in a simple sentence.
    pub(super) fn is_too_much(&self) -> bool {
        [&self.urls, &self.paths, &self.quoted, &self.numbers].iter().any(|pieces| pieces.len() > MAX_PARTS)
    }

    /// Words for the kinds of the parts, for the tool search.
    pub(super) fn hints(&self) -> &'static str {
        match (self.urls.is_empty(), self.paths.is_empty()) {
            (false, _) => "web page url",
            (true, false) => "file",
            (true, true) => "",
        }
    }
}

/// Quoted texts, and the sentence without them. A quote opens before a word and closes after one.
fn quotations(sentence: &str) -> (Vec<String>, String) {
    let mut quoted = Vec::new();
    let mut rest = String::new();
    let mut before = ' ';
    let mut letters = sentence.chars();
    while let Some(c) = letters.next() {
        let close = match c {
            '"' | '\'' | '`' => Some(c),
            '“' => Some('”'),
            '«' => Some('»'),
            '„' => Some('“'),
            _ => None,
        };
        let behind = letters.as_str();
        let inside = close.filter(|_| !before.is_alphanumeric()).and_then(|close| {
            let (inside, behind) = behind.split_once(close)?;
            let closes = !behind.starts_with(char::is_alphanumeric) && !inside.trim().is_empty();
            closes.then_some((inside, behind))
        });
        match inside {
            Some((inside, behind)) => {
                quoted.push(inside.to_owned());
                rest.push(' ');
                letters = behind.chars();
            }
            None => rest.push(c),
        }
        before = c;
    }
    (quoted, rest)
}

fn url(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let behind = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    if let Some(behind) = behind {
        return behind.starts_with(char::is_alphanumeric).then(|| word.to_owned());
    }
    let host = lower.split('/').next().unwrap_or_default();
    let (name, ending) = host.rsplit_once('.')?;
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    let is_site = is_name && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && SITES.contains(&ending);
    is_site.then(|| format!("https://{word}"))
}

/// Whether a word is a path: it has a folder or a file extension.
fn is_path(word: &str) -> bool {
    let has_folder =
        ["/", "./", "../", "~/"].iter().any(|start| word.len() > start.len() && word.starts_with(start));
    let is_folder = word.len() > 1 && word.ends_with('/') && !word.contains("//");
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        // `e.g` and `3.5` have a dot as well.
        (1..=8).contains(&ending.len())
            && stem.len() + ending.len() > 2
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && is_plain(stem)
            && is_plain(ending)
    });
    has_folder || is_folder || has_ending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_told_apart() {
        let found = Evidence::read(
            "Fetch https://example.com/a?b=1, then save it 'as is' in notes/today.md 3 times.",
        );
        assert_eq!(found.urls, ["https://example.com/a?b=1"]);
        assert_eq!(found.paths, ["notes/today.md"]);
        assert_eq!(found.quoted, ["as is"]);
        assert_eq!(found.numbers, ["3"]);
        assert_eq!(found.rest, "Fetch then save it in times. ");
    }

    #[test]
    fn a_path_has_folder_it_is_or_has_an_ending() {
        for word in ["notes.txt", "/etc/hosts", "./a", "src/main.rs", "src/", "archive.tar.gz", "größe.md"]
        {
            assert!(is_path(word), "{word}");
        }
        for word in ["e.g", "3.5", "and/or", "/", "word", "...", "v1.2", "http://"] {
            assert!(!is_path(word), "{word}");
        }
    }

    #[test]
    fn a_site_may_be_named_without_its_scheme() {
        assert_eq!(url("example.com/x").as_deref(), Some("https://example.com/x"));
        assert_eq!(url("HTTP://Example.com").as_deref(), Some("HTTP://Example.com"));
        for word in ["https://", "example", "notes.txt", ".com", "a@b.com"] {
            assert_eq!(url(word), None, "{word}");
        }
    }

    #[test]
    fn apostrophes_quote_nothing() {
        let found = Evidence::read("don't say what's not said");
        assert_eq!(found.quoted, Vec::<String>::new());
        assert_eq!(Evidence::read("say “one two” and \"three\"").quoted, ["one two", "three"]);
    }
}
