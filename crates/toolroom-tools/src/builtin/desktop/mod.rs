//! The desktop tools: clipboard, opening and sending files, notifications.
//!
//! For a caller at this machine, files and pages open on its desktop. For any other caller they are *offered* to the
//! client, which decides what to do.

mod clipboard_read;
mod clipboard_write;
mod file_handover;
mod media_type;
mod open_file;
mod open_url;
mod send_file;
mod send_notification;

use std::sync::Arc;

use toolroom::tool::{ErrorKind, IdError, Tool, ToolError};
use toolroom_host::desktop::{Desktop, DesktopError};

use super::ToolDependencies;

pub(super) use file_handover::in_workspace;

use file_handover::FileHandover;

pub(super) fn all(dependencies: &ToolDependencies) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let desktop = Desktop::new(dependencies.supervisor.clone());
    let handover = FileHandover::new(&dependencies.files);
    Ok(vec![
        clipboard_read::tool(desktop.clone())?,
        clipboard_write::tool(desktop.clone())?,
        open_file::tool(desktop.clone(), handover.clone())?,
        open_url::tool(desktop.clone(), handover.clone())?,
        send_file::tool(handover)?,
        send_notification::tool(desktop)?,
    ])
}

/// The error for a model.
pub(super) fn failed(error: DesktopError) -> ToolError {
    let kind = match &error {
        DesktopError::NoDisplay | DesktopError::NoBus | DesktopError::NoProgram { .. } => {
            ErrorKind::Unreachable
        }
        DesktopError::Silent { .. } => ErrorKind::Timeout,
        DesktopError::TooMuch { .. } => ErrorKind::InvalidArguments,
        DesktopError::Process(_) => {
            return ToolError::tool("a desktop program could not be started").caused_by(error);
        }
        DesktopError::Failed { .. }
        | DesktopError::NoText
        | DesktopError::TooLong { .. }
        | DesktopError::Clipboard { .. } => ErrorKind::Tool,
    };
    ToolError::new(kind, error.to_string())
}
