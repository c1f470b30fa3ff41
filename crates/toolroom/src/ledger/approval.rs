//! What a person is asked, and what they answer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CallId;
use crate::clock::Timestamp;
use crate::scope::Scope;

/// Who may answer: decided by the rule that asked, checked where the answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    /// Whoever made the call.
    Caller,
    /// The operator, who may also answer for a caller.
    Operator,
}

impl Answerer {
    /// Whether somebody who answers as `self` may answer what `wanted` has to answer.
    #[must_use]
    pub fn may_answer_for(self, wanted: Self) -> bool {
        self == Self::Operator || wanted == Self::Caller
    }

    /// The name used in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Operator => "operator",
        }
    }
}

/// A question that waits: may this tool, as it is defined now, run with exactly these arguments?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The parked call.
    pub call: CallId,
    /// Hash of the exact arguments.
    pub arguments_hash: Arc<str>,
    /// Hash of the tool's definition.
    pub definition_hash: Arc<str>,
    /// Who has to answer.
    pub by: Answerer,
    /// Why it is asked, for the person who answers.
    pub reason: String,
    /// From this instant on the answer is no.
    pub expires_at: Timestamp,
}

/// What a person says to an [`Approval`]. An edit is a new call with an approval of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this once.
    Once,
    /// Yes, for this conversation.
    Session,
    /// Yes, from now on.
    Always,
    /// No.
    No,
    /// No, and never ask again.
    Never,
    /// No, and end the run.
    Stop,
}

impl Answer {
    /// Whether the parked call may run.
    #[must_use]
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Once | Self::Session | Self::Always)
    }

    /// The name used in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::No => "no",
            Self::Never => "never",
            Self::Stop => "stop",
        }
    }
}

/// An answer on its way to the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The parked call.
    pub call: CallId,
    /// Who answers: somebody of another project, or another user, does not even see the question.
    pub scope: Scope,
    /// What was said.
    pub answer: Answer,
    /// As whom it was said.
    pub by: Answerer,
    /// When.
    pub at: Timestamp,
}

/// A yes that a call uses up when it begins. It holds only for a call of the same scope with the same arguments and
/// the same definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The call that was approved.
    pub call: CallId,
    /// Hash of the arguments that were approved.
    pub arguments_hash: Arc<str>,
    /// Hash of the definition that was approved.
    pub definition_hash: Arc<str>,
    /// When it is used.
    pub at: Timestamp,
}
