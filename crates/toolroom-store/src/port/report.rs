//! Figures of a database: status, health, backups, pruning.

use std::path::PathBuf;

use toolroom::clock::Timestamp;

/// Location, size and versions of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStatus {
    /// The file.
    pub path: PathBuf,
    /// The newest migration it has seen.
    pub schema: i64,
    /// Its size, without the write-ahead log.
    pub bytes: u64,
    /// The version of SQLite.
    pub sqlite: String,
}

/// The state of a database, for diagnosis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreHealth {
    /// SQLite's journal mode; `wal`, unless something is wrong.
    pub journal_mode: String,
    /// SQLite's sync mode for calls without side effects.
    pub sync_pure: &'static str,
    /// SQLite's sync mode for everything else.
    pub sync_writes: &'static str,
    /// The newest migration it has seen.
    pub schema: i64,
    /// Its size, without the write-ahead log.
    pub bytes: u64,
    /// Size of the content of the write-ahead log.
    pub wal_bytes: u64,
    /// When the newest call arrived.
    pub newest_at: Option<Timestamp>,
    /// Questions that can still be answered, or whose answer can still be used.
    pub open_questions: u64,
    /// Questions that have expired and are not closed yet; the next start closes them.
    pub overdue: u64,
    /// Processes with open calls or runs, alive or dead.
    pub instances: Vec<InstanceStatus>,
    /// The version of SQLite.
    pub sqlite: String,
}

/// A process that shares the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceStatus {
    /// Its machine.
    pub machine: String,
    /// PID and start time.
    pub process: String,
    /// Its last heartbeat.
    pub heartbeat_at: Timestamp,
    /// Whether it is this process.
    pub is_this: bool,
    /// Whether it is alive; `None` when it cannot be probed from here and only its heartbeat can tell.
    pub is_alive: Option<bool>,
}

/// How many conversations and memories are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationCounts {
    /// Conversations.
    pub conversations: u64,
    /// Memories.
    pub memories: u64,
}

/// The content of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupFacts {
    /// The newest migration it has seen.
    pub schema: i64,
    /// Calls.
    pub calls: u64,
    /// Questions, open or closed.
    pub approvals: u64,
    /// Sealed secrets.
    pub secrets: u64,
    /// Standing answers.
    pub answers: u64,
    /// Whole results.
    pub artifacts: u64,
    /// Conversations.
    pub conversations: u64,
    /// Memories.
    pub memories: u64,
}

/// What was, or would be, deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Calls.
    pub calls: u64,
    /// Whole results.
    pub artifacts: u64,
    /// Conversations.
    pub conversations: u64,
    /// Size of contents that are no longer referenced, and of conversation entries.
    pub bytes: u64,
}

impl PruneReport {
    /// The sum of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            artifacts: self.artifacts.saturating_add(other.artifacts),
            conversations: self.conversations.saturating_add(other.conversations),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// Calls of a tool that a rate limit or another counter still needs, and that pruning therefore leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedCalls {
    /// The tool.
    pub tool: String,
    /// Calls that began after this time.
    pub since: Timestamp,
}
