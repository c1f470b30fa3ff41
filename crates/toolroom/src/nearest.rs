//! Finds the known names that a mistyped one was probably meant to be: of tools, functions, parameters, values.
//!
//! It only suggests: nothing in the kernel is ever done because a name was near.

use std::cmp::Reverse;

/// More suggestions would be a list to search, not an answer.
const SUGGESTIONS: usize = 3;

/// No tool has so long a name, and comparing takes time in proportion to it.
const MAX_WANTED_CHARS: usize = 200;

/// A schema or a map of variables may hold any number of names; a suggestion is not worth comparing them all.
const COMPARED: usize = 1_000;

/// The score of equal names.
const SAME: usize = 1_000;

/// Names that score less have little in common but chance: three of five letters are enough, half of them are not.
const THRESHOLD: usize = 600;

/// Shorter pieces are contained in too many names.
const MIN_PIECE_CHARS: usize = 3;

/// ASCII letters are counted apart; others share a count, which only makes the bound looser.
const LETTERS: usize = 128;

/// Up to three of the `known` ids that resemble `wanted`, best first; equally good ones by length, then by name.
///
/// Case and the choice of separator do not count. Both the whole id and the bare name after its last colon are
/// compared.
#[must_use]
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if wanted.chars().nth(MAX_WANTED_CHARS).is_some() {
        return Vec::new();
    }
    let wanted = Name::new(wanted);
    let mut best = Vec::new();
    for id in known {
        let bar = best.get(SUGGESTIONS - 1).map_or(THRESHOLD, |(Reverse(score), _, _)| *score);
        let score = score(&wanted, &Name::new(id), bar);
        if score >= bar {
            best.push((Reverse(score), id.len(), id));
            best.sort_unstable();
            best.truncate(SUGGESTIONS);
        }
    }
    best.into_iter().map(|(_, _, id)| id).collect()
}

/// The known name that resembles `wanted` most, if one does. Only the first thousand are compared.
#[must_use]
pub fn nearest_one<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(wanted, known.into_iter().take(COMPARED)).first().copied()
}

/// Names as they stand in a sentence: `` `a`, `b` ``.
pub(crate) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A name in the form in which it is compared: lower case, with one underscore for each run of separators, so that
/// an id and its wire name look the same.
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

/// How alike two names are; exact only from `bar` upwards.
fn score(wanted: &Name, known: &Name, bar: usize) -> usize {
    let known_chars = known.bare().chars().count();
    let longer = wanted.bare().chars().count().max(known_chars);
    let bare = spelling(wanted.bare(), known.bare(), longer, bar);
    // Measured by the bare name: a namespace in common says nothing about the tool.
    let full = spelling(&wanted.text, &known.text, known_chars, bar.max(bare));
    bare.max(full).max(containment(wanted, known))
}

/// How many of `chars` characters were not mistyped, per mille; 0 when it is seen to be below `bar`.
fn spelling(wanted: &str, known: &str, chars: usize, bar: usize) -> usize {
    let per_mille = |mistyped: usize| (chars.saturating_sub(mistyped) * SAME).checked_div(chars).unwrap_or(0);
    if per_mille(least_distance(wanted, known)) < bar {
        return 0;
    }
    per_mille(strsim::damerau_levenshtein(wanted, known))
}

/// The letters that one name has more of than the other: a bound for the distance, known in a fraction of its time.
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

/// A piece of a name scores above the threshold, the more the larger it is.
fn containment(wanted: &Name, known: &Name) -> usize {
    let piece = |part: &str, whole: &str| {
        let (part, whole) = (part.chars().count(), whole.chars().count());
        if part < MIN_PIECE_CHARS { 0 } else { THRESHOLD + (SAME - THRESHOLD) * part / whole }
    };
    let beyond_namespace = |at: usize| at + wanted.text.len() > known.bare_at;
    if known.bare().contains(wanted.bare()) {
        piece(wanted.bare(), known.bare())
    } else if known.text.rfind(&wanted.text).is_some_and(beyond_namespace) {
        piece(&wanted.text, &known.text)
    } else if wanted.bare().contains(known.bare()) && wanted.bare().len() <= 2 * known.bare().len() {
        piece(known.bare(), wanted.bare())
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
