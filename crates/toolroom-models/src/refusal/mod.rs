//! What vendors say when they do not answer.
//!
//! The shapes differ more than the formats do: an object, a text, a list, a status in the code. The vendor's own words
//! are kept; the kind is what retries and compaction go by.

#[cfg(test)]
mod tests;
mod told;
mod window;

use serde_json::Value;
use toolroom::model::{ModelError, ModelErrorKind};

use self::told::Told;
use self::window::window_in;

/// What a response without success says.
pub(crate) fn of_response(status: u16, body: &str) -> ModelError {
    let otherwise = format!("the vendor answered with status `{status}` and no explanation");
    error(&Told::from_body(body), Some(status), &otherwise)
}

/// What an error in the middle of a stream says.
pub(crate) fn in_stream(said: &Value) -> ModelError {
    let told = Told::from_value(said);
    error(&told, told.status, "the vendor broke the answer off without an explanation")
}

fn error(told: &Told, status: Option<u16>, otherwise: &str) -> ModelError {
    let kind = told.kind(status);
    let message = told.message(otherwise);
    let window = (kind == ModelErrorKind::ContextOverflow).then(|| window_in(&message)).flatten();
    ModelError { status, window, retry_after: told.retry_after, ..ModelError::new(kind, message) }
}

/// What arrived is no answer.
pub(crate) fn not_understood(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the answer cannot be understood: {what}"))
}

/// The stream ended before the answer did.
pub(crate) fn broke_off() -> ModelError {
    ModelError::new(ModelErrorKind::Network, "the stream broke off before the answer was complete")
}
