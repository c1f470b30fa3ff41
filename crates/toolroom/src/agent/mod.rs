//! The agent loop: a message in, tools called through the one path, an answer out.

mod record;
mod repair;
pub mod tokens;
mod trim;

pub use record::{AgentLimits, AgentRecord, Agents, DEFAULT_AGENT, OnDisconnect};
pub use repair::{LateAnswer, OpenCall, Repaired, repair};
pub use tokens::Estimator;
pub use trim::{TooLarge, Trimmed, trim};
