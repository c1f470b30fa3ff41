//! What every back end of the store offers.
//!
//! The interface is the kernel's storage ports ([`toolroom::ledger`], [`toolroom::conversation`], [`toolroom::memory`], …)
//! and [`crate::Store`]. This module holds what they leave open: the guarantees below, the options and errors of a store,
//! and the records of its own methods. `tests/it/conformance` checks the guarantees of a back end.
//!
//! # Guarantees
//!
//! - **State changes are atomic.** Each method of the ledger commits its change whole or not at all, together with the
//!   work that it enqueues.
//! - **A grant is used once.** The transaction that inserts the *begun* row consumes the grant. Of several processes that
//!   resume a call, one begins it. The same holds for answers, edits and one-time sign-in links.
//! - **A final status stays.** Only an open call, or one whose end is unknown, can be closed, and only by the process
//!   that began it last.
//! - **Rates are exact** across processes: calls are counted in the transaction that inserts the *begun* row.
//! - **Order.** Writes about one call are applied in the order of the method calls, also if the caller does not wait in
//!   between. Calls, runs and conversations are listed newest first, questions oldest first, entries and events by number.
//!   A process reads its own writes.
//! - **Settings are current.** Switches, standing answers, projects and keys that a process committed apply to the next
//!   call of every process.
//! - **Durability by effect class.** What is acknowledged survives `kill -9`. Calls that write, questions and
//!   answers, settings, memories and enqueued work also survive a power failure: they are committed with a full sync,
//!   before the effect and after. A power failure may lose the last rows of everything else: calls without side effects,
//!   conversations and runs, tracks, background programs.
//! - **Recovery.** Calls of a dead process become *unknown*, and its runs can be taken over; both only once the process is
//!   known to be dead ([`ProcessIdentity`]).
//! - **Scopes.** A method with a scope neither reads nor changes rows of another project, nor, if the scope has a user, of
//!   another user.

mod change_counter;
mod error;
mod identity;
mod process;
mod records;
mod report;
mod write_ahead_file;

use std::sync::Arc;

pub use change_counter::{ChangeCounter, Revision};
pub(crate) use change_counter::{MAX_CACHE_AGE, invalidate};
pub use error::StoreError;
pub use identity::{KeyRecord, ProjectRecord, ReplyClaim, ReplyName, RetiredKey, SignInKind, StoredReply};
pub(crate) use process::InstanceRow;
pub use process::{LivenessProbe, ProcessIdentity};
pub use records::{
    ArtifactFacts, ResealedValue, SealedLocation, SealedSecret, SealedValue, ServerEntry, StoredArtifact,
    TrustedFile,
};
pub use report::{
    BackupFacts, ConversationCounts, CountedCalls, InstanceStatus, PruneReport, StoreHealth, StoreStatus,
};
pub use write_ahead_file::{PART_BYTES, WriteAheadFile};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// This process.
    pub process: ProcessIdentity,
    /// Without a change counter, settings are read for every call.
    pub change_counter: Option<Arc<dyn ChangeCounter>>,
    /// Without a write-ahead file, every call waits for the database.
    pub write_ahead: Option<Arc<dyn WriteAheadFile>>,
}

impl StoreOptions {
    /// Options without a change counter and without a write-ahead file.
    #[must_use]
    pub const fn new(process: ProcessIdentity) -> Self {
        Self { process, change_counter: None, write_ahead: None }
    }
}
