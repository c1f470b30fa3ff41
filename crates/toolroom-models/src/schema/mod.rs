//! JSON Schema 2020-12 for vendors that understand less of it.
//!
//! A weakened schema accepts what the original accepts, and more: arguments are checked against the original anyway. What
//! was lost is told, so that people can see why a model guesses.

mod openapi;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use openapi::openapi;

/// A schema as a vendor understands it.
#[derive(Debug, Clone, PartialEq)]
pub struct Weakened {
    /// The schema.
    pub schema: Value,
    /// Places and keywords that say less than they did, such as `/properties/at/pattern`.
    pub lost: Vec<String>,
}
