//! For tests, ours and yours: a ledger and memories that live in memory, a clock you set, and a bench for one tool.
//!
//! Nothing here is a mock of the call path: a [`Bench`] makes real calls through every station.

mod bench;
mod clock;
mod conversations;
mod ledger;
mod memories;
mod seal;
mod unguarded;

pub use bench::Bench;
pub use clock::ManualClock;
pub use conversations::MemoryConversations;
pub use ledger::MemoryLedger;
pub use memories::MemoryMemories;
pub use seal::NoSeal;
pub use unguarded::unguarded;
