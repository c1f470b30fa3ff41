//! Exit codes: one table for every command.

use std::io;

use toolroom::call::Outcome;
use toolroom::tool::{ErrorKind, RaisedBy};
use toolroom_host::folders::FoldersError;
use toolroom_host::interrupt::INTERRUPTED;

use super::output::Output;
use crate::config::ConfigError;

/// What to do about a configuration that cannot be used.
const CHECK: &str = "nothing was done; mend the configuration and look at it with `toolroom config check`";

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Done,
    Failed,
    Usage,
    Denied,
    Pending,
    NotFound,
    Timeout,
    Interrupted,
}

/// The command line was used wrongly. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Usage(pub(super) String);

/// Something the user named does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Missing(pub(super) String);

/// What the user wants is refused.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refused(pub(super) String);

impl Exit {
    pub(super) const FAILED: u8 = 1;
    pub(super) const USAGE: u8 = 2;

    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => Self::FAILED,
            Self::Usage => Self::USAGE,
            Self::Denied => 3,
            Self::Pending => 4,
            Self::NotFound => 5,
            Self::Timeout => 124,
            Self::Interrupted => INTERRUPTED,
        }
    }

    /// A tool's own `not_found` or `timeout` is a failure of the tool; only the kernel's have codes of their own.
    pub(super) fn of_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done(_) => Self::Done,
            Outcome::Denied(_) => Self::Denied,
            Outcome::Pending(_) => Self::Pending,
            Outcome::Failed(error) => match (error.raised_by(), error.kind()) {
                (RaisedBy::Kernel, ErrorKind::Cancelled) => Self::Interrupted,
                (RaisedBy::Kernel, ErrorKind::NotFound) => Self::NotFound,
                (RaisedBy::Kernel, ErrorKind::Timeout) => Self::Timeout,
                _ => Self::Failed,
            },
        }
    }

    /// Says what went wrong, and how the process ends for it.
    pub(super) fn of_error(error: &anyhow::Error, output: &Output) -> Self {
        if is_broken_pipe(error) {
            // The reader has seen enough: `toolroom log | head`.
            return Self::Done;
        }
        let (exit, kind) = if error.is::<Usage>() || error.is::<ConfigError>() || is_about_variables(error) {
            (Self::Usage, "usage")
        } else if error.is::<Missing>() {
            (Self::NotFound, ErrorKind::NotFound.as_str())
        } else if error.is::<Refused>() {
            (Self::Denied, ErrorKind::PermissionDenied.as_str())
        } else {
            (Self::Failed, ErrorKind::Crashed.as_str())
        };
        let text = format!("{error:#}");
        if output.is_json() {
            let told = match error.downcast_ref::<ConfigError>() {
                Some(ConfigError { problems, .. }) => {
                    serde_json::json!({"kind": kind, "message": text, "problems": problems, "hint": CHECK})
                }
                None => serde_json::json!({"kind": kind, "message": text}),
            };
            // Whether the document can be written or not, there is nobody left to tell.
            drop(output.document(&serde_json::json!({"error": told})));
        } else {
            output.error(&text);
            if error.is::<ConfigError>() {
                output.hint(CHECK);
            }
        }
        exit
    }
}

/// Whether the environment names a place that cannot be one.
fn is_about_variables(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(FoldersError::NoHome | FoldersError::Relative { .. }))
}

pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
