//! Exit codes: one table for every command.

use std::io;

use serde::Serialize;
use toolroom::call::Outcome;
use toolroom::tool::{ErrorKind, RaisedBy};
use toolroom_host::folders::FoldersError;
use toolroom_host::interrupt::INTERRUPTED;

use super::output::Output;
use crate::config::{ConfigError, Problem};

/// What to do about a configuration that cannot be used.
const CHECK: &str = "nothing was done; mend the configuration and look at it with `toolroom config check`";

/// What to do about a disk that takes nothing more.
const MAKE_ROOM: &str =
    "there is no room for it; delete other files on that disk, or raise the quota, then try again";

/// What to do about a file or a port that the system keeps from this user.
const ASK_OWNER: &str =
    "the system does not let you; look who may with `ls -l`, or do it as the user it belongs to";

/// How the process ends.
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
    /// As a program that was run for somebody.
    Program(u8),
}

/// The command line was used wrongly. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Something the user named does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Missing(pub(crate) String);

/// What the user wants is refused.
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

    /// A tool's own `not_found` or `timeout` is a failure of the tool; only the kernel's have codes of their own.
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

    /// Says what went wrong, and how the process ends for it.
    pub(crate) fn of_error(error: &anyhow::Error, output: &Output) -> Self {
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
        let (message, hint) = (format!("{error:#}"), remedy(error));
        if output.is_json() {
            let problems = error.downcast_ref::<ConfigError>().map(|error| &error.problems);
            let told = Told { kind, message, problems, hint };
            // Whether the document can be written or not, there is nobody left to tell.
            drop(output.document(&serde_json::json!({"error": told})));
        } else {
            output.error(&message);
            if let Some(hint) = hint {
                output.hint(hint);
            }
        }
        exit
    }
}

/// What `--json` prints of an error.
#[derive(Serialize)]
struct Told<'a> {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<&'a Vec<Problem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// What to do, where that is the same whatever was being done.
fn remedy(error: &anyhow::Error) -> Option<&'static str> {
    if error.is::<ConfigError>() {
        return Some(CHECK);
    }
    let has_no_room = |error: &io::Error| {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    };
    let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let any = |is: fn(&io::Error) -> bool| error.chain().filter_map(|cause| cause.downcast_ref()).any(is);
    if any(has_no_room) {
        return Some(MAKE_ROOM);
    }
    any(is_closed).then_some(ASK_OWNER)
}

/// Whether the environment names a place that cannot be one.
fn is_about_variables(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(FoldersError::NoHome | FoldersError::Relative { .. }))
}

pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
