//! The agent loop: a message in, tools called through the one path, an answer out.
//!
//! [`Agent::send`] begins a run and works until nothing more happens by itself; [`Agent::resume`] goes on with one that
//! waits or was broken off. In between stands one round, in `cycle.rs`: answer open calls, look at limits, make room, ask,
//! keep what was said. Nothing waits for people: a run whose calls ask is kept as *waiting*.
//!
//! A conversation only grows by whole steps, and a call is kept before it is made. So whatever breaks off, the next
//! process finds in the journal what became of each call, and none is made twice.
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
//! /// Says what it was told.
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

#[expect(clippy::module_inception, reason = "the room is named after the one thing in it that people make")]
mod agent;
mod ask;
mod brought;
mod calls;
mod candidate;
mod compact;
mod conceal;
mod cycle;
mod held;
mod hygiene;
mod inline;
mod inline_values;
mod overheard;
mod prompt;
mod provenance;
mod record;
mod repair;
mod request;
mod rerank;
mod run_facts;
mod selection;
mod settle;
mod shrink;
mod status;
mod teller;
mod thread;
mod title;
mod tokens;
mod tools;
mod trim;
mod working;

pub use agent::{Agent, Wall};
pub use brought::Handed;
pub use candidate::Candidate;
pub use hygiene::clean_input;
pub use inline::{InlineCall, Recovered, recover_calls, without_calls};
pub use prompt::LocalTime;
pub use record::{AgentLimits, AgentRecord, Agents, DEFAULT_AGENT, OnDisconnect};
pub use request::{ResumeRun, RunError, RunReport, SendRequest, Watcher};
pub use run_facts::RunFacts;
pub use status::Status;
