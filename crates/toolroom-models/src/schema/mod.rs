//! JSON Schema 2020-12 for vendors that support only a subset.
//!
//! A weakened schema accepts everything the original accepts; arguments are checked against the original anyway. Lost
//! constraints are reported, so that users can see why a model guesses.

mod object_top;
mod openapi;
mod strict;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use object_top::object_top;
pub use openapi::openapi;
pub use strict::strict;

use crate::vendor::WireKind;
use crate::wire::Quirks;

/// A schema that a vendor supports.
#[derive(Debug, Clone, PartialEq)]
pub struct Weakened {
    /// The schema.
    pub schema: Value,
    /// Pointers of weakened keywords, such as `/properties/at/pattern`.
    pub lost: Vec<String>,
}

impl Weakened {
    /// The unchanged schema.
    #[must_use]
    pub fn not_at_all(schema: &Value) -> Self {
        Self { schema: schema.clone(), lost: Vec::new() }
    }
}

/// A tool's parameters as they are sent over this wire, and the lost constraints.
#[must_use]
pub fn parameters(schema: &Value, wire: WireKind, quirks: &Quirks) -> Weakened {
    match wire {
        WireKind::OpenaiChat | WireKind::OpenaiResponses => openai_parameters(schema, quirks).0,
        WireKind::Anthropic => object_top(schema),
        WireKind::Gemini if quirks.openapi_parameters => openapi(schema),
        WireKind::Gemini => Weakened::not_at_all(schema),
    }
}

/// Parameters in OpenAI's formats, and whether they are strict.
pub(crate) fn openai_parameters(schema: &Value, quirks: &Quirks) -> (Weakened, bool) {
    match quirks.strict_schemas.then(|| strict(schema)).flatten() {
        Some(strict) => (strict, true),
        None => (object_top(schema), false),
    }
}
