//! The agent loop: a message in, tools called through the one path, an answer out.
//!
//! [`Agent::send`] begins a run and works until it ends or waits; [`Agent::resume`] continues one that waits or was
//! interrupted. One round is in `cycle.rs`: answer open calls, check limits, compact, ask the model, store its answer. The
//! loop does not wait for people: a run whose calls ask is stored as *waiting*.
//!
//! A conversation grows by whole steps, and calls are stored before they are made. After a crash the next process finds in
//! the journal how each call ended, and makes none twice.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tokio_util::sync::CancellationToken;
//! use toolroom::agent::{Agent, AgentRecord, Candidate, SendRequest};
//! use toolroom::model::{Answer, Block, Model, ModelError, ModelEvent, ModelRequest, StopReason, Usage};
//! use toolroom::testing::MemoryConversations;
//! use toolroom::{BoxFuture, Toolroom};
//!
//! /// Repeats the message.
//! struct Parrot;
//!
//! impl Model for Parrot {
//!     fn name(&self) -> &str {
//!         "pet/parrot"
//!     }
//!
//!     fn ask<'a>(
//!         &'a self,
//!         request: &'a ModelRequest,
//!         _told: &'a mut (dyn FnMut(ModelEvent) + Send),
//!         _cancellation: &'a CancellationToken,
//!     ) -> BoxFuture<'a, Result<Answer, ModelError>> {
//!         let heard = request.messages.last().map(|message| message.text()).unwrap_or_default();
//!         let blocks = vec![Block::text(format!("{heard}!"))];
//!         let answer = Answer { blocks, stop: StopReason::Done, usage: Usage::default(), model: None };
//!         Box::pin(async move { Ok(answer) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let conversations = Arc::new(MemoryConversations::new());
//! let chain = [Candidate::new(Arc::new(Parrot))];
//! let agent = Agent::new(Toolroom::in_memory(), conversations, AgentRecord::default(), chain)?;
//! let report = agent.send(SendRequest::new("Hello")).await?;
//! assert_eq!(report.text, "Hello!");
//!
//! let again = SendRequest::new("Goodbye").conversation(report.run.conversation);
//! assert_eq!(agent.send(again).await?.text, "Goodbye!");
//! # Ok(())
//! # }
//! ```

mod active_run;
#[expect(clippy::module_inception, reason = "the room is named after the one thing in it that people make")]
mod agent;
mod agent_record;
mod ask;
mod client_tools;
mod compact;
mod cycle;
mod event_sink;
mod inline;
mod inline_values;
mod prompt;
mod provenance;
mod repair;
mod rerank;
mod run_facts;
mod run_request;
mod sanitize;
mod selection;
mod settle;
mod shrink;
mod status_line;
mod thread;
mod title;
mod tokens;
mod tool_calls;
mod tools;
mod trim;

pub use agent::{Agent, LocalClock};
pub use agent_record::{AgentLimits, AgentRecord, Agents, DEFAULT_AGENT, OnDisconnect};
pub use ask::Candidate;
pub use client_tools::ClientCall;
pub use inline::{InlineCall, Recovered, recover_calls, without_calls};
pub use prompt::LocalTime;
pub use run_facts::RunFacts;
pub use run_request::{EventListener, ResumeRun, RunError, RunReport, SendRequest};
pub use sanitize::clean_input;
pub use status_line::StatusLine;
