//! Google's Gemini API: `generateContent`.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::Value;
use toolroom::model::{ModelError, ModelErrorKind, ModelRequest};

use crate::failure::{kind_of_status, refused};
use crate::field::text_at;
use crate::wire::{Decoder, Terms, Wire, escaped};

/// `generateContent`, streamed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gemini;

impl Wire for Gemini {
    fn path(&self, terms: &Terms) -> String {
        let model = terms.model.strip_prefix("models/").unwrap_or(&terms.model);
        format!("models/{}:streamGenerateContent?alt=sse", escaped(model))
    }

    fn encode(&self, request: &ModelRequest, terms: &Terms) -> Value {
        encode::body(request, terms)
    }

    fn decoder(&self, terms: &Terms) -> Box<dyn Decoder> {
        Box::new(decode::Stream::new(&terms.owner))
    }

    fn refusal(&self, status: u16, body: &str) -> ModelError {
        let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
        // Streams may be refused with a list of one.
        let parsed = parsed.get(0).unwrap_or(&parsed);
        match parsed.get("error").filter(|error| error.is_object()) {
            Some(said) => error(status, said),
            None => refused(kind_of_status(status), Some(status), body),
        }
    }
}

/// The `error` object of a body or of an event in the stream.
fn error(status: u16, error: &Value) -> ModelError {
    let words = text_at(error, "/message").unwrap_or_default();
    let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let key_is_wrong = details.iter().any(|detail| text_at(detail, "/reason") == Some("API_KEY_INVALID"));
    let kind = match (kind_of_words(status, words), text_at(error, "/status").unwrap_or_default()) {
        _ if key_is_wrong => ModelErrorKind::Auth,
        (Some(kind), _) => kind,
        (None, "UNAUTHENTICATED" | "PERMISSION_DENIED") => ModelErrorKind::Auth,
        (None, "NOT_FOUND") => ModelErrorKind::NotFound,
        (None, "RESOURCE_EXHAUSTED") => ModelErrorKind::RateLimit,
        (None, "UNAVAILABLE") => ModelErrorKind::Overloaded,
        (None, "DEADLINE_EXCEEDED") => ModelErrorKind::Timeout,
        (None, _) => kind_of_status(status),
    };
    let retry_after = details.iter().find_map(|detail| seconds(text_at(detail, "/retryDelay")?));
    ModelError { retry_after, ..refused(kind, Some(status), words) }
}

/// What only the words tell apart.
fn kind_of_words(status: u16, words: &str) -> Option<ModelErrorKind> {
    let words = words.to_lowercase();
    let says = |needle: &str| words.contains(needle);
    if says("input token count") && says("exceed") {
        return Some(ModelErrorKind::ContextOverflow);
    }
    if says("api key not valid") || says("api key expired") {
        return Some(ModelErrorKind::Auth);
    }
    // Whoever is over a quota is told to look at the billing too: that is no more than a rate limit.
    let billing = says("credits are depleted") || (status != 429 && says("billing"));
    billing.then_some(ModelErrorKind::Billing)
}

/// A duration such as `34.5s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}
