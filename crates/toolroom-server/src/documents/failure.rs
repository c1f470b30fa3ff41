//! Errors of calls.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::tool::{ErrorKind, ToolError};

/// Error of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// Kind of error.
    #[schemars(with = "ErrorKind")]
    pub(crate) kind: &'static str,
    /// Message, safe for models.
    pub(crate) message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// Seconds until a retry may succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<f64>,
}

impl Failure {
    pub(crate) fn of(error: &ToolError) -> Self {
        Self {
            kind: error.kind().as_str(),
            message: error.for_model().to_owned(),
            hint: error.hint().map(str::to_owned),
            retry_after: error.retry_after().map(|span| span.as_secs_f64()),
        }
    }
}
