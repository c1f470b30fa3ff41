//! Conversations, the runs inside them, and the port through which they are kept.
//!
//! A conversation is a list of [`ConversationEntry`]s that only grows: what was said, and summaries that stand for what is too long
//! to be sent again. A [`Run`] is what follows from one message: the model is asked, tools are called, until there is an
//! answer or somebody has to be asked. [`Conversations`] keeps both, cut by transaction like the ledger: a step of a run
//! commits whole or not at all, so that after the death of the process the next one finds a thread that can go on.
//!
//! [`RunEvent`]s are what watchers see of a run. This room holds no storage and asks no model.

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
