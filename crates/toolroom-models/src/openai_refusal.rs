//! What vendors that speak OpenAI's formats say when they do not answer.
//!
//! The shapes differ more than the formats do: an object, a text, a list, a status in the code. The vendor's own words
//! are kept; the kind is what retries and compaction go by.

use serde_json::Value;
use toolroom::model::{ModelError, ModelErrorKind};

/// More of a vendor's words than this helps nobody.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// How the vendors say that a conversation is too long, in lower case. Codes come first, then OpenAI, DeepSeek and vLLM,
/// Groq, Mistral, llama.cpp, Ollama, xAI and Gemini.
const TOO_LONG: [&str; 14] = [
    "context_length_exceeded",
    "exceed_context_size",
    "string_above_max_length",
    "maximum context length",
    "context window",
    "reduce the length of the messages",
    "too large for model",
    "available context size",
    "exceeds the context",
    "exceed context",
    "prompt is too long",
    "maximum prompt length",
    "maximum number of tokens allowed",
    "longer than the model's context",
];

const NO_CREDIT: [&str; 6] = [
    "insufficient_quota",
    "billing_hard_limit",
    "billing_not_active",
    "insufficient balance",
    "insufficient credits",
    "exceeded_current_quota",
];

const NOT_THIS: [&str; 7] = [
    "content_policy",
    "content_filter",
    "content management policy",
    "data_inspection_failed",
    "requires moderation",
    "was flagged",
    "safety system",
];

const NO_CAPACITY: [&str; 3] = ["overloaded", "no capacity", "capacity_exceeded"];

/// What a response without success says.
pub(crate) fn refusal(status: u16, body: &str) -> ModelError {
    let told = match serde_json::from_str::<Value>(body) {
        Ok(value) => Told::from_value(&value),
        // A page of a proxy says nothing to people.
        Err(_) if body.trim_start().starts_with('<') => Told::default(),
        Err(_) => Told { message: body.trim().to_owned(), ..Told::default() },
    };
    let mut error = ModelError::new(told.kind(Some(status)), told.message());
    if told.message.is_empty() {
        error.message = format!("the vendor answered with status `{status}` and no explanation");
    }
    error.status = Some(status);
    error
}

/// What an error in the middle of a stream says.
pub(crate) fn in_stream(error: &Value) -> ModelError {
    let told = Told::from_value(error);
    let mut error = ModelError::new(told.kind(told.status), told.message());
    if told.message.is_empty() {
        "the vendor broke the answer off without an explanation".clone_into(&mut error.message);
    }
    error.status = told.status;
    error
}

/// What can be made out of an error.
#[derive(Debug, Default)]
struct Told {
    message: String,
    /// Codes and types, one after the other.
    codes: String,
    /// A code that is a status.
    status: Option<u16>,
}

impl Told {
    fn from_value(value: &Value) -> Self {
        let mut told = Self::default();
        told.read(value, 0);
        told
    }

    fn read(&mut self, value: &Value, depth: u8) {
        // Nobody wraps an error more often than a router of routers.
        if depth > 4 {
            return;
        }
        match value {
            Value::String(text) => self.say(text),
            Value::Array(list) => {
                for entry in list.iter().take(4) {
                    self.read(entry, depth + 1);
                }
            }
            Value::Object(fields) => {
                for name in ["code", "type", "status"] {
                    match fields.get(name) {
                        Some(Value::String(code)) => self.code(code),
                        Some(Value::Number(code)) => {
                            let status = code.as_u64().and_then(|code| u16::try_from(code).ok());
                            self.status = self.status.or(status.filter(|status| (400..600).contains(status)));
                        }
                        _ => {}
                    }
                }
                for name in ["error", "message", "detail", "msg"] {
                    if let Some(inner) = fields.get(name) {
                        self.read(inner, depth + 1);
                    }
                }
                // A router hands on what the vendor behind it said.
                if let Some(Value::String(raw)) =
                    fields.get("metadata").and_then(|metadata| metadata.get("raw"))
                {
                    self.say(raw);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn code(&mut self, code: &str) {
        self.codes.push_str(&code.to_lowercase());
        self.codes.push(' ');
    }

    fn say(&mut self, text: &str) {
        if !self.message.is_empty() {
            self.message.push_str(": ");
        }
        self.message.push_str(text.trim());
    }

    fn message(&self) -> String {
        self.message.chars().take(MAX_MESSAGE_CHARS).collect()
    }

    fn kind(&self, status: Option<u16>) -> ModelErrorKind {
        let words = format!("{}{}", self.codes, self.message.to_lowercase());
        let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        let coded = |signs: &[&str]| signs.iter().any(|sign| self.codes.contains(sign));
        match status {
            Some(402) => return ModelErrorKind::Billing,
            // Also of a message that speaks of tokens: a window of time is meant, not the model's.
            Some(429) => {
                return if says(&NO_CREDIT) { ModelErrorKind::Billing } else { ModelErrorKind::RateLimit };
            }
            Some(413) => return ModelErrorKind::ContextOverflow,
            _ => {}
        }
        if says(&NO_CREDIT) {
            return ModelErrorKind::Billing;
        }
        match status {
            Some(401) => ModelErrorKind::Auth,
            Some(403) if says(&NOT_THIS) => ModelErrorKind::ContentFilter,
            Some(403) => ModelErrorKind::Auth,
            Some(404) => ModelErrorKind::NotFound,
            Some(408) => ModelErrorKind::Timeout,
            Some(498 | 503 | 529) => ModelErrorKind::Overloaded,
            // llama.cpp and Ollama have said this with 500, too.
            Some(400..600) | None if says(&TOO_LONG) => ModelErrorKind::ContextOverflow,
            Some(400..500) | None if says(&NOT_THIS) => ModelErrorKind::ContentFilter,
            Some(400..500) | None if coded(&["model_not_found"]) => ModelErrorKind::NotFound,
            Some(400..500) | None if coded(&["invalid_api_key", "authentication"]) => ModelErrorKind::Auth,
            Some(500..600) | None if coded(&["rate_limit"]) => ModelErrorKind::RateLimit,
            Some(500..600) | None if says(&NO_CAPACITY) => ModelErrorKind::Overloaded,
            None if coded(&["invalid_request", "invalid_prompt"]) => ModelErrorKind::BadRequest,
            Some(400..500) => ModelErrorKind::BadRequest,
            Some(500..600) | None => ModelErrorKind::Server,
            Some(_) => ModelErrorKind::Protocol,
        }
    }
}

#[cfg(test)]
#[path = "openai_refusal_tests.rs"]
mod tests;
