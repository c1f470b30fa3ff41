//! The agent loop: a message in, tools called through the one path, an answer out.

mod record;
mod run_facts;

pub use record::{AgentLimits, AgentRecord, Agents, DEFAULT_AGENT, OnDisconnect};
pub use run_facts::RunFacts;
