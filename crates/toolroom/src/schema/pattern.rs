//! The linear-time pattern engine, and foreign schemas with patterns it does not support.
//!
//! Leaving a pattern out must only allow more. Under `not`, `if`, `oneOf` and `maxContains` it would forbid more, so these
//! are relaxed too, also where a reference leads from them to the pattern.

use std::collections::BTreeSet;

use jsonschema::{Draft, PatternOptions, Regex};
use serde_json::{Map, Value, json};

use super::plain_pattern::is_plain;
use super::pointer::{PassedKeyword, read_pointer};
use super::reference::ReferenceLink;
use super::wellformed::SchemaPattern;

/// Bytes of one compiled pattern. `^.{1,500}$` fits; a hostile schema with the largest number of patterns
/// stays below a hundred megabytes.
const COMPILED_BYTES: usize = 1 << 20;

/// Bytes of a pattern's transition cache per thread.
const CACHE_BYTES: usize = 1 << 18;

/// A pattern that matches every name.
const EVERY_NAME: &str = "";

/// The engine of every schema: no look-around, no back references, no backtracking.
pub(super) fn engine() -> PatternOptions<Regex> {
    PatternOptions::regex().size_limit(COMPILED_BYTES).dfa_size_limit(CACHE_BYTES)
}

/// Whether the engine supports `pattern`. Uses the real compiler, because it translates ECMA 262 patterns.
pub(super) fn compiles(pattern: &str, draft: Draft) -> bool {
    if is_plain(pattern) {
        return true;
    }
    jsonschema::options()
        .with_draft(draft)
        .offline()
        .with_pattern_options(engine())
        .build(&json!({ "pattern": pattern, "patternProperties": { pattern: {} } }))
        .is_ok()
}

/// The enforced schema, and the pointers of constraints in the original that are not enforced.
pub(super) struct Relaxed {
    pub(super) schema: Value,
    pub(super) not_enforced: Vec<String>,
}

/// Leaves `patterns` out of a copy of `schema`.
pub(super) fn without(
    schema: &Value,
    draft: Draft,
    patterns: &[&SchemaPattern<'_>],
    links: &[ReferenceLink<'_>],
) -> Relaxed {
    let mut copy = schema.clone();
    let mut not_enforced: Vec<String> = Vec::new();
    for pattern in patterns {
        leave_out(&mut copy, pattern);
        not_enforced.push(pattern.pointer.clone());
    }
    // The deepest first: a renamed keyword changes the pointers of what is below it.
    let mut reversed: Vec<PassedKeyword> = reversing(draft, patterns, links);
    reversed.sort_by_key(|passed| std::cmp::Reverse(passed.holder.len()));
    for passed in reversed {
        let Some(Value::Object(holder)) = copy.pointer_mut(&passed.holder) else { continue };
        if let Some(keyword) = loosen(holder, &passed.keyword) {
            not_enforced.push(format!("{}/{keyword}", passed.holder));
        }
    }
    Relaxed { schema: copy, not_enforced }
}

fn leave_out(schema: &mut Value, pattern: &SchemaPattern<'_>) {
    let Some((holder, _)) = pattern.pointer.rsplit_once('/') else { return };
    let Some(Value::Object(holder)) = schema.pointer_mut(holder) else { return };
    if pattern.is_key {
        holder.remove(pattern.text);
        // Any name might have matched, so none may be refused as additional or unevaluated.
        holder.entry(EVERY_NAME).or_insert(Value::Bool(true));
    } else {
        holder.remove("pattern");
    }
}

/// Keywords on the way to a pattern under which allowing more means allowing less.
fn reversing(
    draft: Draft,
    patterns: &[&SchemaPattern<'_>],
    links: &[ReferenceLink<'_>],
) -> Vec<PassedKeyword> {
    let mut found: Vec<PassedKeyword> = Vec::new();
    let mut open: Vec<(&str, usize)> =
        patterns.iter().map(|pattern| (pattern.pointer.as_str(), pattern.start)).collect();
    let mut seen: BTreeSet<&str> = open.iter().map(|(pointer, _)| *pointer).collect();
    while let Some((pointer, start)) = open.pop() {
        let (before, inner) = pointer.split_at_checked(start).unwrap_or(("", pointer));
        for step in read_pointer(inner, draft).0 {
            let reverses = matches!(step.keyword.as_str(), "not" | "if" | "oneOf" | "contains");
            let step = PassedKeyword { holder: format!("{before}{}", step.holder), keyword: step.keyword };
            if reverses && !found.contains(&step) {
                found.push(step);
            }
        }
        for link in links {
            let inside = pointer.strip_prefix(link.target_pointer.as_str());
            if inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                && seen.insert(&link.pointer)
            {
                open.push((&link.pointer, link.start));
            }
        }
    }
    found
}

/// Returns the keyword that is no longer enforced as written.
fn loosen<'k>(holder: &mut Map<String, Value>, keyword: &'k str) -> Option<&'k str> {
    match keyword {
        "contains" => holder.remove("maxContains").map(|_| "maxContains"),
        "oneOf" => {
            let alternatives = holder.remove("oneOf")?;
            holder.entry("anyOf").or_insert(alternatives);
            Some(keyword)
        }
        other => holder.remove(other).map(|_| other),
    }
}
