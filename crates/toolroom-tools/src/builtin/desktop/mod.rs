//! The desktop tools: the clipboard, opening and handing over what was made, and notifications.
//!
//! Whoever sits at this machine gets things opened on its desktop. Everybody else gets them *offered*: what their client
//! does with that is theirs to say.

mod clipboard_read;
mod clipboard_write;
mod handed;
mod media_type;
mod open_file;
mod open_url;
mod send_file;
mod send_notification;

use std::sync::Arc;

use toolroom::tool::{ErrorKind, IdError, Tool, ToolError};
use toolroom_host::desktop::{Desktop, DesktopError};

use super::Surroundings;

pub(super) use handed::in_workspace;

use handed::Handing;

/// Every desktop tool, by name.
pub(super) fn all(around: &Surroundings) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let desktop = Desktop::new(around.supervisor.clone());
    let handing = Handing::of(&around.files);
    Ok(vec![
        clipboard_read::tool(desktop.clone())?,
        clipboard_write::tool(desktop.clone())?,
        open_file::tool(desktop.clone(), handing.clone())?,
        open_url::tool(desktop.clone(), handing.clone())?,
        send_file::tool(handing)?,
        send_notification::tool(desktop)?,
    ])
}

/// An error as the model is told.
pub(super) fn failed(error: DesktopError) -> ToolError {
    let kind = match &error {
        DesktopError::NoDisplay | DesktopError::NoBus | DesktopError::NoProgram { .. } => {
            ErrorKind::Unreachable
        }
        DesktopError::Silent { .. } => ErrorKind::Timeout,
        DesktopError::TooMuch { .. } => ErrorKind::InvalidArguments,
        DesktopError::Process(_) => {
            return ToolError::tool("a program of the desktop could not be started").caused_by(error);
        }
        DesktopError::Failed { .. }
        | DesktopError::NoText
        | DesktopError::TooLong { .. }
        | DesktopError::Clipboard { .. } => ErrorKind::Tool,
    };
    ToolError::new(kind, error.to_string())
}
