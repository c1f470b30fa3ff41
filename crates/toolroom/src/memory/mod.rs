//! Memories of users, and their storage port.
//!
//! A memory is a short text under a key, with a category, a count of how often it proved right, and where it came from.
//! Memories belong to one user of a project. They are data: the prompt marks them as such, and nothing in them is an
//! instruction. The tools that write memories live in `toolroom-tools`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::conversation::AgentId;
use crate::ledger::LedgerError;
use crate::policy::Provenance;
use crate::scope::Scope;

/// Confirmations a memory needs before it may become part of an agent's prompt.
pub const PROMOTION_HITS: u64 = 5;

/// The kind of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Category {
    /// Anything.
    #[default]
    General,
    /// Something that was learned.
    Learning,
    /// Something that went wrong, and what helps.
    Error,
    /// What the user likes.
    Preference,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 4] = [Self::General, Self::Learning, Self::Error, Self::Preference];

    /// The name used by tools and in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::General => "GENERAL",
            Self::Learning => "LEARNING",
            Self::Error => "ERROR",
            Self::Preference => "PREFERENCE",
        }
    }

    /// The category of that name, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Its key.
    pub key: String,
    /// Its content.
    pub content: String,
    /// Its category.
    pub category: Category,
    /// How often it was confirmed, from 1.
    pub hits: u64,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The provenance of the conversation that stored it.
    #[serde(default, skip_serializing_if = "Provenance::is_none")]
    pub stored_under: Provenance,
    /// When it was first stored.
    pub created_at: Timestamp,
    /// When it was last changed or reinforced.
    pub updated_at: Timestamp,
}

impl Memory {
    /// The provenance that reading this memory adds.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        Provenance { outward: false, mildly_private: true, ..self.stored_under }
    }
}

/// A memory to store. For an existing key the content is replaced; fields that are `None` keep their value, and so do the
/// count and the first date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remember {
    /// Its key.
    pub key: String,
    /// Its content.
    pub content: String,
    /// Its category.
    pub category: Option<Category>,
    /// Where it came from.
    pub source: Option<String>,
    /// The provenance of the conversation.
    pub stored_under: Provenance,
}

/// A memory that became part of an agent's prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// The agent.
    pub agent: AgentId,
    /// The text added to its prompt.
    pub addition: String,
    /// The memory, which is restored if the promotion is undone.
    pub memory: Memory,
    /// When.
    pub at: Timestamp,
}

/// Stores memories. Every method sees only the memories of its scope: those of a project without a user are not those of
/// its users.
pub trait Memories: Send + Sync {
    /// Stores a memory and returns it as it is now.
    fn remember<'a>(&'a self, scope: &'a Scope, what: Remember)
    -> BoxFuture<'a, Result<Memory, LedgerError>>;

    /// Forgets; says whether there was something.
    fn forget<'a>(&'a self, scope: &'a Scope, key: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Counts that it proved right once more; `None` if there is no such memory.
    fn reinforce<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Memory>, LedgerError>>;

    /// One memory by its key.
    fn memory<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Memory>, LedgerError>>;

    /// All of them, the newest first.
    fn memories<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Memory>, LedgerError>>;

    /// Makes a memory with at least [`PROMOTION_HITS`] part of an agent's prompt and forgets it, in one transaction;
    /// `None` if there is no such memory or it has proved right too seldom.
    fn promote<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
        agent: &'a AgentId,
        addition: &'a str,
    ) -> BoxFuture<'a, Result<Option<Promotion>, LedgerError>>;

    /// Takes a promotion back and remembers again what was remembered before, unless something else is by now;
    /// `None` if nothing of that key was promoted.
    fn demote<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
        agent: &'a AgentId,
    ) -> BoxFuture<'a, Result<Option<Promotion>, LedgerError>>;

    /// What was made part of an agent's prompt, the oldest first.
    fn promotions<'a>(
        &'a self,
        scope: &'a Scope,
        agent: &'a AgentId,
    ) -> BoxFuture<'a, Result<Vec<Promotion>, LedgerError>>;
}
