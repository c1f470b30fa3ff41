//! The agent loop: a message in, tools called through the one path, an answer out.

mod record;
pub mod tokens;
mod trim;

pub use record::{AgentLimits, AgentRecord, Agents, DEFAULT_AGENT, OnDisconnect};
pub use tokens::Estimator;
pub use trim::{TooLarge, Trimmed, trim};
