//! Errors between the client and an MCP server.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolroom::ledger::LedgerError;
use toolroom_host::net::NetError;
use toolroom_host::process::ProcessError;

/// JSON-RPC error code: the server does not support the requested protocol version.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// Why a request failed. Cloneable, because one lost connection fails many requests.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The program cannot be started.
    #[error("the server was not started: {0}")]
    Start(#[source] ProcessError),
    /// The program cannot be sandboxed as its entry says.
    #[error("the server was not started because it cannot be sandboxed: {reason}")]
    Confinement {
        /// The reason.
        reason: String,
    },
    /// A secret of its entry is missing.
    #[error("the server cannot be used: {why}")]
    MissingSecret {
        /// Which secret, and what to do.
        why: String,
    },
    /// Its condition or definitions cannot be stored or read.
    #[error("the server cannot be used: {0}")]
    Storage(#[source] Arc<LedgerError>),
    /// Its entry has changed since the connection was opened.
    #[error("the configuration of the server has changed; try again")]
    EntryChanged,
    /// The handshake and the first list of tools took too long.
    #[error("the server did not start and list its tools within {} s", .after.as_secs())]
    StartTimeout {
        /// The time limit.
        after: Duration,
    },
    /// The attempt to connect was aborted.
    #[error("the start of the server was aborted")]
    StartAborted,
    /// The request was never sent.
    #[error("{0}")]
    NotSent(#[source] Arc<Self>),
    /// Its program has ended.
    #[error("the server has ended: {how}")]
    Exited {
        /// How it ended.
        how: String,
    },
    /// The connection is closed.
    #[error("the connection to the server is closed: {why}")]
    Closed {
        /// The reason.
        why: String,
    },
    /// A message cannot be written to the program.
    #[error("cannot write to the server")]
    Write(#[source] Arc<io::Error>),
    /// A network error, or a violation of the egress policy.
    #[error(transparent)]
    Net(#[from] NetError),
    /// An HTTP status that is not part of the protocol.
    #[error("the server responded with status {status}{}", with_colon(.text))]
    Status {
        /// The status.
        status: u16,
        /// The beginning of the body.
        text: String,
    },
    /// The server no longer knows the session.
    #[error("the server has ended the session")]
    SessionLost,
    /// It requires credentials.
    #[error("the server requires authentication: {why}")]
    Unauthorized {
        /// The reason, and what to do.
        why: String,
    },
    /// No response in time.
    #[error("the server did not answer `{method}` within {} s", .after.as_secs())]
    Timeout {
        /// The method of the request.
        method: String,
        /// The timeout.
        after: Duration,
    },
    /// It responded with a JSON-RPC error.
    #[error("the server returned an error: {message} (code {code})")]
    Rpc {
        /// The error code.
        code: i64,
        /// Its message, shortened.
        message: String,
        /// Additional data.
        data: Option<Value>,
    },
    /// It violates the protocol.
    #[error("the server violates the protocol: {0}")]
    Protocol(String),
    /// It exceeds a limit.
    #[error("{what} of the server exceeds the limit of {limit}")]
    LimitExceeded {
        /// What exceeds the limit.
        what: &'static str,
        /// The limit, with its unit.
        limit: String,
    },
    /// It requires input that only a user could give.
    #[error("the server asks for user input during the call, which is not supported")]
    InputRequired,
    /// No common protocol version.
    #[error("the server uses the unsupported protocol version {offered}")]
    UnsupportedVersion {
        /// The server's version.
        offered: String,
    },
    /// It failed too often recently.
    #[error("the server failed {times} times within {} s and is not started again: {last}", .within.as_secs())]
    TooManyFailures {
        /// The number of failures.
        times: usize,
        /// The time window.
        within: Duration,
        /// The last failure.
        last: String,
    },
}

impl McpError {
    /// Whether a server of the session era may answer `server/discover` like this.
    pub(crate) fn may_be_older(&self) -> bool {
        match self {
            Self::Rpc { .. } | Self::Timeout { .. } | Self::Protocol(_) | Self::SessionLost => true,
            Self::Status { status, .. } => (400..500).contains(status),
            _ => false,
        }
    }

    /// Marks the error as one of a request that was never sent.
    pub(crate) fn not_sent(self) -> Self {
        Self::NotSent(Arc::new(self))
    }

    /// Whether the server may have executed the request nevertheless.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        match self {
            Self::Exited { .. } | Self::Closed { .. } | Self::Timeout { .. } | Self::Protocol(_) => true,
            Self::LimitExceeded { .. } => true,
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

fn with_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
