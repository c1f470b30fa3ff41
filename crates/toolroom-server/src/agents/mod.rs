//! Agents: their records, checks, and opening one with its models.

mod check;
mod open;
mod records;
mod save;

pub(crate) use check::{ID_PATTERN, check};
pub use open::{AgentChoice, OpenAgentError, OpenedAgent, conversations, open};
pub(crate) use records::unknown_parts;
pub use records::{AgentOrigin, ListedAgent, record, records, stored};
pub(crate) use save::{SaveAgentError, check_not_configured, holds_secret, record_from_fields, remove, save};
