//! Approvals: questions to people, and their answers.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answerer, CallId, CallRecord, LedgerError, ParkCall, StandingAnswer};
use crate::clock::Timestamp;
use crate::scope::Scope;
use crate::tool::ClientTool;

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
    /// The whole request, sealed, so that exactly it can run later. Deleted as soon as it cannot run any more: after a
    /// refusal, when it has expired, and when the call is closed.
    pub sealed: Option<Arc<[u8]>>,
}

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionState {
    /// Not answered yet.
    Waiting,
    /// Answered with yes, and not yet used.
    Granted,
    /// Answered with yes, and the call has begun.
    Used,
    /// Answered with no.
    Refused,
    /// Not answered, or the approval not used, in time.
    Expired,
    /// An approval that no longer holds: the definition, a switch or a rule has changed since.
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
    /// Its state. A question that has expired but is not closed yet keeps its earlier state.
    pub state: QuestionState,
    /// The answer.
    pub answer: Option<Answer>,
    /// As whom it was given.
    pub answered_by: Option<Answerer>,
    /// The call that took its place, if the arguments were edited.
    pub replaced_by: Option<CallId>,
}

impl Question {
    /// When it can be answered, and the answer be used.
    #[must_use]
    pub fn answer_window(&self) -> AnswerWindow {
        AnswerWindow { asked_at: self.record.asked_at, expires_at: self.approval.expires_at }
    }

    /// Whether it waits for the client that runs the tool: no approval is needed, or it was given.
    #[must_use]
    pub fn waits_for_client(&self) -> bool {
        match self.state {
            QuestionState::Waiting => self.approval.by == Answerer::Client,
            QuestionState::Granted => ClientTool::has_id(&self.record.tool),
            QuestionState::Used | QuestionState::Refused | QuestionState::Expired | QuestionState::Void => {
                false
            }
        }
    }

    /// Whether an answer, or the use of one, comes too late.
    #[must_use]
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.answer_window().is_over(now)
    }
}

/// The open questions of a scope.
#[derive(Debug, Clone, Default)]
pub struct OpenQuestions {
    /// The questions.
    pub questions: Vec<Question>,
    /// Those that cannot be read.
    pub unreadable: Vec<UnreadableQuestion>,
}

/// A question that cannot be read, because it is damaged or written by a newer version. It cannot be answered here, and
/// expires.
#[derive(Debug, Clone)]
pub struct UnreadableQuestion {
    /// The parked call.
    pub call: CallId,
    /// Why not.
    pub error: LedgerError,
}

/// The time in which a question can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerWindow {
    /// When the call was asked for.
    pub asked_at: Timestamp,
    /// From this instant on the answer is no.
    pub expires_at: Timestamp,
}

impl AnswerWindow {
    /// How far the clocks of processes that share a ledger may be apart, or one of them be set back.
    pub const CLOCK_SLACK: Duration = Duration::from_secs(300);

    /// Whether the time is over. Also true for a question from the future: it was asked while a clock was wrong, and must
    /// not stay open until that time.
    #[must_use]
    pub fn is_over(self, now: Timestamp) -> bool {
        self.expires_at <= now || self.asked_at > Self::latest_start(now)
    }

    /// A question asked later than this counts as from the future.
    #[must_use]
    pub fn latest_start(now: Timestamp) -> Timestamp {
        now.after(Self::CLOCK_SLACK)
    }
}

/// The rule of a question that was not answered, or whose approval was not used, in time.
pub const EXPIRED_RULE: &str = "approval.expired";

/// What a person says to an [`Approval`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// The scope of the responder. Other projects and users do not see the question.
    pub scope: Scope,
    /// The answer.
    pub answer: Answer,
    /// As whom it was given.
    pub by: Answerer,
    /// When.
    pub at: Timestamp,
    /// What outlives the question, committed together with the answer.
    pub standing: Option<StandingAnswer>,
}

/// Other arguments for a parked call, on their way to the ledger: the old question is answered and the new one
/// asked in one transaction. The new one is granted once if the editor may answer it, and waits otherwise.
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
    pub attempt: Attempt,
}

/// Whether an approved call begins, or is retried because its process died in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// It has never begun: the grant is unused and the call *pending*.
    First,
    /// It began and its outcome is unknown: the grant is used and the call *unknown*. Only calls whose effect
    /// class allows it begin again ([`crate::tool::Effect::may_repeat`]).
    Retry,
}
