//! Conversations, their runs, and the storage port.
//!
//! A conversation is a growing list of [`ConversationEntry`]s: messages, and summaries that replace what is too long to be
//! sent again. A [`Run`] is what follows from one message: the model is asked, tools are called, until there is an
//! answer or a call waits. [`Conversations`] stores both, cut by transaction like the ledger: a step of a run commits whole
//! or not at all, so that after a crash the next process finds a thread that it can continue.
//!
//! [`RunEvent`]s are what listeners see of a run.

mod entries;
mod event;
mod port;
mod run;

pub use entries::{Content, Conversation, ConversationEntry, ConversationId, Summary};
pub use event::{CallNotice, NumberedEvent, RunEvent};
pub use port::{
    BeginRun, BeginRunError, ConversationFilter, Conversations, PastRequest, RunFilter, RunStep, Spending,
    Spent, StepError, TakeRunError, UsageRow,
};
pub use run::{AgentId, Run, RunFailure, RunId, RunState};
