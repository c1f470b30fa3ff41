//! Why a model did not answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The kinds of model errors. Retries and fallbacks depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// The key is missing, wrong or not allowed to do this.
    Auth,
    /// No credit left.
    Billing,
    /// Too many requests or tokens.
    RateLimit,
    /// The vendor has no capacity at the moment.
    Overloaded,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The vendor refuses to answer this.
    ContentFilter,
    /// Could not be reached, or the stream broke off.
    Network,
    /// Nothing arrived for too long.
    Timeout,
    /// There is no such model or endpoint.
    NotFound,
    /// The vendor rejects the request: a defect of ours.
    BadRequest,
    /// The vendor failed.
    Server,
    /// The response cannot be parsed.
    Protocol,
    /// The answer exceeds the size limit or never ends.
    Endless,
    /// The caller stopped it.
    Cancelled,
}

impl ModelErrorKind {
    /// Whether the same request may succeed a little later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        match self {
            Self::RateLimit
            | Self::Overloaded
            | Self::Network
            | Self::Timeout
            | Self::Server
            | Self::Protocol => true,
            Self::Auth
            | Self::Billing
            | Self::ContextOverflow
            | Self::ContentFilter
            | Self::NotFound
            | Self::BadRequest
            // A retry would cost the same again.
            | Self::Endless
            | Self::Cancelled => false,
        }
    }

    /// The name used in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::ContextOverflow => "context_overflow",
            Self::ContentFilter => "content_filter",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::Server => "server",
            Self::Protocol => "protocol",
            Self::Endless => "endless",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for ModelErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why a model did not answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure it is.
    pub kind: ModelErrorKind,
    /// The message for users: the vendor's own if it sent one.
    pub message: String,
    /// When to retry, if the vendor said.
    pub retry_after: Option<Duration>,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// The context window in tokens, if the vendor named it in an overflow error.
    pub window: Option<u64>,
    /// The cause.
    #[source]
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ModelError {
    /// An error of this kind.
    #[must_use]
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, status: None, window: None, source: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_a_retry_cannot_fix_are_not_transient() {
        for kind in [
            ModelErrorKind::Auth,
            ModelErrorKind::Billing,
            ModelErrorKind::ContextOverflow,
            ModelErrorKind::Endless,
            ModelErrorKind::Cancelled,
        ] {
            assert!(!kind.is_transient(), "{kind}");
        }
        assert!(ModelErrorKind::Overloaded.is_transient());
    }

    #[test]
    fn an_error_keeps_its_cause() {
        let error =
            ModelError::new(ModelErrorKind::Network, "the stream broke off").caused_by("connection reset");
        assert_eq!(error.to_string(), "the stream broke off");
        assert_eq!(error.source().unwrap().to_string(), "connection reset");
    }
}
