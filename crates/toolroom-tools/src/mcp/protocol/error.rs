//! What can go wrong between us and a server.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolroom::ledger::LedgerError;
use toolroom_host::net::NetError;
use toolroom_host::process::ProcessError;

/// A server answers with it where the version that was named is none of its own.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// Why a server did not do what it was asked for. It can be cloned: one lost connection ends many calls.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// Its program was not started.
    #[error("the server was not started: {0}")]
    Start(#[source] ProcessError),
    /// Its program cannot be confined as its entry says.
    #[error("the server was not started, as it has to be confined: {reason}")]
    Confinement {
        /// What is in the way.
        reason: String,
    },
    /// A secret that its entry names is not there.
    #[error("the server cannot be used: {why}")]
    MissingSecret {
        /// Which one, and what to do.
        why: String,
    },
    /// What was seen of it, or accepted, cannot be kept or read, so that it is not used.
    #[error("the server cannot be used: {0}")]
    Unkept(#[source] Arc<LedgerError>),
    /// It is not what it was when this connection was made.
    #[error("what is said about the server has changed; try again")]
    Replaced,
    /// It took too long until it could be used.
    #[error("the server could not be used within {} s: it has to begin and to list its tools in that time", .after.as_secs())]
    TooSlow {
        /// How long it was waited for.
        after: Duration,
    },
    /// Nobody waited until it could be used.
    #[error("nobody waited until the server could be used")]
    Abandoned,
    /// What was to be asked was never sent.
    #[error("{0}")]
    Unsent(#[source] Arc<Self>),
    /// It went away.
    #[error("the server has ended: {how}")]
    Ended {
        /// What is known about it.
        how: String,
    },
    /// Its connection is not usable any more.
    #[error("the connection to the server is closed: {why}")]
    Closed {
        /// Why.
        why: String,
    },
    /// Nothing can be written to it.
    #[error("nothing can be said to the server")]
    Unwritable(#[source] Arc<io::Error>),
    /// The network, or what guards it.
    #[error(transparent)]
    Net(#[from] NetError),
    /// It answered with a status that is none of the protocol.
    #[error("the server answers with status {status}{}", said(.text))]
    Status {
        /// The status.
        status: u16,
        /// The beginning of what it said.
        text: String,
    },
    /// It does not know the session any more.
    #[error("the server has forgotten the session")]
    SessionLost,
    /// It lets nobody in without signing in.
    #[error("the server wants to know who asks: {why}")]
    Unauthorized {
        /// What is missing, and what to do.
        why: String,
    },
    /// It did not answer.
    #[error("the server did not answer `{method}` within {} s", .after.as_secs())]
    Silent {
        /// What it was asked.
        method: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// It said no, in the words of the protocol.
    #[error("the server refuses: {message} (code {code})")]
    Refused {
        /// The code.
        code: i64,
        /// Its text, shortened.
        message: String,
        /// What it added.
        data: Option<Value>,
    },
    /// What it said is not the protocol.
    #[error("the server does not keep to the protocol: {0}")]
    Nonsense(String),
    /// It said more than is taken.
    #[error("{what} of the server is refused: more than {limit} are not taken")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// The limit, with its unit.
        limit: String,
    },
    /// It wants to ask a person in the middle of a call, and nobody is there.
    #[error(
        "the server wants to ask a person something in the middle of the call, which is not possible here"
    )]
    WantsInput,
    /// There is no version both speak.
    #[error("the server speaks {offered}, and none of the versions we know")]
    Version {
        /// What it offered.
        offered: String,
    },
    /// It was tried too often lately.
    #[error("the server failed {times} times within {} s and is not started again: {last}", .within.as_secs())]
    GivenUp {
        /// How often.
        times: usize,
        /// In which time.
        within: Duration,
        /// Why, the last time.
        last: String,
    },
}

impl McpError {
    /// Whether this may be the answer of a server that is older than the question.
    pub(crate) fn may_be_older(&self) -> bool {
        match self {
            Self::Refused { .. } | Self::Silent { .. } | Self::Nonsense(_) | Self::SessionLost => true,
            Self::Status { status, .. } => (400..500).contains(status),
            _ => false,
        }
    }

    /// The same about a request that never left.
    pub(crate) fn unsent(self) -> Self {
        Self::Unsent(Arc::new(self))
    }

    /// Whether the server may have done what it was asked for all the same.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        match self {
            Self::Ended { .. } | Self::Closed { .. } | Self::Silent { .. } | Self::Nonsense(_) => true,
            Self::TooMuch { .. } => true,
            Self::Net(error) => !matches!(
                error,
                NetError::BadUrl(_)
                    | NetError::BadHeader { .. }
                    | NetError::Refused { .. }
                    | NetError::Unresolvable { .. }
                    | NetError::Connect { .. }
                    | NetError::Tls { .. }
            ),
            Self::Status { status, .. } => *status >= 500,
            _ => false,
        }
    }
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
