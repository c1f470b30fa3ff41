//! The agent loop: a message in, tools called through the one path, an answer out.

#[expect(clippy::module_inception, reason = "the room is named after the one thing in it that people make")]
mod agent;
mod ask;
mod calls;
mod candidate;
mod cycle;
mod hygiene;
mod record;
mod request;
mod settle;
mod status;
mod teller;
mod title;
mod tools;
mod working;

pub use agent::{Agent, LocalTime};
pub use candidate::Candidate;
pub use hygiene::clean_input;
pub use record::{AgentLimits, AgentRecord, Agents, DEFAULT_AGENT, OnDisconnect};
pub use request::{ResumeRun, RunError, RunReport, SendRequest, Watcher};
pub use status::Status;
pub use title::title;
