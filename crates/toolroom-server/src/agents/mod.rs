//! Agents: where they are kept, what may be said about them, and how one is made ready to be asked.

mod check;
mod keep;
mod open;
mod records;

pub(crate) use check::{ID_PATTERN, check};
pub(crate) use keep::{KeepAgentError, holds_secret, keep, of_fields, refuse_written, remove};
pub use open::{Choice, OpenAgentError, Opened, conversations, open};
pub(crate) use records::unknown_parts;
pub use records::{AgentOrigin, Known, record, records, stored};
