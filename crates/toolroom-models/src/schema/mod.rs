//! JSON Schema 2020-12 for vendors that understand less of it.
//!
//! A weakened schema accepts what the original accepts, and more: arguments are checked against the original anyway. What
//! was lost is told, so that people can see why a model guesses.

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

/// A schema as a vendor understands it.
#[derive(Debug, Clone, PartialEq)]
pub struct Weakened {
    /// The schema.
    pub schema: Value,
    /// Places and keywords that say less than they did, such as `/properties/at/pattern`.
    pub lost: Vec<String>,
}

impl Weakened {
    /// The schema as it is.
    #[must_use]
    pub fn not_at_all(schema: &Value) -> Self {
        Self { schema: schema.clone(), lost: Vec::new() }
    }
}

/// A tool's parameters as they are sent over this wire, and what is lost on the way.
#[must_use]
pub fn parameters(schema: &Value, wire: WireKind, quirks: &Quirks) -> Weakened {
    match wire {
        WireKind::OpenaiChat | WireKind::OpenaiResponses => openai_parameters(schema, quirks).0,
        WireKind::Anthropic => object_top(schema),
        WireKind::Gemini if quirks.openapi_parameters => openapi(schema),
        WireKind::Gemini => Weakened::not_at_all(schema),
    }
}

/// Parameters in OpenAI's formats, and whether they are kept to the letter.
pub(crate) fn openai_parameters(schema: &Value, quirks: &Quirks) -> (Weakened, bool) {
    match quirks.strict_schemas.then(|| strict(schema)).flatten() {
        Some(strict) => (strict, true),
        None => (object_top(schema), false),
    }
}
