//! How a program ended: exit code, reason and message.

use std::error::Error;

use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::process::{CapturedOutput, Cause, Limit, ProcessError, Status};

/// Everything captured of a stream, lossily decoded. The kernel caps what a caller sees.
pub(super) fn captured_text(output: &CapturedOutput) -> String {
    output.text(usize::MAX)
}

pub(super) const TRESPASS: &str = "it changed a protected file (settings or hooks of git, start files, settings of \
agents, credentials) or locked a folder that is watched; the change was undone";

pub(super) const UNCOVERED: &str = "a protected file (credentials, start files) was replaced while it ran, as editors do \
when they save, and it could have read the new one: run it again";

/// Stands for a missing exit code.
pub(super) const NO_CODE: i32 = -1;

/// The exit code, as shells number it: 128 + signal for a signal.
pub(super) fn exit_code(status: Status, cause: Cause) -> i32 {
    match (status, cause) {
        (Status::Exited(code), Cause::Itself) => code,
        (Status::Signalled(signal), Cause::Itself) => 128 + signal,
        (_, Cause::Stopped | Cause::Limit(_) | Cause::Trespass | Cause::Uncovered) => NO_CODE,
    }
}

pub(super) fn limit_reason(limit: Limit) -> &'static str {
    match limit {
        Limit::Wall => "it took too long",
        Limit::Cpu => "it used too much processor time",
        Limit::Memory => "it used too much memory",
        Limit::Processes => "it started too many processes",
        Limit::Output => "it printed too much",
        Limit::FileBytes => "it wrote too large a file",
        Limit::Disk => "it used more disk space than allowed (`policy.exec_disk_mib`)",
        Limit::Folders => {
            "it created more folders than can be checked; git repositories in them that run something were not \
            looked for"
        }
    }
}

/// A message if the program did not end by itself.
pub(super) fn end_note(cause: Cause) -> Option<String> {
    match cause {
        Cause::Itself => None,
        Cause::Stopped => Some("it was stopped, with all processes it had started".to_owned()),
        Cause::Limit(limit) => {
            Some(format!("it was ended with all processes it had started: {}", limit_reason(limit)))
        }
        Cause::Trespass => Some(TRESPASS.to_owned()),
        Cause::Uncovered => Some(UNCOVERED.to_owned()),
    }
}

/// A program that did not start, or whose end is unknown.
pub(super) fn process_error(error: ProcessError) -> ToolError {
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
        // The paths of our own helpers are for the operator only.
        return ToolError::new(kind, "programs cannot be started here").caused_by(error);
    }
    // The system's message is safe to show: it is about the program and folder the caller named.
    let detail = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    ToolError::new(kind, format!("{error}{detail}"))
}
