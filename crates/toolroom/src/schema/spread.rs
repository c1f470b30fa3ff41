//! How many schemas judge one and the same value: references must not multiply without end.
//!
//! A handful of definitions that each refer twice to the next ask for 2^n checks of one value, and a circle of
//! them for endlessly many. Both are refused when the tool is registered.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::error::SchemaError;
use super::reference::Link;
use super::survey::Survey;
use super::text;

/// Schemas that may judge one value together. Compiling `unevaluatedProperties` takes the square of it.
const MAX_SPREAD: usize = 1_000;

/// References and combinations inside each other for one value. With arguments of 64 levels the validator
/// then recurses about a thousand levels, which fits a worker thread's stack.
const MAX_CHAIN: usize = 16;

/// Refuses a survey whose references multiply or run in a circle.
pub(super) fn check<'s>(survey: &Survey<'s>, links: &[Link<'s>]) -> Result<(), SchemaError> {
    let mut spread = Spread { links: HashMap::new(), known: HashMap::new(), open: Vec::new() };
    for link in links {
        spread.links.entry(address(link.holder)).or_default().push(link);
    }
    survey.schemas.iter().try_for_each(|schema| spread.of(schema, "").map(drop))
}

fn address(schema: &Map<String, Value>) -> usize {
    std::ptr::from_ref(schema).addr()
}

#[derive(Clone, Copy)]
struct Extent {
    schemas: usize,
    chain: usize,
}

struct Spread<'s, 'l> {
    links: HashMap<usize, Vec<&'l Link<'s>>>,
    known: HashMap<usize, Extent>,
    open: Vec<usize>,
}

impl<'s> Spread<'s, '_> {
    /// `reference` is the one that led here, for the error.
    fn of(&mut self, schema: &'s Map<String, Value>, reference: &str) -> Result<Extent, SchemaError> {
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
        let mut extent = Extent { schemas: 1, chain: 1 };
        for (keyword, value) in schema {
            for inner in same_value(keyword, value) {
                let found = self.of(inner, reference)?;
                add(&mut extent, found)?;
            }
        }
        for link in self.links.get(&here).cloned().unwrap_or_default() {
            if let Value::Object(target) = link.target {
                let found = self.of(target, &link.pointer)?;
                add(&mut extent, found)?;
            }
        }
        self.open.pop();
        self.known.insert(here, extent);
        Ok(extent)
    }
}

/// A known extent may hang below a long chain, so its own length counts as well.
fn add(extent: &mut Extent, inner: Extent) -> Result<(), SchemaError> {
    extent.schemas += inner.schemas;
    extent.chain = extent.chain.max(inner.chain + 1);
    if extent.schemas > MAX_SPREAD {
        return Err(SchemaError::TooBig { what: "schemas that judge one value", limit: MAX_SPREAD });
    }
    if extent.chain > MAX_CHAIN {
        return Err(SchemaError::TooBig { what: "references in a row for one value", limit: MAX_CHAIN });
    }
    Ok(())
}

/// The schemas under a keyword that judge the same value as the schema which holds it.
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
