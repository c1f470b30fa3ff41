//! What a person is asked, and what they answer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallId, CallRecord, ParkCall, StandingAnswer};
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
    /// The name's answerer.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Caller, Self::Operator].into_iter().find(|answerer| answerer.as_str() == name)
    }

    /// Whether somebody of `scope` who answers as `self` may answer a question about a call of `owner`: the operator for
    /// everybody in sight, a caller for their own calls alone.
    #[must_use]
    pub fn is_at_home(self, scope: &Scope, owner: &Scope) -> bool {
        match self {
            Self::Operator => scope.covers(owner),
            Self::Caller => scope == owner,
        }
    }

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
    /// The whole request, sealed, so that exactly what was asked can be run later. Gone as soon as nothing can
    /// run any more: after a no, when it has expired, and when the call is closed.
    pub sealed: Option<Arc<[u8]>>,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionState {
    /// Nobody has answered.
    Waiting,
    /// Answered with yes, and not yet used.
    Granted,
    /// Answered with yes, and the call has begun.
    Used,
    /// Answered with no.
    Refused,
    /// Nobody answered, or nobody used the yes, in time.
    Expired,
    /// A yes that no longer holds: the definition, a switch or a rule has changed since.
    Void,
}

impl QuestionState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Granted, Self::Used, Self::Refused, Self::Expired, Self::Void];

    /// The name used in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Granted => "granted",
            Self::Used => "used",
            Self::Refused => "refused",
            Self::Expired => "expired",
            Self::Void => "void",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// A parked call, what is asked about it, and what has been answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The call's row.
    pub record: CallRecord,
    /// What is asked.
    pub approval: Approval,
    /// Where it stands. An expiry that nobody has written down yet still reads as it was before.
    pub state: QuestionState,
    /// What was said.
    pub answer: Option<Answer>,
    /// As whom it was said.
    pub answered_by: Option<Answerer>,
    /// The call that took its place, if the arguments were edited.
    pub replaced_by: Option<CallId>,
}

impl Question {
    /// Whether an answer, or the use of one, comes too late.
    #[must_use]
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.approval.expires_at <= now
    }
}

/// What a person says to an [`Approval`].
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
    /// Not like this, but with other arguments: those are a call of their own.
    Edit,
}

impl Answer {
    /// Every answer.
    pub const ALL: [Self; 7] =
        [Self::Once, Self::Session, Self::Always, Self::No, Self::Never, Self::Stop, Self::Edit];

    /// The answer of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == name)
    }

    /// What the row of a call says that was answered so; `None` for a yes.
    #[must_use]
    pub const fn refusal(self) -> Option<&'static str> {
        match self {
            Self::Once | Self::Session | Self::Always => None,
            Self::No => Some("a person said no"),
            Self::Never => Some("a person said no, and never to ask again"),
            Self::Stop => Some("a person said no, and to end the run"),
            Self::Edit => Some("its arguments were edited; another call takes its place"),
        }
    }

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
            Self::Edit => "edit",
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
    /// What outlives the question, committed together with the answer.
    pub standing: Option<StandingAnswer>,
}

/// Other arguments for a parked call, on their way to the ledger: the old question is answered and the new one
/// asked in one transaction. The new one is granted once if whoever edits may answer it, and waits otherwise.
#[derive(Debug, Clone)]
pub struct EditCall {
    /// The parked call whose arguments were edited.
    pub of: CallId,
    /// Who edits.
    pub scope: Scope,
    /// As whom.
    pub by: Answerer,
    /// When.
    pub at: Timestamp,
    /// The call with the other arguments.
    pub park: ParkCall,
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
    /// Whether the call begins for the first time.
    pub turn: Turn,
}

/// Whether an approved call begins, or begins anew because its first process died in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// It has never begun: the grant is unused and the call *pending*.
    First,
    /// It began and nobody knows how it ended: the grant is used and the call *unknown*. Only calls whose effect
    /// class allows it begin again ([`crate::tool::Effect::may_repeat`]).
    Again,
}
