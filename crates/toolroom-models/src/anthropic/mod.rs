//! Anthropic's Messages API.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use serde_json::Value;
use toolroom::model::{ModelError, ModelErrorKind, ModelRequest};

use crate::failure::{kind_of_status, refused};
use crate::field::text_at;
use crate::wire::{Decoder, Terms, Wire};

/// The Messages API, streamed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn path(&self, _: &Terms) -> String {
        "messages".to_owned()
    }

    fn encode(&self, request: &ModelRequest, terms: &Terms) -> Value {
        encode::body(request, terms)
    }

    fn decoder(&self, terms: &Terms) -> Box<dyn Decoder> {
        Box::new(decode::Stream::new(&terms.owner))
    }

    fn refusal(&self, status: u16, body: &str) -> ModelError {
        let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
        match parsed.get("error").filter(|error| error.is_object()) {
            Some(said) => error(Some(status), said),
            None => refused(kind_of_status(status), Some(status), body),
        }
    }
}

/// The `error` object of a body or of an event in the stream.
fn error(status: Option<u16>, error: &Value) -> ModelError {
    let words = text_at(error, "/message").unwrap_or_default();
    let kind = match (kind_of_words(words), text_at(error, "/type").unwrap_or_default()) {
        (Some(kind), _) => kind,
        (None, "authentication_error" | "permission_error") => ModelErrorKind::Auth,
        (None, "billing_error") => ModelErrorKind::Billing,
        (None, "not_found_error") => ModelErrorKind::NotFound,
        (None, "request_too_large") => ModelErrorKind::ContextOverflow,
        (None, "rate_limit_error") => ModelErrorKind::RateLimit,
        (None, "overloaded_error") => ModelErrorKind::Overloaded,
        (None, "timeout_error") => ModelErrorKind::Timeout,
        (None, "invalid_request_error") => ModelErrorKind::BadRequest,
        (None, _) => status.map_or(ModelErrorKind::Server, kind_of_status),
    };
    refused(kind, status, words)
}

/// What only the words tell apart: all of these are called `invalid_request_error`.
fn kind_of_words(words: &str) -> Option<ModelErrorKind> {
    let words = words.to_lowercase();
    let says = |needle: &str| words.contains(needle);
    if says("prompt is too long") || says("exceed context limit") || says("exceeds context limit") {
        return Some(ModelErrorKind::ContextOverflow);
    }
    if says("credit balance is too low") {
        return Some(ModelErrorKind::Billing);
    }
    says("content filtering policy").then_some(ModelErrorKind::ContentFilter)
}
