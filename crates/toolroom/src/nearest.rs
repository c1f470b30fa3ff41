//! Suggestions for mistyped names of tools, functions, parameters and values. Nothing acts on a suggestion.

use std::cmp::Reverse;

const SUGGESTIONS: usize = 3;

/// Longer names get no suggestions, which bounds the time.
const MAX_NAME_CHARS: usize = 200;

/// Known names that are compared by [`nearest_one`].
const MAX_COMPARED: usize = 1_000;

/// The score of equal names.
const SAME: usize = 1_000;

/// Minimum score of a suggestion: three of five letters are enough, half of them are not.
const THRESHOLD: usize = 600;

/// Minimum length of a contained name.
const MIN_PART_CHARS: usize = 3;

/// Buckets for letter counts. Other characters share them, which only makes the bound looser.
const LETTERS: usize = 128;

/// Up to three of the `known` ids most similar to `name`, best first; ties by length, then by name.
///
/// Ignores case and the kind of separator. Compares both the whole id and the bare name after its last colon.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if name.chars().nth(MAX_NAME_CHARS).is_some() {
        return Vec::new();
    }
    let given = Name::new(name);
    let mut best = Vec::new();
    for id in known {
        let bar = best.get(SUGGESTIONS - 1).map_or(THRESHOLD, |(Reverse(score), _, _)| *score);
        let score = score(&given, &Name::new(id), bar);
        if score >= bar {
            best.push((Reverse(score), id.len(), id));
            best.sort_unstable();
            best.truncate(SUGGESTIONS);
        }
    }
    best.into_iter().map(|(_, _, id)| id).collect()
}

/// The known name most similar to `name`, if there is one. Compares only the first thousand.
#[must_use]
pub fn nearest_one<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, known.into_iter().take(MAX_COMPARED)).first().copied()
}

/// Names in backticks with commas: `` `a`, `b` ``.
pub(crate) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A normalized name: lower case, with one underscore for each run of separators, so that an id and its wire name are
/// equal.
struct Name {
    text: String,
    bare_at: usize,
}

impl Name {
    fn new(id: &str) -> Self {
        let mut name = Self { text: String::with_capacity(id.len()), bare_at: 0 };
        for character in id.chars() {
            match character {
                '-' | '_' | '.' | ':' => {
                    if !name.text.ends_with('_') {
                        name.text.push('_');
                    }
                    if character == ':' {
                        name.bare_at = name.text.len();
                    }
                }
                'a'..='z' | '0'..='9' => name.text.push(character),
                _ => name.text.extend(character.to_lowercase()),
            }
        }
        name
    }

    fn bare(&self) -> &str {
        self.text.get(self.bare_at..).unwrap_or_default()
    }
}

/// The similarity of two names; exact only from `bar` upwards.
fn score(given: &Name, known: &Name, bar: usize) -> usize {
    let known_chars = known.bare().chars().count();
    let longer = given.bare().chars().count().max(known_chars);
    let bare = spelling(given.bare(), known.bare(), longer, bar);
    // Relative to the bare name, because tools of one namespace share its letters.
    let full = spelling(&given.text, &known.text, known_chars, bar.max(bare));
    bare.max(full).max(containment(given, known))
}

/// How many of `chars` characters were not mistyped, per mille; 0 if it is certainly below `bar`.
fn spelling(given: &str, known: &str, chars: usize, bar: usize) -> usize {
    let per_mille = |mistyped: usize| (chars.saturating_sub(mistyped) * SAME).checked_div(chars).unwrap_or(0);
    if per_mille(least_distance(given, known)) < bar {
        return 0;
    }
    per_mille(strsim::damerau_levenshtein(given, known))
}

/// A cheap lower bound of the distance: the letters that one name has more of than the other.
fn least_distance(left: &str, right: &str) -> usize {
    let mut balance = [0_i32; LETTERS];
    let mut count = |text: &str, step: i32| {
        for character in text.chars() {
            if let Some(letter) = balance.get_mut(character as usize % LETTERS) {
                *letter += step;
            }
        }
    };
    count(left, 1);
    count(right, -1);
    let surplus = |sign: i32| balance.iter().map(|letter| (letter * sign).max(0)).sum::<i32>();
    usize::try_from(surplus(1).max(surplus(-1))).unwrap_or(0)
}

/// A contained name scores above the threshold, and higher the longer it is.
fn containment(given: &Name, known: &Name) -> usize {
    let piece = |part: &str, whole: &str| {
        let (part, whole) = (part.chars().count(), whole.chars().count());
        if part < MIN_PART_CHARS { 0 } else { THRESHOLD + (SAME - THRESHOLD) * part / whole }
    };
    let beyond_namespace = |at: usize| at + given.text.len() > known.bare_at;
    if known.bare().contains(given.bare()) {
        piece(given.bare(), known.bare())
    } else if known.text.rfind(&given.text).is_some_and(beyond_namespace) {
        piece(&given.text, &known.text)
    } else if given.bare().contains(known.bare()) && given.bare().len() <= 2 * known.bare().len() {
        piece(known.bare(), given.bare())
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    const KNOWN: [&str; 9] = [
        "builtin:calculator",
        "builtin:web-fetch",
        "builtin:web-search",
        "builtin:file.read",
        "builtin:file.write",
        "mcp:github:issue_list",
        "mcp:github:issue_create",
        "mcp:größe:umrechnen",
        "client:confirm",
    ];

    fn check(wanted: &str, expected: &[&str]) {
        assert_eq!(nearest(wanted, KNOWN.into_iter()), expected, "{wanted}");
    }

    #[test]
    fn mistyped_names_find_their_tool() {
        check("builtin:calculater", &["builtin:calculator"]);
        check("calcualtor", &["builtin:calculator"]);
        check("Builtin__Calculator", &["builtin:calculator"]);
        check("CALC", &["builtin:calculator"]);
        check("web_fetch", &["builtin:web-fetch", "builtin:web-search"]);
        check("tools:webfetch", &["builtin:web-fetch", "builtin:web-search"]);
        check("web.serch", &["builtin:web-search", "builtin:web-fetch"]);
        check("web", &["builtin:web-fetch", "builtin:web-search"]);
        check("file", &["builtin:file.read", "builtin:file.write"]);
        check("file-raed", &["builtin:file.read", "builtin:file.write"]);
        check("github.issue-list", &["mcp:github:issue_list"]);
        check("mcp:github-issue-craete", &["mcp:github:issue_create"]);
        check("GRÖẞE:UMRECHNE", &["mcp:größe:umrechnen"]);
        check("please_confirm", &["client:confirm"]);
    }

    #[test]
    fn nonsense_finds_nothing() {
        for wanted in [
            "",
            ":",
            "x",
            "e",
            "builtin",
            "builtin:",
            "builtin:xyzzy",
            "mcp:github:qqqqq",
            "🦀🦀🦀",
            "do something nice",
        ] {
            check(wanted, &[]);
        }
        check(&format!("calculator{}", " ".repeat(191)), &[]);
    }

    fn any_name() -> impl Strategy<Value = String> {
        prop_oneof!["[a-c:_]{0,9}", "[a-c]{2}:[a-cA-C.-]{1,9}", "\\PC{0,9}"]
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn shortcuts_change_no_answer(wanted in any_name(), known in proptest::collection::btree_set(any_name(), 0..30)) {
            let name = Name::new(&wanted);
            let mut best: Vec<_> =
                known.iter().map(|id| (Reverse(score(&name, &Name::new(id), 0)), id.len(), id.as_str())).collect();
            best.sort_unstable();
            best.retain(|(score, _, _)| score.0 >= THRESHOLD);
            best.truncate(3);
            let expected: Vec<&str> = best.into_iter().map(|(_, _, id)| id).collect();
            prop_assert_eq!(nearest(&wanted, known.iter().map(String::as_str)), expected);
        }

        #[test]
        fn one_slip_finds_the_tool(id in "[a-z]{3}:[a-z]{5,20}", at in 4..9_usize, slip in "[a-z]?") {
            let mistyped = format!("{}{slip}{}", id.split_at(at).0, id.split_at(at + 1).1);
            let known = KNOWN.into_iter().chain([id.as_str()]);
            prop_assert_eq!(nearest(&mistyped, known).first().copied(), Some(id.as_str()));
        }
    }
}
