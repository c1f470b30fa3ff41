//! Bounds the cost of a schema: the schemas that judge one value, the steps of one check, the memory of its problems.
//!
//! Definitions that each refer twice to the next need 2^n checks of one value, and cyclic ones never end. Both are rejected
//! when the tool is registered.
//!
//! A recursive schema may still check every level of the arguments several times, and the validator lists all problems of
//! large arguments before the first can be read. It cannot be interrupted, so its schemas carry a counting keyword that
//! unwinds when the budget is spent.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::paths::Location;
use jsonschema::{Draft, Keyword, ValidationError};
use serde_json::{Map, Value, json};

use super::error::SchemaError;
use super::keyword::{Shape, draft_named, shape};
use super::reference::ReferenceLink;
use super::text;
use super::wellformed::Survey;

/// Schemas that may judge one value together. Compiling `unevaluatedProperties` takes the square of it.
const MAX_SPREAD: usize = 1_000;

/// Nested references and combinators for one value. With arguments of 64 levels the validator then recurses about a
/// thousand levels, which fits a worker thread's stack.
const MAX_CHAIN: usize = 16;

/// The counting keyword. Harmless if a schema already uses it.
pub(super) const KEYWORD: &str = "x-toolroom-work";

/// Steps of a check of any arguments, however small.
const BASE: u64 = 50_000;

/// Further steps for each value in the arguments: enough for a union of dozens of types for each.
const PER_VALUE: u64 = 64;

/// Steps of explaining problems. A problem takes about half a kilobyte, so this stays within 50 MB.
pub(super) const EXPLANATION: u64 = 100_000;

/// Bytes of text that count as one more value.
const TEXT_BYTES: usize = 256;

/// Unknown property names that take as much memory as one problem.
const NAMES: usize = 16;

/// Whether a schema has unevaluated keywords, which make the validator check again at each level.
pub(super) fn has_unevaluated(schema: &Map<String, Value>) -> bool {
    schema.keys().any(|keyword| matches!(keyword.as_str(), "unevaluatedProperties" | "unevaluatedItems"))
}

/// Rejects a survey whose references multiply or are cyclic.
pub(super) fn check_spread<'s>(survey: &Survey<'s>, links: &[ReferenceLink<'s>]) -> Result<(), SchemaError> {
    let mut spread = Spread { links: HashMap::new(), known: HashMap::new(), open: Vec::new() };
    for link in links {
        spread.links.entry(address(link.holder)).or_default().push(link);
    }
    survey.schemas.iter().try_for_each(|schema| spread.measure(schema, "").map(drop))
}

fn address(schema: &Map<String, Value>) -> usize {
    std::ptr::from_ref(schema).addr()
}

#[derive(Clone, Copy)]
struct ReferenceCost {
    schemas: usize,
    chain: usize,
}

struct Spread<'s, 'l> {
    links: HashMap<usize, Vec<&'l ReferenceLink<'s>>>,
    known: HashMap<usize, ReferenceCost>,
    open: Vec<usize>,
}

impl<'s> Spread<'s, '_> {
    /// `reference` led here; the error names it.
    fn measure(
        &mut self,
        schema: &'s Map<String, Value>,
        reference: &str,
    ) -> Result<ReferenceCost, SchemaError> {
        let here = address(schema);
        if let Some(known) = self.known.get(&here) {
            return Ok(*known);
        }
        if self.open.contains(&here) {
            return Err(SchemaError::EndlessReference { pointer: text::shown_path(reference) });
        }
        if self.open.len() >= MAX_CHAIN {
            return Err(SchemaError::TooBig { what: "references in a row for one value", limit: MAX_CHAIN });
        }
        self.open.push(here);
        let mut cost = ReferenceCost { schemas: 1, chain: 1 };
        for (keyword, value) in schema {
            for inner in same_value(keyword, value) {
                let found = self.measure(inner, reference)?;
                add(&mut cost, found)?;
            }
        }
        for link in self.links.get(&here).cloned().unwrap_or_default() {
            if let Value::Object(target) = link.target {
                let found = self.measure(target, &link.pointer)?;
                add(&mut cost, found)?;
            }
        }
        self.open.pop();
        self.known.insert(here, cost);
        Ok(cost)
    }
}

/// Also counts the length of a known chain that hangs below a long one.
fn add(cost: &mut ReferenceCost, inner: ReferenceCost) -> Result<(), SchemaError> {
    cost.schemas += inner.schemas;
    cost.chain = cost.chain.max(inner.chain + 1);
    if cost.schemas > MAX_SPREAD {
        return Err(SchemaError::TooBig { what: "schemas that judge one value", limit: MAX_SPREAD });
    }
    if cost.chain > MAX_CHAIN {
        return Err(SchemaError::TooBig { what: "references in a row for one value", limit: MAX_CHAIN });
    }
    Ok(())
}

/// The schemas under a keyword that judge the same value as the schema that holds it.
fn same_value<'s>(keyword: &str, value: &'s Value) -> Vec<&'s Map<String, Value>> {
    match (keyword, value) {
        ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => {
            items.iter().filter_map(Value::as_object).collect()
        }
        ("not" | "if" | "then" | "else", Value::Object(schema)) => vec![schema],
        ("dependentSchemas" | "dependencies", Value::Object(map)) => {
            map.values().filter_map(Value::as_object).collect()
        }
        _ => Vec::new(),
    }
}

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// The payload of the unwinding.
struct BudgetExceeded;

fn spend(steps: u64) {
    match LEFT.get().checked_sub(steps) {
        Some(left) => LEFT.set(left),
        // Not a panic, so no panic hook runs.
        None => resume_unwind(Box::new(BudgetExceeded)),
    }
}

/// Runs `work` of a counting validator; `None` if it takes more than `steps`.
pub(super) fn within<T>(steps: u64, work: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(steps);
    // A check only reads, so unwinding leaves nothing half done.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(reason) if reason.is::<BudgetExceeded>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// Steps that a check of `arguments` may take.
pub(super) fn budget(arguments: &Value) -> u64 {
    BASE.saturating_add(size(arguments).saturating_mul(PER_VALUE))
}

/// The number of values in `value`; a long string counts as several.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<u64>(),
        Value::String(text) => 1 + count(text.len() / TEXT_BYTES),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A copy of `schema` with the counting keyword in every schema.
pub(super) fn counted(schema: &Value, draft: Draft) -> Value {
    let mut copy = schema.clone();
    mark(&mut copy, draft, false);
    copy
}

/// `alternative`: problems of this schema come with copies of the values they are about.
fn mark(schema: &mut Value, around: Draft, alternative: bool) {
    let draft = draft_named(schema, around, String::new).unwrap_or(around);
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords.iter_mut() {
        match (shape(keyword, draft), value) {
            (Shape::PatternMap, Value::Object(map)) => {
                map.values_mut().for_each(|entry| mark_of_many(entry, draft));
            }
            (Shape::SchemaMap | Shape::Dependencies, Value::Object(map)) => {
                map.values_mut().for_each(|entry| mark(entry, draft, false));
            }
            (Shape::Schema | Shape::SchemaOrList, value @ Value::Bool(_))
                if matches!(keyword.as_str(), "items" | "additionalItems") =>
            {
                mark_of_many(value, draft);
            }
            // A reference can make any value below an unknown keyword a schema.
            (
                Shape::Schema | Shape::SchemaOrList | Shape::SchemaList | Shape::Unknown | Shape::Rare,
                value,
            ) => match value {
                Value::Array(items) => {
                    let alternatives = matches!(keyword.as_str(), "anyOf" | "oneOf");
                    items.iter_mut().for_each(|item| mark(item, draft, alternatives));
                }
                other => mark(other, draft, false),
            },
            _ => {}
        }
    }
    keywords.insert(KEYWORD.to_owned(), Value::Bool(alternative));
}

/// Marks a schema that judges any number of values; a plain `false` would reject them uncounted.
fn mark_of_many(schema: &mut Value, draft: Draft) {
    if schema == &Value::Bool(false) {
        *schema = json!({ "not": {}, KEYWORD: false });
    } else {
        mark(schema, draft, false);
    }
}

type Counting<'a> = Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>>;

/// Makes the counting keyword for one schema, for the compiler.
pub(super) type Counter = for<'a> fn(&'a Map<String, Value>, &'a Value, Location) -> Counting<'a>;

/// Counts a step for each value that a schema judges.
pub(super) fn judgements<'a>(_: &'a Map<String, Value>, _: &'a Value, _: Location) -> Counting<'a> {
    Ok(Box::new(Judgements))
}

struct Judgements;

impl<'i> Keyword<'i> for Judgements {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        spend(1);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        spend(1);
        true
    }
}

/// Counts a step for each problem that a schema may report, and for the values it copies.
pub(super) fn problems<'a>(
    schema: &'a Map<String, Value>,
    alternative: &'a Value,
    _: Location,
) -> Counting<'a> {
    let lists = ["required", "dependentRequired", "dependencies"];
    let missing = lists.iter().filter_map(|keyword| schema.get(*keyword)).map(size).sum();
    let copies = alternative == &Value::Bool(true) || schema.contains_key("unevaluatedItems");
    Ok(Box::new(Problems { missing, copies }))
}

struct Problems {
    /// Names that may be missing; each is a separate problem.
    missing: u64,
    copies: bool,
}

impl<'i> Keyword<'i> for Problems {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        let names = value.as_object().map_or(0, |map| count(map.len() / NAMES));
        let copied = if self.copies { size(value) } else { 0 };
        spend(1 + self.missing + names + copied);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        spend(1);
        true
    }
}
