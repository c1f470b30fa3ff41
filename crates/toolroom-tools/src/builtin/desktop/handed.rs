//! A file of the workspace that is shown or handed over to whoever asked.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolroom::call::{CallContext, Seat};
use toolroom::tool::{Attachment, ErrorKind, OfferedFile, ToolError};
use toolroom_host::desktop::Desktop;
use toolroom_host::files::{FileError, FoundFile, Workspace};

use super::super::files::{Files, failed as not_read, workspace};
use super::{failed, media_type};

/// The largest file that is handed over.
const HANDED_BYTES: usize = 50 * 1024 * 1024;

/// So many files are on their way at once, from the disk until they are kept: together they fill no machine.
const AT_ONCE: usize = 2;

/// Files that are handed over, and room for those that are on their way.
#[derive(Clone)]
pub(super) struct Handing {
    pub(super) files: Files,
    places: Places,
}

impl Handing {
    pub(super) fn of(files: &Files) -> Self {
        Self { files: files.clone(), places: Places::default() }
    }
}

/// Room for files on their way.
#[derive(Clone)]
struct Places(Arc<Semaphore>);

impl Default for Places {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Places {
    /// Waits for a free one.
    async fn take(&self) -> Result<OwnedSemaphorePermit, ToolError> {
        let place = Arc::clone(&self.0).acquire_owned().await;
        place.map_err(|error| ToolError::new(ErrorKind::Crashed, "no files are handed over").caused_by(error))
    }
}

/// A file on its way.
struct Carried {
    bytes: Vec<u8>,
    _place: OwnedSemaphorePermit,
}

impl Carried {
    /// The bytes. Whoever has some of them holds the place.
    fn bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Carried {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A file, and how it went to whoever asked.
pub(super) enum Shown {
    /// It is open on the desktop of this machine.
    Here,
    /// It goes to the client of whoever asked.
    Away(Attachment, OfferedFile),
}

/// Shows a file: on the desktop, or by way of the client.
pub(super) async fn show(
    desktop: &Desktop,
    handing: &Handing,
    context: &CallContext,
    path: String,
) -> Result<Shown, ToolError> {
    if context.seat() == Seat::Away {
        let (_, attachment, file) = attached(handing, context, path).await?;
        return Ok(Shown::Away(attachment, file));
    }
    let found = in_workspace(&handing.files, context, move |workspace| workspace.locate(&path)).await?;
    // Its real name counts, not that of a link to it.
    if media_type::shown(name_of(&found)).is_none() {
        let text = format!(
            "`{}` is of a kind that is not opened here, since it could be a program",
            name_of(&found)
        );
        return Err(ToolError::new(ErrorKind::PermissionDenied, text)
            .with_hint("documents, pictures, sounds and web pages are; `send_file` names any other"));
    }
    desktop.open_file(&found.place).await.map_err(failed)?;
    Ok(Shown::Here)
}

/// A file, read to be handed over. It keeps its place until nobody has its bytes any more.
pub(super) async fn attached(
    handing: &Handing,
    context: &CallContext,
    path: String,
) -> Result<(FoundFile, Attachment, OfferedFile), ToolError> {
    let place = handing.places.take().await?;
    let read = move |workspace: &Workspace| {
        let (found, bytes) = workspace.read_whole(&path, HANDED_BYTES)?;
        Ok((found, Carried { bytes, _place: place }))
    };
    let (found, carried) = in_workspace(&handing.files, context, read).await?;
    let name = name_of(&found);
    let attachment = context.attachment(media_type::of(name), carried.bytes());
    let file = OfferedFile::of(&attachment, name);
    Ok((found, attachment, file))
}

/// Works with files where that holds nobody up.
pub(in super::super) async fn in_workspace<T: Send + 'static>(
    files: &Files,
    context: &CallContext,
    work: impl FnOnce(&Workspace) -> Result<T, FileError> + Send + 'static,
) -> Result<T, ToolError> {
    let workspace = workspace(files, context)?;
    let done = tokio::task::spawn_blocking(move || work(&workspace)).await;
    let done =
        done.map_err(|error| ToolError::new(ErrorKind::Crashed, "the file broke off").caused_by(error))?;
    done.map_err(|error| match error {
        FileError::TooLarge { path, size, max } => {
            let text = format!("`{path}` has {size} bytes; up to {max} are handed over");
            ToolError::tool(text).with_hint("make it smaller, or tell the user where it is")
        }
        other => not_read(other),
    })
}

pub(super) fn name_of(found: &FoundFile) -> &str {
    found.place.file_name().and_then(|name| name.to_str()).unwrap_or("file")
}

/// Where a file is, for a person.
pub(super) fn place_of(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn whoever_has_a_piece_of_a_file_holds_its_place() {
        let places = Places::default();
        let mut carried = Vec::new();
        for _ in 0..AT_ONCE {
            let place = places.take().await.unwrap();
            carried.push(Carried { bytes: vec![0; 100], _place: place }.bytes());
        }
        let next = tokio::spawn({
            let places = places.clone();
            async move { places.take().await.is_ok() }
        });
        yield_now().await;
        assert!(!next.is_finished(), "all places are taken");
        let piece = carried.pop().unwrap().slice(10..20);
        yield_now().await;
        assert!(!next.is_finished(), "somebody has a piece");
        drop(piece);
        assert!(next.await.unwrap());
    }
}
