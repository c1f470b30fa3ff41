//! Error responses of vendors.
//!
//! Their shapes differ: an object, a text, a list, a status in the code. The vendor's own message is kept; retries and
//! compaction depend on the kind.

mod error_body;
#[cfg(test)]
mod tests;
mod window;

use serde_json::Value;
use toolroom::model::{ModelError, ModelErrorKind};

use self::error_body::ErrorBody;
use self::window::window_in;

/// The error of a response without success.
pub(crate) fn from_response(status: u16, body: &str) -> ModelError {
    let otherwise = format!("the vendor answered with status `{status}` and no explanation");
    error(&ErrorBody::from_body(body), Some(status), &otherwise)
}

/// The error of an event in a stream.
pub(crate) fn from_stream(event: &Value) -> ModelError {
    let body = ErrorBody::from_value(event);
    error(&body, body.status, "the vendor ended the answer without an explanation")
}

fn error(body: &ErrorBody, status: Option<u16>, otherwise: &str) -> ModelError {
    let kind = body.kind(status);
    let message = body.message(otherwise);
    let window = (kind == ModelErrorKind::ContextOverflow).then(|| window_in(&message)).flatten();
    ModelError { status, window, retry_after: body.retry_after, ..ModelError::new(kind, message) }
}

/// The response is not a valid answer.
pub(crate) fn invalid_answer(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the answer cannot be parsed: {what}"))
}

/// The stream ended before the answer did.
pub(crate) fn broke_off() -> ModelError {
    ModelError::new(ModelErrorKind::Network, "the stream ended before the answer was complete")
}
