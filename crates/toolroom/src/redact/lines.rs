//! The parts of a multi-line secret that are hidden on their own. Keys and credential files are often shown line by line,
//! joined to one line, or by the value of one name.

use std::ops::Range;

use zeroize::Zeroizing;

use super::secret::MIN_EXACT_CHARS;
use super::weakness::are_common_words;

/// Separators of joined lines. Escaped line breaks are unescaped before a text is searched.
const JOINTS: [&str; 4] = ["", " ", "\n", "\r\n"];

/// Most neighbouring lines that are joined. More are needed only for lines without content, such as closing brackets.
const MAX_JOINED: usize = 16;

/// Endings of names whose value is a secret by itself.
const SECRET_NAMES: [&str; 14] = [
    "auth",
    "credential",
    "credentials",
    "key",
    "key-data",
    "key_data",
    "key_id",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "token",
];

/// The parts of `value`; none if it has one line. An escaped `\n` counts as a line break.
pub(super) fn parts(value: &str) -> Vec<String> {
    let value = Zeroizing::new(value.replace("\\r", "\n").replace("\\n", "\n").replace('\r', "\n"));
    let lines =
        value.split('\n').map(|line| line.trim().trim_end_matches('\\')).filter(|line| !line.is_empty());
    let lines: Vec<Line<'_>> = lines.map(Line::read).collect();
    if lines.len() < 2 {
        return Vec::new();
    }
    let mut runs = shortest_runs(&lines.iter().map(|line| line.weight).collect::<Vec<_>>());
    runs.push(0..lines.len());
    let joined = |run: Range<usize>| {
        let texts: Vec<&str> = lines.get(run).unwrap_or_default().iter().map(|line| line.text).collect();
        JOINTS.map(|joint| texts.join(joint))
    };
    let mut parts: Vec<String> = runs.into_iter().flat_map(joined).collect();
    parts.extend(lines.iter().filter_map(|line| line.named).map(str::to_owned));
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// A line, and how much of it could be secret.
struct Line<'v> {
    text: &'v str,
    /// Characters that could be secret; 0 for lines common to many files.
    weight: usize,
    /// The value, if its name says that it is a secret.
    named: Option<&'v str>,
}

impl<'v> Line<'v> {
    fn read(text: &'v str) -> Self {
        let Some((name, value)) = assignment(text) else {
            let chars = bare(text).chars().count();
            let weight = match text {
                text if is_frame(text) => 0,
                // Occurs in other texts: a part only together with its neighbours.
                text if are_common_words(text) => chars.min(MIN_EXACT_CHARS - 1),
                _ => chars,
            };
            return Self { text, weight, named: None };
        };
        let chars = value.chars().count();
        let name = name.to_ascii_lowercase();
        let is_secret = chars >= MIN_EXACT_CHARS && SECRET_NAMES.iter().any(|ending| name.ends_with(ending));
        let weight = if is_plain(value) { chars } else { bare(text).chars().count() };
        Self { text, weight, named: is_secret.then_some(value) }
    }
}

/// `name: value` and `name=value`, without quotes, brackets and commas.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let at = line.find(['=', ':'])?;
    let (name, rest) = line.split_at_checked(at)?;
    let name = bare(name.trim_start_matches("- ").trim_start_matches("export "));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let value = rest.get(1..)?;
    let is_spaced =
        rest.starts_with('=') || value.is_empty() || value.starts_with([' ', '"', '\'', '{', '[']);
    let is_padding = rest.starts_with('=') && value.trim_matches('=').is_empty();
    (is_spaced && !is_padding && !name.is_empty() && name.chars().all(is_name)).then(|| (name, bare(value)))
}

/// A text without quotes, brackets and commas around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '{' | '}' | '[' | ']')
    })
}

/// A value that is too short to be hidden, and a word or a number.
fn is_plain(value: &str) -> bool {
    let chars = value.chars().count();
    chars <= 3
        || chars < MIN_EXACT_CHARS
            && (value.chars().all(char::is_alphabetic)
                || value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-')))
}

/// Whether a line is the frame of a key or a section name.
fn is_frame(line: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let section = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    line.starts_with("-----BEGIN ")
        || line.starts_with("-----END ")
        || section.is_some_and(|name| name.chars().all(is_name))
}

/// The shortest runs of neighbouring lines with enough weight to be hidden. They cover every longer run.
fn shortest_runs(weights: &[usize]) -> Vec<Range<usize>> {
    let count = weights.len();
    let mut reversed = weights.to_vec();
    reversed.reverse();
    let mut runs = runs_by_end(weights);
    runs.extend(runs_by_end(&reversed).into_iter().map(|run| count - run.end..count - run.start));
    runs
}

/// The shortest run that ends with each line.
fn runs_by_end(weights: &[usize]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (end, weight) in weights.iter().enumerate() {
        sum += weight;
        while let Some(first) = weights.get(start).filter(|first| sum - **first >= MIN_EXACT_CHARS) {
            sum -= first;
            start += 1;
        }
        if sum >= MIN_EXACT_CHARS && *weight > 0 && end - start < MAX_JOINED {
            runs.push(start..end + 1);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_enough_characters_is_a_part_and_a_common_line_is_not() {
        let file = "[production]\napiVersion: v1\nkind: Config\nusers:\n- name: hunter2hunter2\npassword\n\
                    DEBUG=true\n_authToken=npm_abcdefgh\nQUJDREVGR0g=\n-----BEGIN PRIVATE KEY-----\nMIIEvQIB";
        let parts = parts(file);
        for part in
            ["- name: hunter2hunter2", "npm_abcdefgh", "_authToken=npm_abcdefgh", "QUJDREVGR0g=", "MIIEvQIB"]
        {
            assert!(parts.iter().any(|known| known == part), "{part} in {parts:?}");
        }
        for common in ["[production]", "apiVersion: v1", "kind: Config", "users:", "password", "DEBUG=true"] {
            assert!(!parts.iter().any(|known| known == common), "{common} in {parts:?}");
        }
        assert!(!parts.iter().any(|known| known.starts_with("-----") && known.ends_with("-----")));
    }

    #[test]
    fn short_lines_are_parts_together_with_their_neighbours() {
        let parts = parts("abc\r\n  def\r\n\r\nghi\njkl-mno-pqr");
        for part in ["abcdefghi", "abc def ghi", "def\nghi\njkl-mno-pqr", "ghi\r\njkl-mno-pqr", "jkl-mno-pqr"]
        {
            assert!(parts.iter().any(|known| known == part), "{part} in {parts:?}");
        }
        assert!(!parts.iter().any(|known| known == "abcdef"));
    }

    #[test]
    fn one_line_has_no_parts_and_escaped_line_breaks_make_several() {
        assert_eq!(parts("correct horse battery"), Vec::<String>::new());
        assert_eq!(parts("a line\n\n"), Vec::<String>::new());
        for value in
            ["{\"key\":\"first-line\\nsecond-line\\n\"}", "{\"key\":\"first-line\\\\nsecond-line\\\\n\"}"]
        {
            assert!(parts(value).iter().any(|part| part == "second-line"), "{:?}", parts(value));
        }
    }

    #[test]
    fn lines_without_weight_cost_little() {
        let brackets = format!("{}secret-line", "{\n".repeat(30_000));
        assert!(parts(&brackets).len() < 20);
    }
}
