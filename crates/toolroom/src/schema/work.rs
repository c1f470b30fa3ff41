//! A budget of steps for one check.
//!
//! A recursive schema may ask about every level of the arguments several times over, which multiplies with
//! depth as soon as the reasons are collected. The validator cannot be interrupted, so the schemas of a
//! document with references carry a keyword of ours that counts, and unwinds when the budget is spent.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::{Draft, Keyword, ValidationError};
use serde_json::{Map, Value};

use super::dialect;
use super::keyword::{Shape, shape};

/// The counting keyword; a name no author would pick, and harmless if one does.
pub(super) const KEYWORD: &str = "x-toolroom-work";

/// Steps for any arguments, however small.
const BASE: u64 = 50_000;

/// Steps more for each value in the arguments: a union of dozens of types for each of them is fine.
const PER_VALUE: u64 = 64;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// What the unwinding carries.
struct Spent;

pub(super) struct Count;

impl Count {
    fn step() {
        match LEFT.get().checked_sub(1) {
            Some(left) => LEFT.set(left),
            // Not a panic: nothing is broken, and no hook has to report it.
            None => resume_unwind(Box::new(Spent)),
        }
    }
}

impl<'i> Keyword<'i> for Count {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        Self::step();
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        Self::step();
        true
    }
}

/// Runs a check of `arguments` within its budget; none when it is spent.
pub(super) fn within<T>(arguments: &Value, check: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(BASE.saturating_add(values(arguments).saturating_mul(PER_VALUE)));
    // The check only reads, so nothing is left half done by unwinding out of it.
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(done) => Some(done),
        Err(reason) if reason.is::<Spent>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

fn values(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<u64>(),
        Value::Object(map) => 1 + map.values().map(values).sum::<u64>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// A copy of `schema` in which every schema counts.
pub(super) fn counted(schema: &Value, draft: Draft) -> Value {
    let mut copy = schema.clone();
    mark(&mut copy, draft);
    copy
}

fn mark(schema: &mut Value, around: Draft) {
    let draft = dialect::named(schema, around, String::new).unwrap_or(around);
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords.iter_mut() {
        match (shape(keyword, draft), value) {
            (Shape::SchemaMap | Shape::PatternMap | Shape::Dependencies, Value::Object(map)) => {
                map.values_mut().for_each(|entry| mark(entry, draft));
            }
            // Below an unknown keyword anything may be a schema: a reference can lead there.
            (
                Shape::Schema | Shape::SchemaOrList | Shape::SchemaList | Shape::Unknown | Shape::Rare,
                value,
            ) => match value {
                Value::Array(items) => items.iter_mut().for_each(|item| mark(item, draft)),
                other => mark(other, draft),
            },
            _ => {}
        }
    }
    keywords.insert(KEYWORD.to_owned(), Value::Bool(true));
}

/// Makes the counting keyword, in the form the compiler asks for.
pub(super) fn keyword<'a>(
    _: &'a Map<String, Value>,
    _: &'a Value,
    _: jsonschema::paths::Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    Ok(Box::new(Count))
}
