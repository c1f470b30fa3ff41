//! The parsed search query.

use super::folded::Folded;

/// A parsed search text.
///
/// `@source rest` restricts the search to one source: `@builtin time`, `@github issue`, `@mcp:github`. A query without
/// letters matches everything.
#[derive(Debug)]
pub struct Query {
    /// The source, folded.
    source: Option<String>,
    /// All words in one piece, folded.
    whole: String,
    /// The words, each once.
    words: Vec<String>,
}

impl Query {
    /// Parses a text. Every text is a valid query.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let (source, rest) = match text.strip_prefix('@') {
            Some(scoped) => {
                let (source, rest) = scoped.split_once(char::is_whitespace).unwrap_or((scoped, ""));
                (Some(folded(source)).filter(|source| !source.is_empty()), rest)
            }
            None => (None, text),
        };
        // Lower case first, because capitals do not separate words here: `iOS` is one word.
        let rest = Folded::new(&rest.to_lowercase());
        let mut words: Vec<String> = rest.words().map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        Self { source, whole: rest.text().to_owned(), words }
    }

    /// Whether the query matches everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    pub(super) fn whole(&self) -> &str {
        &self.whole
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the query's source, if any, is `source` or one of its parts.
    pub(super) fn admits(&self, source: &str) -> bool {
        let Some(wanted) = &self.source else { return true };
        folded(source) == *wanted || source.split(':').any(|part| folded(part) == *wanted)
    }
}

fn folded(text: &str) -> String {
    Folded::new(text).text().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_words_and_optionally_a_source() {
        let check = |text: &str, source: Option<&str>, whole: &str, words: &[&str]| {
            let query = Query::parse(text);
            assert_eq!((query.source.as_deref(), query.whole()), (source, whole), "{text}");
            assert_eq!(query.words(), words, "{text}");
        };
        check(" local time ", None, "localtime", &["local", "time"]);
        check("time-Time_TIME iOS", None, "timetimetimeios", &["ios", "time"]);
        check("@builtin local time", Some("builtin"), "localtime", &["local", "time"]);
        check("@MCP:GitHub", Some("mcpgithub"), "", &[]);
        check("@ time", None, "time", &["time"]);
        check("a@b", None, "ab", &["a", "b"]);
        for nothing in ["", " \t", "--", "@", "@@"] {
            assert!(Query::parse(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn a_source_matches_by_each_of_its_parts() {
        let check = |text: &str, source: &str, expected: bool| {
            assert_eq!(Query::parse(text).admits(source), expected, "{text} of {source}");
        };
        for text in ["issue", "@mcp issue", "@github issue", "@mcp:github issue", "@GitHub"] {
            check(text, "mcp:github", true);
        }
        check("@git issue", "mcp:github", false);
        check("@com.example.notes", "com.example.notes", true);
        check("@example", "com.example.notes", false);
        check("@builtin", "", false);
        check("", "", true);
    }
}
