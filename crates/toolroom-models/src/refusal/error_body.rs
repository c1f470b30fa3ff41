//! Parses the error bodies of all vendors.

use std::time::Duration;

use serde_json::Value;
use toolroom::model::ModelErrorKind;

use crate::field::text_at;

/// Characters of a vendor's message that are kept.
pub(super) const MAX_MESSAGE_CHARS: usize = 1_000;

/// Signs of a context overflow, in lower case. Codes first, then OpenAI, DeepSeek and vLLM, Groq, Mistral, llama.cpp,
/// Ollama, xAI, Gemini and Anthropic.
const CONTEXT_OVERFLOW: [&str; 16] = [
    "context_length_exceeded",
    "request_too_large",
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
    "exceeds the maximum number of tokens",
    "longer than the model's context",
    "exceeds context limit",
];

const NO_CREDIT: [&str; 10] = [
    "billing_error",
    "enable billing",
    "credit balance is too low",
    "credits are depleted",
    "insufficient_quota",
    "billing_hard_limit",
    "billing_not_active",
    "insufficient balance",
    "insufficient credits",
    "exceeded_current_quota",
];

const CONTENT_FILTER: [&str; 8] = [
    "content filtering policy",
    "content_policy",
    "content_filter",
    "content management policy",
    "data_inspection_failed",
    "requires moderation",
    "was flagged",
    "safety system",
];

/// Invalid keys, which Google calls an invalid argument.
const INVALID_KEY: [&str; 6] = [
    "api_key_invalid",
    "invalid_api_key",
    "authentication",
    "unauthenticated",
    "permission_denied",
    "permission_error",
];

const OVERLOADED: [&str; 4] = ["overloaded", "no capacity", "capacity_exceeded", "unavailable"];

/// The content of an error body.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    message: String,
    /// Codes and types, one after the other.
    codes: String,
    /// A code that is a status.
    pub(super) status: Option<u16>,
    /// When to retry.
    pub(super) retry_after: Option<Duration>,
}

impl ErrorBody {
    /// Parses a body, which need not be JSON.
    pub(super) fn from_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::from_value(&value),
            // A proxy's HTML page is useless to users.
            Err(_) if body.trim_start().starts_with('<') => Self::default(),
            Err(_) => Self { message: body.trim().to_owned(), ..Self::default() },
        }
    }

    pub(super) fn from_value(value: &Value) -> Self {
        let mut body = Self::default();
        body.read(value, 0);
        body
    }

    fn read(&mut self, value: &Value, depth: u8) {
        // Routers nest errors.
        if depth > 4 {
            return;
        }
        match value {
            Value::String(text) => self.add_text(text),
            Value::Array(list) => {
                for entry in list.iter().take(4) {
                    self.read(entry, depth + 1);
                }
            }
            Value::Object(fields) => {
                for name in ["code", "type", "status"] {
                    match fields.get(name) {
                        Some(Value::String(code)) => self.add_code(code),
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
                for detail in fields.get("details").and_then(Value::as_array).into_iter().flatten().take(16) {
                    self.detail(detail);
                }
                // A router forwards the error of its vendor.
                if let Some(Value::String(raw)) =
                    fields.get("metadata").and_then(|metadata| metadata.get("raw"))
                {
                    self.add_text(raw);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Google's details: a reason, and when to retry.
    fn detail(&mut self, detail: &Value) {
        if let Some(reason) = text_at(detail, "/reason") {
            self.add_code(reason);
        }
        let seconds = text_at(detail, "/retryDelay").and_then(|text| text.strip_suffix('s')?.parse().ok());
        let after = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        self.retry_after = self.retry_after.or(after);
    }

    fn add_code(&mut self, code: &str) {
        self.codes.push_str(&code.to_lowercase());
        self.codes.push(' ');
    }

    fn add_text(&mut self, text: &str) {
        if !self.message.is_empty() {
            self.message.push_str(": ");
        }
        self.message.push_str(text.trim());
    }

    /// The vendor's own message, bounded; `otherwise` if there is none.
    pub(super) fn message(&self, otherwise: &str) -> String {
        match self.message.trim() {
            "" => otherwise.to_owned(),
            words => words.chars().take(MAX_MESSAGE_CHARS).collect(),
        }
    }

    pub(super) fn kind(&self, status: Option<u16>) -> ModelErrorKind {
        let words = format!("{}{}", self.codes, self.message.to_lowercase());
        let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        let coded = |signs: &[&str]| signs.iter().any(|sign| self.codes.contains(sign));
        match status {
            Some(402) => return ModelErrorKind::Billing,
            // A 429 about tokens is a rate limit, not a context overflow.
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
            Some(403) if says(&CONTENT_FILTER) => ModelErrorKind::ContentFilter,
            Some(403) => ModelErrorKind::Auth,
            Some(404) => ModelErrorKind::NotFound,
            Some(408) => ModelErrorKind::Timeout,
            Some(498 | 503 | 529) => ModelErrorKind::Overloaded,
            // llama.cpp and Ollama also report this with 500.
            Some(400..600) | None if says(&CONTEXT_OVERFLOW) => ModelErrorKind::ContextOverflow,
            Some(400..500) | None if says(&CONTENT_FILTER) => ModelErrorKind::ContentFilter,
            Some(400..500) | None if coded(&["model_not_found", "not_found_error"]) => {
                ModelErrorKind::NotFound
            }
            Some(400..500) | None
                if coded(&INVALID_KEY) || says(&["api key not valid", "api key expired"]) =>
            {
                ModelErrorKind::Auth
            }
            Some(500..600) | None if coded(&["rate_limit", "resource_exhausted"]) => {
                ModelErrorKind::RateLimit
            }
            Some(504) => ModelErrorKind::Timeout,
            None if coded(&["timeout_error", "deadline_exceeded"]) => ModelErrorKind::Timeout,
            Some(500..600) | None if says(&OVERLOADED) => ModelErrorKind::Overloaded,
            None if coded(&["invalid_request", "invalid_prompt"]) => ModelErrorKind::BadRequest,
            Some(400..500) => ModelErrorKind::BadRequest,
            Some(500..600) | None => ModelErrorKind::Server,
            Some(_) => ModelErrorKind::Protocol,
        }
    }
}
