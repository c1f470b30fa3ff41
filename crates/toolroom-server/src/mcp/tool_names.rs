//! The names of tools in MCP, and how they map to ids.
//!
//! Names have 1 to 128 of `A-Z a-z 0-9 _ . -`. A built-in tool has its bare name, any other tool its id with `__` in place of
//! colons. A name depends on its id alone and is unique: an id that cannot be restored from such a name gets a name that ends
//! in a hash, as no other name does.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolroom::catalog::{Catalog, Entry};
use toolroom::scope::ProjectId;
use toolroom::tool::{Source, ToolId};

/// The longest name.
const MAX_CHARS: usize = 128;

/// Prefix of built-in ids.
const BUILTIN: &str = "builtin:";

/// Separates the hash.
const MARK: &str = "--";

/// Digits of a hash.
const HASH_DIGITS: usize = 16;

/// The name of a tool.
pub(super) fn name_of(id: &ToolId) -> String {
    let text = match id.source() {
        Source::Builtin => id.bare().to_owned(),
        _ => id.as_str().replace(':', "__"),
    };
    let is_plain = text.len() <= MAX_CHARS
        && text.chars().all(is_allowed)
        && read(&text).as_deref() == Some(id.as_str());
    if is_plain { text } else { hashed(id, &text) }
}

fn hashed(id: &ToolId, text: &str) -> String {
    let safe = text.chars().map(|c| if is_allowed(c) { c } else { '_' });
    let mut name: String = safe.take(MAX_CHARS - MARK.len() - HASH_DIGITS).collect();
    name.push_str(MARK);
    name.extend(hex::encode(Sha256::digest(id.as_str())).chars().take(HASH_DIGITS));
    name
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The id of a name without a hash.
fn read(name: &str) -> Option<String> {
    if ends_in_hash(name) {
        return None;
    }
    let Some((source, rest)) = name.split_once("__") else { return Some([BUILTIN, name].concat()) };
    match (source, rest.split_once("__")) {
        ("mcp", Some((server, tool))) => Some(format!("mcp:{server}:{tool}")),
        ("mcp" | "", _) => None,
        (source, _) => Some(format!("{source}:{rest}")),
    }
}

fn ends_in_hash(name: &str) -> bool {
    let place = name.len().saturating_sub(HASH_DIGITS);
    let digits =
        name.split_at_checked(place).filter(|(rest, _)| rest.ends_with(MARK)).map(|(_, digits)| digits);
    digits.is_some_and(|digits| digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
}

/// The tool with this name.
pub(super) fn find(catalog: &Catalog, project: &ProjectId, name: &str) -> Option<Arc<Entry>> {
    if ends_in_hash(name) {
        return catalog.list(project).into_iter().find(|entry| name_of(&entry.spec().id) == name);
    }
    if name.len() > MAX_CHARS || !name.chars().all(is_allowed) {
        return None;
    }
    let id = read(name)?;
    let entry = catalog.find(project, &id).ok()?;
    let found = &entry.spec().id;
    (found.as_str() == id && has_plain_name(found, name)).then_some(entry)
}

/// A hint for a name that has no tool.
pub(super) fn hint(catalog: &Catalog, project: &ProjectId, name: &str) -> Option<String> {
    let id = read(name).filter(|_| name.len() <= MAX_CHARS)?;
    catalog.why_absent(project, &id)
}

/// Whether this is the name of the id without a hash.
fn has_plain_name(id: &ToolId, name: &str) -> bool {
    if let Some(bare) = id.as_str().strip_prefix(BUILTIN) {
        return bare == name;
    }
    let mut rest = Some(name);
    for part in id.as_str().split_inclusive(':') {
        rest = rest.and_then(|rest| match part.strip_suffix(':') {
            Some(part) => rest.strip_prefix(part)?.strip_prefix("__"),
            None => rest.strip_prefix(part),
        });
    }
    rest == Some("")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    fn name(id: &str) -> String {
        name_of(&ToolId::parse(id).unwrap())
    }

    #[test]
    fn names_are_as_documented() {
        for (id, wanted) in [
            ("builtin:calculator", "calculator"),
            ("builtin:fs-read", "fs-read"),
            ("app:echo.twice", "app__echo.twice"),
            ("mcp:git-hub:create_issue", "mcp__git-hub__create_issue"),
            ("mcp:a:b__c", "mcp__a__b__c"),
        ] {
            assert_eq!(name(id), wanted);
        }
        for id in [
            "builtin:a__b",
            "builtin:a/b",
            "mcp:a__b:c",
            "mcp:a:two words",
            "app:größe",
            "a_:_b",
            "builtin:x--0123456789abcdef",
        ] {
            assert!(ends_in_hash(&name(id)), "{id}");
        }
        assert_eq!(name(&format!("builtin:{}", "x".repeat(200))).len(), MAX_CHARS);
    }

    fn id() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab_.-]{1,4}:[ab_./-]{1,5}",
            "mcp:[ab_]{1,4}:[ab_:. ]{1,5}",
            "builtin:[ab_-]{1,5}",
            "[a-z]{100,120}:[a-z]{5,40}",
            "[a-z]{1,3}:\\PC{1,4}",
        ]
    }

    proptest! {
        #![proptest_config(cases(512))]

        #[test]
        fn any_ids_get_distinct_names_of_allowed_characters(ids in proptest::collection::vec(id(), 1..30)) {
            let mut seen: HashMap<String, String> = HashMap::new();
            for id in ids {
                let Ok(parsed) = ToolId::parse(&id) else { continue };
                let name = name_of(&parsed);
                prop_assert!((1..=MAX_CHARS).contains(&name.len()) && name.chars().all(is_allowed), "{}", name);
                prop_assert!(ends_in_hash(&name) || read(&name).as_deref() == Some(id.as_str()));
                prop_assert_eq!(!ends_in_hash(&name), has_plain_name(&parsed, &name), "{}", name);
                if let Some(other) = seen.insert(name, id.clone()) {
                    prop_assert_eq!(other, id);
                }
            }
        }
    }
}
