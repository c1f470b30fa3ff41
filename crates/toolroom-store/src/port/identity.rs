//! Projects, keys, signed-in browsers, and replies stored under an idempotency key.

use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

/// An API key. Only its hash is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Public id.
    pub id: String,
    /// The project it belongs to.
    pub project: ProjectId,
    /// Display name.
    pub name: String,
    /// `prod` or `test`.
    pub environment: String,
    /// SHA-256 of the whole key, hexadecimal.
    pub sha256: String,
    /// Prefix and last four characters of the key.
    pub hint: String,
    /// Scopes.
    pub permissions: Vec<String>,
    /// Web origins that may use it; none, if empty.
    pub origins: Vec<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of expiry, if any.
    pub expires_at: Option<Timestamp>,
}

/// A key that is being replaced by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredKey {
    /// Its id.
    pub id: String,
    /// Both keys are valid until then.
    pub until: Timestamp,
}

/// A project. The local one exists without a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRecord {
    /// Its id.
    pub id: ProjectId,
    /// Display name.
    pub name: String,
    /// Whether its callers may use tools that reach into this machine.
    pub host_tools: bool,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// How a browser of the owner proves that it is signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInKind {
    /// A link that signs in one browser.
    Link,
    /// A browser session.
    Browser,
}

impl SignInKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Browser => "browser",
        }
    }
}

/// The idempotency key of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReplyName {
    /// The caller's project.
    pub project: ProjectId,
    /// The caller: each has keys of its own.
    pub caller: String,
    /// The key.
    pub name: String,
}

/// A stored reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReply {
    /// HTTP status.
    pub status: u16,
    /// Body.
    pub body: String,
}

/// The result of claiming an idempotency key for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyClaim {
    /// The key was unused: handle the request.
    New,
    /// The same request is in progress, or its process has died.
    InProgress,
    /// The same request has a reply.
    Stored(StoredReply),
    /// The key was used for another request.
    Mismatch,
}
