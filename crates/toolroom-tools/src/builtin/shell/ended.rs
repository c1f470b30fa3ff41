//! How the end of a program is told.

use std::error::Error;

use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::process::{CapturedOutput, Cause, Limit, ProcessError, Status};

/// Everything that is kept of a stream, whatever the bytes were. What a caller reads of it is the kernel's business.
pub(super) fn whole(kept: &CapturedOutput) -> String {
    kept.text(usize::MAX)
}

/// What is told of a program that changed what was not its own.
pub(super) const TRESPASS: &str = "it changed a protected file (settings or hooks of git, start files, settings of \
     agents, credentials) or closed a folder that is watched; that was put back";

/// What is told of a program that could have read or changed a file that somebody else saved.
pub(super) const UNCOVERED: &str = "a file that is kept from programs (credentials, start files) was replaced while it ran, as editors do when they \
     save, and the new one could have been read: run it again";

/// A stand-in where there is no code.
pub(super) const NO_CODE: i32 = -1;

/// A code for every end, as shells have it.
pub(super) fn code(status: Status, cause: Cause) -> i32 {
    match (status, cause) {
        (Status::Exited(code), Cause::Itself) => code,
        (Status::Signalled(signal), Cause::Itself) => 128 + signal,
        (_, Cause::Stopped | Cause::Limit(_) | Cause::Trespass | Cause::Uncovered) => NO_CODE,
    }
}

/// Why a limit ended a program.
pub(super) fn reason(limit: Limit) -> &'static str {
    match limit {
        Limit::Wall => "it took too long",
        Limit::Cpu => "it used too much processor time",
        Limit::Memory => "it used too much memory",
        Limit::Processes => "it started too many processes",
        Limit::Output => "it printed too much",
        Limit::FileBytes => "it wrote too large a file",
        Limit::Disk => "it filled more of the disk than it may (`policy.exec_disk_mib`)",
        Limit::Folders => {
            "it made more folders than can be looked at; what lies in them was not checked for git repositories that run \
             something"
        }
    }
}

/// A sentence about an end that was not the program's own.
pub(super) fn note(cause: Cause) -> Option<String> {
    match cause {
        Cause::Itself => None,
        Cause::Stopped => Some("it was stopped, with everything it had started".to_owned()),
        Cause::Limit(limit) => {
            Some(format!("it was ended with everything it had started: {}", reason(limit)))
        }
        Cause::Trespass => Some(TRESPASS.to_owned()),
        Cause::Uncovered => Some(UNCOVERED.to_owned()),
    }
}

/// A program that did not run, or about whose end nothing is known.
pub(super) fn not_run(error: ProcessError) -> ToolError {
    let kind = match &error {
        ProcessError::NotFound { .. } => ErrorKind::NotFound,
        ProcessError::NotStarted { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            ErrorKind::PermissionDenied
        }
        ProcessError::Folder { .. } | ProcessError::ZeroByte { .. } | ProcessError::TooLong { .. } => {
            ErrorKind::InvalidArguments
        }
        ProcessError::Helper { .. } | ProcessError::Preparation { .. } => ErrorKind::Crashed,
        _ => ErrorKind::Tool,
    };
    if kind == ErrorKind::Crashed {
        // Where our own parts lie is the operator's business.
        return ToolError::new(kind, "programs cannot be started here").caused_by(error);
    }
    // What the system said is no secret: it is about a program and a folder the caller named.
    let said = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    ToolError::new(kind, format!("{error}{said}"))
}
