//! Why a model did not answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The closed list of what goes wrong with models. Retries and fallbacks are decided by it.
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
    /// The vendor does not accept the request: ours to mend.
    BadRequest,
    /// The vendor failed.
    Server,
    /// What arrived cannot be understood.
    Protocol,
    /// The answer is longer than any that is taken, or has no end.
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
            // The same would come again, and be paid for again.
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
    /// What to tell people: the vendor's own words where it said something.
    pub message: String,
    /// When another try makes sense, if the vendor said.
    pub retry_after: Option<Duration>,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// How many tokens the model can read, if the vendor said so when it was too much.
    pub window: Option<u64>,
    /// What is behind it.
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
    fn what_asking_again_cannot_mend_is_not_transient() {
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
