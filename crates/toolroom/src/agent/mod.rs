//! The agent loop: a message in, tools called through the one path, an answer out.

pub mod compact;
mod hygiene;
mod inline;
mod inline_values;
mod prompt;
mod record;
mod repair;
mod status;
mod title;
pub mod tokens;
mod trim;

pub use hygiene::clean_input;
pub use inline::{InlineCall, Recovered, recover_calls};
pub use prompt::{
    CONTEXT_CHARS, DEFAULT_IDENTITY, LocalTime, MEMORY_CHARS, ON_DEVICE_MEMORY_CHARS, PromptParts,
    PromptTool, system_prompt,
};
pub use record::{AgentLimits, AgentRecord, Agents, DEFAULT_AGENT, OnDisconnect};
pub use repair::{LateAnswer, OpenCall, Repaired, repair};
pub use status::Status;
pub use title::title_of;
pub use tokens::Estimator;
pub use trim::{TooLarge, Trimmed, trim};
