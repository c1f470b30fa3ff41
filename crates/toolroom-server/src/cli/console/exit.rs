//! Exit codes and error messages of all commands.

use std::io;

use serde::Serialize;
use toolroom::call::Outcome;
use toolroom::tool::{ErrorKind, RaisedBy};
use toolroom_host::folders::FoldersError;
use toolroom_host::interrupt::INTERRUPTED;

use super::output::Output;
use crate::config::{ConfigError, Problem};

const FIX_CONFIGURATION: &str =
    "nothing was done; fix the configuration and verify it with `toolroom config check`";

const FREE_SPACE: &str = "the disk or quota is full; free some space, then try again";

const CHECK_PERMISSIONS: &str =
    "permission denied by the system; check the owner with `ls -l`, or run as that user";

/// Exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    Usage,
    Denied,
    Pending,
    NotFound,
    Timeout,
    Interrupted,
    /// The code of a program run by `toolroom sandbox`.
    Program(u8),
}

/// Invalid command line. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Something the user named does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Missing(pub(crate) String);

/// The request is refused.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(pub(crate) String);

impl Exit {
    pub(crate) const FAILED: u8 = 1;
    pub(crate) const USAGE: u8 = 2;

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => Self::FAILED,
            Self::Usage => Self::USAGE,
            Self::Denied => 3,
            Self::Pending => 4,
            Self::NotFound => 5,
            Self::Timeout => 124,
            Self::Interrupted => INTERRUPTED,
            Self::Program(code) => code,
        }
    }

    /// Only `not_found`, `timeout` and `cancelled` of the kernel have their own codes; a tool's own are failures.
    pub(crate) fn of_outcome(outcome: &Outcome) -> Self {
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

    /// Prints an error with its hint and returns the exit code.
    pub(crate) fn of_error(error: &anyhow::Error, output: &Output) -> Self {
        if is_broken_pipe(error) {
            // The reader closed the pipe: `toolroom log | head`.
            return Self::Done;
        }
        let (exit, kind) =
            if error.is::<Usage>() || error.is::<ConfigError>() || is_invalid_environment(error) {
                (Self::Usage, "usage")
            } else if error.is::<Missing>() {
                (Self::NotFound, ErrorKind::NotFound.as_str())
            } else if error.is::<Refused>() {
                (Self::Denied, ErrorKind::PermissionDenied.as_str())
            } else {
                (Self::Failed, ErrorKind::Crashed.as_str())
            };
        let (message, hint) = (format!("{error:#}"), remedy(error));
        if output.is_json() {
            let problems = error.downcast_ref::<ConfigError>().map(|error| &error.problems);
            let report = ErrorReport { kind, message, problems, hint };
            // A failed write cannot be reported anywhere.
            drop(output.document(&serde_json::json!({"error": report})));
        } else {
            output.error(&message);
            if let Some(hint) = hint {
                output.hint(hint);
            }
        }
        exit
    }
}

#[derive(Serialize)]
struct ErrorReport<'a> {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<&'a Vec<Problem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// A hint for errors that need the same action in every command.
fn remedy(error: &anyhow::Error) -> Option<&'static str> {
    if error.is::<ConfigError>() {
        return Some(FIX_CONFIGURATION);
    }
    let has_no_room = |error: &io::Error| {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    };
    let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let any = |is: fn(&io::Error) -> bool| error.chain().filter_map(|cause| cause.downcast_ref()).any(is);
    if any(has_no_room) {
        return Some(FREE_SPACE);
    }
    any(is_closed).then_some(CHECK_PERMISSIONS)
}

/// Whether an environment variable has an invalid path.
fn is_invalid_environment(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(FoldersError::NoHome | FoldersError::Relative { .. }))
}

pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
