//! The outcome of a call, and what each reader may see of it.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::catalog::Unavailable;
use crate::clock::Timestamp;
use crate::ledger::{Answerer, ArtifactId, CallId};
use crate::policy::Provenance;
use crate::tool::{ErrorKind, Offer, Origin, RaisedBy, ToolError, causes};

/// A tool's result after it was shaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The result, shortened where it was too long. Shared with the journal's row.
    pub value: Arc<Value>,
    /// A message from the tool.
    pub message: Option<String>,
    /// Size before shortening.
    pub chars: usize,
    /// Where the whole result is, if this one was shortened.
    pub artifact: Option<ArtifactId>,
    /// Whether this one was shortened.
    pub truncated: bool,
    /// Whether its content is trusted.
    pub origin: Origin,
    /// Offers to the caller's client.
    pub offers: Vec<Offer>,
}

/// A call that was not allowed to run.
#[derive(Debug, Clone)]
pub struct Denial {
    /// The rule that denied it.
    pub rule: Cow<'static, str>,
    /// Why, in words a model may read.
    pub reason: String,
    /// Why the tool is unavailable, if that is the cause.
    pub off: Option<Unavailable>,
    /// For the operator alone: why a guard could not decide.
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Denial {
    /// A denial by a rule, with its reason.
    #[must_use]
    pub fn by_rule(rule: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self { rule: rule.into(), reason: reason.into(), off: None, source: None }
    }

    pub(super) fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The causes, outermost first, for the operator.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        self.source.as_deref().map(|source| causes(source))
    }

    /// Replaces every text for which `rewrite` has another one.
    pub(super) fn rewrite(&mut self, rewrite: impl Fn(&str) -> Option<String>) {
        if let Some(text) = rewrite(&self.reason) {
            self.reason = text;
        }
        if let Some(text) = self.cause().as_deref().and_then(&rewrite) {
            self.source = Some(Arc::from(Box::<dyn Error + Send + Sync>::from(text)));
        }
    }
}

impl From<Unavailable> for Denial {
    fn from(off: Unavailable) -> Self {
        Self { rule: off.rule().into(), reason: off.to_string(), off: Some(off), source: None }
    }
}

/// A call that waits for a person, or for the client that runs its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The rule that asks.
    pub rule: Cow<'static, str>,
    /// Why.
    pub reason: String,
    /// Who may answer.
    pub by: Answerer,
    /// When the answer becomes no.
    pub expires_at: Timestamp,
}

/// The four ways a call can end.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The tool returned a result.
    Done(Done),
    /// The tool, or a station before it, returned an error.
    Failed(ToolError),
    /// It was not allowed to run.
    Denied(Denial),
    /// It waits for a person, or for the client that runs its tool.
    Pending(Pending),
}

/// How a station ends a call before it has a result.
pub(super) enum Exit {
    Failed(ToolError),
    Denied(Denial),
    Pending(Pending),
}

impl From<Exit> for Outcome {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Failed(error) => Self::Failed(error),
            Exit::Denied(denial) => Self::Denied(denial),
            Exit::Pending(pending) => Self::Pending(pending),
        }
    }
}

impl Outcome {
    /// The name on every wire. A call stopped by its caller is `cancelled`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Failed(error) if is_cancellation(error) => "cancelled",
            Self::Failed(_) => "failed",
            Self::Denied(_) => "denied",
            Self::Pending(_) => "pending",
        }
    }
}

/// A tool may fail with kind *cancelled*; only the kernel's error means that the caller stopped the call.
fn is_cancellation(error: &ToolError) -> bool {
    error.raised_by() == RaisedBy::Kernel && error.kind() == ErrorKind::Cancelled
}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct CallReport {
    /// The call's id in the journal.
    pub call_id: CallId,
    /// The tool's full id; for a tool that does not exist, the name that was asked for.
    pub tool: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The rule that decided whether it may run, if it came so far.
    pub rule: Option<Cow<'static, str>>,
    /// What was read and sent by it.
    pub provenance: Provenance,
    /// How long it took.
    pub duration: Duration,
}

/// The form for client code and the bench: success, result, message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientResult {
    /// Whether the tool returned a result.
    pub success: bool,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// A sentence: the tool's own beside a result, the reason otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl CallReport {
    /// What a model reads as the tool's result: the bare result, or `{"error", "hint"?}`. `None` for a pending
    /// or cancelled call, which never becomes a tool result.
    #[must_use]
    pub fn for_model(&self) -> Option<Value> {
        match &self.outcome {
            Outcome::Done(done) => Some(Value::clone(&done.value)),
            Outcome::Failed(error) if is_cancellation(error) => None,
            Outcome::Failed(error) => {
                let mut value = json!({"error": error.for_model()});
                if let (Some(hint), Some(object)) = (error.hint(), value.as_object_mut()) {
                    object.insert("hint".into(), hint.into());
                }
                Some(value)
            }
            Outcome::Denied(denial) => Some(json!({
                "error": format!("denied: {}", denial.reason),
                "hint": "this call was refused; do not retry it",
            })),
            Outcome::Pending(_) => None,
        }
    }

    /// What client code reads.
    #[must_use]
    pub fn for_client(&self) -> ClientResult {
        match &self.outcome {
            Outcome::Done(done) => ClientResult {
                success: true,
                result: Some(Value::clone(&done.value)),
                message: done.message.clone(),
            },
            Outcome::Failed(error) => {
                ClientResult { success: false, result: None, message: Some(error.for_model().to_owned()) }
            }
            Outcome::Denied(denial) => ClientResult {
                success: false,
                result: None,
                message: Some(format!("denied: {}", denial.reason)),
            },
            Outcome::Pending(pending) => {
                let message = match pending.by {
                    Answerer::Caller | Answerer::Operator => {
                        format!("waits for approval: {}", pending.reason)
                    }
                    Answerer::Client => format!("waits for the client: {}", pending.reason),
                };
                ClientResult { success: false, result: None, message: Some(message) }
            }
        }
    }
}
