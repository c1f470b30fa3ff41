//! JSON pointers into a schema, read as a way through its keywords.

use jsonschema::Draft;

use super::keyword::{Shape, shape};
use super::text;

/// Where a JSON pointer into a schema ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At a schema.
    Schema,
    /// Below a keyword that this draft does not know; a reference may make a schema of it.
    Elsewhere,
    /// At something that can be no schema: in a `const`, or at a map of schemas.
    NoSchema,
}

/// A keyword that a JSON pointer passes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Passed {
    /// Pointer of the schema that holds the keyword.
    pub(super) holder: String,
    pub(super) keyword: String,
}

/// Reads a JSON pointer step by step as a way through schemas.
pub(super) fn read_pointer(pointer: &str, draft: Draft) -> (Vec<Passed>, Position) {
    enum At {
        Schema,
        /// `items` before 2020-12: an index may follow, or a keyword.
        SchemaOrList,
        Container,
        Elsewhere,
        NoSchema,
    }
    let mut passed = Vec::new();
    let mut at = At::Schema;
    let mut walked = String::new();
    for step in text::steps(pointer) {
        at = match at {
            At::SchemaOrList if step.parse::<usize>().is_ok() => At::Schema,
            At::Container => At::Schema,
            At::Elsewhere => At::Elsewhere,
            At::NoSchema => At::NoSchema,
            At::Schema | At::SchemaOrList => {
                let next = match shape(&step, draft) {
                    Shape::Schema => At::Schema,
                    Shape::SchemaOrList => At::SchemaOrList,
                    Shape::SchemaMap | Shape::SchemaList | Shape::PatternMap | Shape::Dependencies => {
                        At::Container
                    }
                    Shape::Unknown | Shape::Rare => At::Elsewhere,
                    _ => At::NoSchema,
                };
                passed.push(Passed { holder: walked.clone(), keyword: step.clone() });
                next
            }
        };
        text::push_step(&mut walked, &step);
    }
    let position = match at {
        At::Schema | At::SchemaOrList => Position::Schema,
        At::Elsewhere => Position::Elsewhere,
        At::Container | At::NoSchema => Position::NoSchema,
    };
    (passed, position)
}
