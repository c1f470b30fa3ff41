//! Records of calls and approvals, and the storage ports.
//!
//! [`Ledger`] is the storage port for writes, cut by transaction: each method is one state change that commits
//! whole or not at all. Reads are narrow ports of their own ([`Journal`], [`Artifacts`], [`Approvals`], [`Switchboard`]), so
//! that a tool which pages a result can be given exactly that and nothing else. This room holds no storage:
//! `toolroom-store` implements the ports over SQLite, [`crate::testing::MemoryLedger`] in memory.

mod answerer;
mod approval;
mod artifact;
mod call_record;
mod standing;
mod switches;

pub use answerer::Answerer;
pub use approval::{
    Answer, AnswerWindow, Approval, Attempt, Decision, EXPIRED_RULE, EditCall, Grant, OpenQuestions,
    Question, QuestionState, UnreadableQuestion,
};
pub use artifact::{Artifact, ArtifactId};
pub use call_record::{
    CallFilter, CallId, CallRecord, CallStatus, RateKey, RateLimit, RateWindow, ToolUsage,
};
pub use standing::{AnswerId, Standing, StandingAnswer};
pub use switches::{SwitchState, Switches};

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::BoxFuture;
use crate::provenance::Tracks;
use crate::scope::{ProjectId, Scope};

/// Work that a closed call causes, committed together with it: a webhook, an email. The payload is opaque to
/// the kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Which worker takes it.
    pub kind: String,
    /// What that worker needs.
    pub payload: Value,
}

/// The *begun* row of a call, with what has to hold in the same transaction.
#[derive(Debug, Clone)]
pub struct BeginCall {
    /// The row, status [`CallStatus::Begun`].
    pub record: CallRecord,
    /// Limits that the transaction counts and holds, so that they are exact across processes.
    pub rates: Vec<RateLimit>,
    /// The approval this call uses up.
    pub grant: Option<Grant>,
}

/// The last row of a call and everything it causes.
#[derive(Debug, Clone)]
pub struct CloseCall {
    /// The complete row with its final status. Inserted when the call never began.
    pub record: CallRecord,
    /// The whole result, when the row holds a shortened one, and files that came with it.
    pub artifacts: Vec<Artifact>,
    /// Work to be done because of this call.
    pub enqueue: Vec<Action>,
    /// What becomes of the question this call was parked with, if it was.
    pub question: ParkedQuestion,
}

/// What the close of a call means for its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParkedQuestion {
    /// The call was never parked.
    #[default]
    None,
    /// The call ran; what was sealed for it goes.
    Settled,
    /// The approval no longer holds. Only if the call is still *pending*: a call that began meanwhile continues.
    Void,
    /// It was answered, or used, too late. Only if the call is still *pending*.
    Expired,
}

/// A call that waits for a person.
#[derive(Debug, Clone)]
pub struct ParkCall {
    /// The row, status [`CallStatus::Pending`].
    pub record: CallRecord,
    /// What exactly is asked, and of whom.
    pub approval: Approval,
}

/// Writes. The state change is queued when the method is called, behind all that are about the same call; the
/// future resolves once it is stored. Dropping the future does not cancel the write.
///
/// The durability follows from the record's effect class ([`crate::tool::Effect::writes`]):
/// pure and read calls survive the death of the process, all others the loss of power.
pub trait Ledger: Send + Sync {
    /// Writes the *begun* row, holds its rate limits and consumes its grant.
    fn begin(&self, begin: BeginCall) -> BoxFuture<'static, Result<(), BeginError>>;

    /// Writes a *pending* row and the approval it waits for.
    fn park(&self, park: ParkCall) -> BoxFuture<'static, Result<(), ParkError>>;

    /// Answers a waiting approval. A no closes the call as *denied* in the same transaction, and what outlives
    /// the question is stored in it, too.
    fn decide(&self, decision: Decision) -> BoxFuture<'static, Result<(), DecideError>>;

    /// Answers a waiting approval with other arguments, which are a call and a question of their own.
    fn edit(&self, edit: EditCall) -> BoxFuture<'static, Result<(), DecideError>>;

    /// Closes a call, keeps its artifacts and enqueues its actions.
    fn close(&self, close: CloseCall) -> BoxFuture<'static, Result<(), LedgerError>>;
}

/// Reads the record of calls.
pub trait Journal: Send + Sync {
    /// The newest calls that `filter` lets through, newest first: in the order in which they were written, which a
    /// clock that is set does not change.
    fn calls<'a>(
        &'a self,
        scope: &'a Scope,
        filter: CallFilter,
    ) -> BoxFuture<'a, Result<Vec<CallRecord>, LedgerError>>;

    /// One call by its id.
    fn call<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, LedgerError>>;

    /// How often each tool has been let run, and when last; for rankings.
    fn usage<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolUsage>, LedgerError>>;
}

/// Reads whole results.
pub trait Artifacts: Send + Sync {
    /// The artifact, if it exists and `scope` may see it.
    fn artifact<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<Artifact>, LedgerError>>;
}

/// Reads switches and standing answers.
pub trait Switchboard: Send + Sync {
    /// The current settings of a project, changes by other processes included.
    fn standing<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Arc<Standing>, LedgerError>>;
}

/// Reads questions.
pub trait Approvals: Send + Sync {
    /// The questions of calls that are still *pending*, oldest first, in the order in which they were parked. What waits
    /// for a client is no question to people, and not among them.
    fn questions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<OpenQuestions, LedgerError>>;

    /// One question by the id of its call, answered or not.
    fn question<'a>(
        &'a self,
        scope: &'a Scope,
        call: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<Question>, LedgerError>>;
}

/// Encrypts bytes. The kernel has no key: the builder of the toolroom provides the seal.
pub trait Seal: Send + Sync {
    /// Seals `plain`. Data sealed for one `purpose` cannot be opened for another.
    fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Opens what [`Seal::seal`] made for the same `purpose`.
    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError>;
}

/// Sealing, or opening, failed. The source says why; it is for the operator, never for a model.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the request cannot be sealed or unsealed")]
pub struct SealError(#[source] Arc<dyn Error + Send + Sync>);

impl SealError {
    /// Wraps the cause.
    #[must_use]
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(source.into()))
    }
}

/// All ports a toolroom stores its state through.
pub trait Storage: Ledger + Journal + Approvals + Switchboard + Tracks {}

impl<S: Ledger + Journal + Approvals + Switchboard + Tracks> Storage for S {}

/// Storage refused or failed. The source says why; it is for the operator, never for a model.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the ledger could not {action}")]
pub struct LedgerError {
    action: &'static str,
    #[source]
    source: Arc<dyn Error + Send + Sync>,
}

impl LedgerError {
    /// `action` completes the sentence "the ledger could not …".
    #[must_use]
    pub fn new(action: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { action, source: Arc::from(source.into()) }
    }
}

/// Why a call could not begin.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BeginError {
    /// A rate limit is used up.
    #[error("rate limit of {limit} reached, free again in {} s", retry_after.as_secs_f64().ceil().max(1.0))]
    RateLimited {
        /// The limit that was reached.
        limit: RateLimit,
        /// When the oldest counted call leaves the window.
        retry_after: Duration,
    },
    /// The approval was used, answered with no, or has expired.
    #[error("the approval is used up or has expired")]
    GrantSpent,
    /// The row could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Why a call could not be parked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ParkError {
    /// The key was changed, so the request could not be opened later. It has to be sealed again.
    #[error("the request is sealed with a key that is no longer in use")]
    StaleKey(#[source] LedgerError),
    /// The row could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Why an answer was not taken.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DecideError {
    /// Nothing waits under that id.
    #[error("no call waits for an answer under `{0}`")]
    NotWaiting(CallId),
    /// The rule asks for the operator's answer.
    #[error("this call has to be answered by the operator")]
    NotYours,
    /// It is another caller's call, or this caller may not answer at all.
    #[error(
        "this call has to be answered by another caller or the operator: a caller needs the scope `answer` for its own \
         calls, and `approve` for all others"
    )]
    NotOwn,
    /// The answer decides about more than this call.
    #[error("`{}` decides about later calls as well, which needs the scope `approve`", .0.as_str())]
    TooFar(Answer),
    /// A client runs the tool; only it can deliver.
    #[error(
        "this call waits for the result of the client that runs it; no answer of a person takes its place"
    )]
    OnlyClient,
    /// The row could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl DecideError {
    /// Whether a responder who answers as `by` may answer a question for `wanted`.
    ///
    /// # Errors
    /// When they may not; it says who has to.
    pub fn check(by: Answerer, wanted: Answerer) -> Result<(), Self> {
        match (by.may_answer_for(wanted), wanted) {
            (true, _) => Ok(()),
            (false, Answerer::Client) => Err(Self::OnlyClient),
            (false, Answerer::Caller | Answerer::Operator) => Err(Self::NotYours),
        }
    }
}
