//! The names under which tools are offered to a model, and the way back from such a name to the tool's id.
//!
//! Model services accept only `^[a-zA-Z0-9_-]{1,64}$`, while ids have colons, dots and any length. Every id gets a
//! name and no two ids share one. It does not decide which tools are offered and does not guess at unknown names.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

/// The longest name that all model services accept.
const MAX_CHARS: usize = 64;

/// Bytes of the hash in a suffix: 32 bits keep chance clashes among some thousand ids improbable, and the rest of the
/// name readable.
const HASH_BYTES: usize = 4;

/// An underscore and two hexadecimal digits per byte.
const SUFFIX_CHARS: usize = 1 + 2 * HASH_BYTES;

/// A two-way table between tool ids and wire names, made for one request.
///
/// A name depends on its id alone, so that a model sees the same name in every offer. The one exception is
/// an id whose hashed name is already the name of another id in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireNames {
    by_id: BTreeMap<String, String>,
    by_wire: BTreeMap<String, String>,
}

impl WireNames {
    /// Names every id; ids given twice count once, and their order does not matter.
    pub fn new<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = Self { by_id: BTreeMap::new(), by_wire: BTreeMap::new() };
        let mut hashed = Vec::new();
        for id in ids.into_iter().collect::<BTreeSet<_>>() {
            match plain_name(id) {
                Some(wire) => names.insert(id, wire),
                None => hashed.push(id),
            }
        }
        // After all plain names, which are never changed: no crafted id can take one.
        for id in hashed {
            let mut attempt = 0;
            let mut wire = hashed_name(id, attempt);
            while names.by_wire.contains_key(&wire) {
                attempt += 1;
                wire = hashed_name(id, attempt);
            }
            names.insert(id, wire);
        }
        names
    }

    /// The wire name of an id in the table.
    pub fn wire(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(String::as_str)
    }

    /// The id behind a wire name in the table.
    pub fn id(&self, wire: &str) -> Option<&str> {
        self.by_wire.get(wire).map(String::as_str)
    }

    /// The id of a wire name, decoded from the name alone; approximate for a hashed name.
    #[must_use]
    pub fn read(wire: &str) -> String {
        decode(wire)
    }

    /// All pairs of id and wire name, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_id.iter().map(|(id, wire)| (id.as_str(), wire.as_str()))
    }

    fn insert(&mut self, id: &str, wire: String) {
        self.by_wire.insert(wire.clone(), id.to_owned());
        self.by_id.insert(id.to_owned(), wire);
    }
}

/// The name of an id that can be read back from it; as reading is a function, no two ids have the same plain name.
fn plain_name(id: &str) -> Option<String> {
    let wire = encode(id);
    let fits = (1..=MAX_CHARS).contains(&wire.len());
    // An id with a character that is not allowed is not read back, since encoding has replaced it.
    (fits && decode(&wire) == id).then_some(wire)
}

fn hashed_name(id: &str, attempt: u64) -> String {
    let mut wire: String = encode(id).chars().take(MAX_CHARS - SUFFIX_CHARS).collect();
    let mut hash = Sha256::new_with_prefix(id);
    if attempt > 0 {
        hash.update(attempt.to_be_bytes());
    }
    wire.push('_');
    wire.extend(hash.finalize().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")));
    wire
}

/// Only allowed characters come out; any other character but colon and dot becomes an underscore.
fn encode(id: &str) -> String {
    let mut wire = String::with_capacity(id.len() + 2);
    for character in id.chars() {
        match character {
            ':' => wire.push_str("__"),
            '.' => wire.push_str("--"),
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => wire.push(character),
            _ => wire.push('_'),
        }
    }
    wire
}

/// Reads pairs from the left, so that `___` is a colon and an underscore.
fn decode(wire: &str) -> String {
    wire.replace("__", ":").replace("--", ".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    fn check(ids: &[&str]) -> WireNames {
        let names = WireNames::new(ids.iter().copied());
        for id in ids {
            let wire = names.wire(id).unwrap();
            assert!((1..=64).contains(&wire.len()), "{id} -> {wire}");
            assert!(
                wire.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
                "{id} -> {wire}"
            );
            assert_eq!(names.id(wire), Some(*id));
        }
        let distinct: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(names.iter().map(|(_, wire)| wire).collect::<BTreeSet<_>>().len(), distinct.len());
        assert!(names.iter().map(|(id, _)| id).eq(distinct));
        assert_eq!(names, WireNames::new(ids.iter().rev().copied()));
        names
    }

    fn alone(id: &str) -> String {
        check(&[id]).wire(id).unwrap().to_owned()
    }

    #[test]
    fn names_are_as_documented() {
        let longest = "l".repeat(64);
        let endless = "e".repeat(300);
        for (id, wire) in [
            ("builtin:calculator", "builtin__calculator"),
            ("mcp:git-hub:issue.list_all", "mcp__git-hub__issue--list_all"),
            ("a:_b", "a___b"),
            (&longest, &longest),
            // Not readable back, so hashed.
            ("a__b", "a__b_63e5c1c4"),
            ("a_:b", "a___b_2fda5b55"),
            ("a--b", "a--b_90827a2e"),
            ("two words", "two_words_a03f1d61"),
            ("größe/ü", "gr__e___046e1159"),
            ("", "_e3b0c442"),
            (&endless, &format!("{}_a5d39ce9", "e".repeat(55))),
        ] {
            assert_eq!(alone(id), wire, "{id}");
        }
    }

    #[test]
    fn an_id_made_to_look_like_another_ones_name_takes_nothing_away() {
        let hashed = alone("a__b");
        // Reads back as itself, and as the hashed name of the other.
        let thief = hashed.replace("__", ":");
        let names = check(&["a__b", &thief]);
        assert_eq!(names.wire(&thief), Some(hashed.as_str()));
        assert!(names.wire("a__b").unwrap().starts_with("a__b_"));
        // The first hashed name of this one is the plain name of none, and stays.
        assert_eq!(check(&["a__b", &hashed]).wire("a__b"), Some(hashed.as_str()));
    }

    fn id() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab:._-]{0,6}",
            "[a-z]{1,8}:[a-z_.-]{1,8}",
            "[a-z:._-]{60,68}",
            "[a-z]{300}",
            "\\PC{0,9}",
            "[ab:._/ -]{1,4}".prop_map(|id| alone(&id)),
            "[ab:._/ -]{1,4}".prop_map(|id| decode(&alone(&id))),
        ]
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn any_ids_get_distinct_names_that_lead_back(ids in proptest::collection::vec(id(), 0..40)) {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let names = check(&ids);
            for id in &ids {
                let first = alone(id);
                let clashes = names.id(&first) != Some(*id);
                prop_assert!(!clashes || (plain_name(id).is_none() && names.id(&first).is_some()), "{}", id);
            }
        }
    }
}
