//! Why a call failed, with one text for the model and one for the operator.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The closed list of what can go wrong. Surfaces branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The arguments do not fit.
    InvalidArguments,
    /// The tool, or the thing it was asked for, does not exist.
    NotFound,
    /// An outside service refused access.
    PermissionDenied,
    /// Took too long.
    Timeout,
    /// The caller stopped it.
    Cancelled,
    /// Too many calls.
    RateLimited,
    /// The remote side could not be reached.
    Unreachable,
    /// The remote side answered with an error.
    Upstream,
    /// A defect: the tool panicked, or Toolroom itself failed.
    Crashed,
    /// Any other failure of the tool.
    Tool,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::InvalidArguments,
        Self::NotFound,
        Self::PermissionDenied,
        Self::Timeout,
        Self::Cancelled,
        Self::RateLimited,
        Self::Unreachable,
        Self::Upstream,
        Self::Crashed,
        Self::Tool,
    ];

    /// The name used in records and on every wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::NotFound => "not_found",
            Self::PermissionDenied => "permission_denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::RateLimited => "rate_limited",
            Self::Unreachable => "unreachable",
            Self::Upstream => "upstream",
            Self::Crashed => "crashed",
            Self::Tool => "tool",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The default hint for the model, if the same call can only fail again.
    #[must_use]
    pub const fn hint(self) -> Option<&'static str> {
        match self {
            Self::InvalidArguments => {
                Some("correct the arguments before calling again; unchanged they fail again")
            }
            Self::NotFound => Some("do not retry unchanged: it does not exist"),
            Self::PermissionDenied => Some("do not retry unchanged: access is refused"),
            Self::Timeout
            | Self::Cancelled
            | Self::RateLimited
            | Self::Unreachable
            | Self::Upstream
            | Self::Crashed
            | Self::Tool => None,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Who raised an error. Exit codes and HTTP statuses depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaisedBy {
    /// The tool itself.
    Tool,
    /// A station of the call path.
    Kernel,
}

/// Why a call failed.
#[derive(Debug, Clone)]
pub struct ToolError {
    kind: ErrorKind,
    for_model: String,
    hint: Option<String>,
    retry_after: Option<Duration>,
    raised_by: RaisedBy,
    /// Whether the effect may have happened.
    in_doubt: bool,
    /// For the operator alone: it may name hosts, paths and upstream texts.
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// An error with the text a model may read.
    #[must_use]
    pub fn new(kind: ErrorKind, for_model: impl Into<String>) -> Self {
        Self {
            kind,
            for_model: for_model.into(),
            hint: None,
            retry_after: None,
            raised_by: RaisedBy::Tool,
            in_doubt: false,
            source: None,
        }
    }

    /// A failure of the tool.
    #[must_use]
    pub fn tool(for_model: impl Into<String>) -> Self {
        Self::new(ErrorKind::Tool, for_model)
    }

    /// The arguments are invalid.
    #[must_use]
    pub fn invalid(for_model: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArguments, for_model)
    }

    /// The requested thing does not exist.
    #[must_use]
    pub fn not_found(for_model: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, for_model)
    }

    /// Adds the cause, for the operator only.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// Replaces the hint that follows from the kind.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Marks that the effect may have happened: a request was never answered, or was interrupted. The journal records the
    /// call as *unknown* instead of failed, and it is not repeated.
    #[must_use]
    pub fn in_doubt(mut self) -> Self {
        self.in_doubt = true;
        self
    }

    /// Sets when to retry.
    #[must_use]
    pub fn with_retry_after(mut self, span: Duration) -> Self {
        self.retry_after = Some(span);
        self
    }

    pub(crate) fn by_kernel(mut self) -> Self {
        self.raised_by = RaisedBy::Kernel;
        self
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The text a model may read.
    #[must_use]
    pub fn for_model(&self) -> &str {
        &self.for_model
    }

    /// The tool's own hint, or the default of the kind.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref().or_else(|| self.kind.hint())
    }

    /// When to retry.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Who raised it.
    #[must_use]
    pub const fn raised_by(&self) -> RaisedBy {
        self.raised_by
    }

    /// Whether the effect may have happened.
    #[must_use]
    pub const fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// The causes, outermost first, for the operator.
    #[must_use]
    pub fn for_operator(&self) -> Option<String> {
        self.source.as_deref().map(|source| causes(source))
    }

    /// Replaces every text for which `rewrite` has another one.
    pub(crate) fn rewrite(&mut self, rewrite: impl Fn(&str) -> Option<String>) {
        if let Some(text) = rewrite(&self.for_model) {
            self.for_model = text;
        }
        if let Some(text) = self.hint.as_deref().and_then(&rewrite) {
            self.hint = Some(text);
        }
        if let Some(text) = self.for_operator().as_deref().and_then(&rewrite) {
            self.source = Some(Arc::from(Box::<dyn Error + Send + Sync>::from(text)));
        }
    }
}

/// Bounds cyclic chains of causes.
const MAX_CAUSES: usize = 32;

/// An error and its sources as one line.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let walk = || {
        let chain = std::iter::successors(Some(error), |&error| error.source());
        chain.take(MAX_CAUSES).map(ToString::to_string).collect::<Vec<_>>().join(": ")
    };
    // The tool's own code prints the error and may panic.
    catch_unwind(AssertUnwindSafe(walk))
        .unwrap_or_else(|_| "the cause cannot be shown: printing it crashed".to_owned())
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.for_model)
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
