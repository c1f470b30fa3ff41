//! A file of the workspace that is shown or handed over to whoever asked.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use toolroom::call::{CallContext, UserLocation};
use toolroom::tool::{Attachment, ErrorKind, OfferedFile, ToolError};
use toolroom_host::desktop::Desktop;
use toolroom_host::files::{FileError, LocatedFile, Workspace};

use super::super::files::{Files, failed as not_read, workspace};
use super::{failed, media_type};

/// The largest file that is handed over.
const HANDED_BYTES: usize = 50 * 1024 * 1024;

/// So many files are on their way at once, from the disk until they are kept: together they fill no machine.
const AT_ONCE: usize = 2;

/// How long a call that has no deadline waits for a place. Others wait for half of the time they have, so that the rest
/// will do for the file.
const PATIENCE: Duration = Duration::from_secs(30);

/// When to come back after finding all places taken.
const AGAIN: Duration = Duration::from_secs(5);

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
    /// Waits for a free one, but not until the deadline: whoever gets one needs time for the file.
    async fn take(&self, deadline: Option<Instant>) -> Result<OwnedSemaphorePermit, ToolError> {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let patience = left.map_or(PATIENCE, |left| left / 2);
        let Ok(place) = timeout(patience, Arc::clone(&self.0).acquire_owned()).await else {
            let text = format!("{AT_ONCE} files are on their way already, so this one was not begun");
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(AGAIN);
            return Err(error.with_hint("nothing has happened; call again in a few seconds"));
        };
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
    if context.user_location() == UserLocation::Remote {
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
) -> Result<(LocatedFile, Attachment, OfferedFile), ToolError> {
    // Until it is given back it has gone nowhere.
    let (found, carried) = context.before_effect(carried(handing, context, path)).await?;
    let name = name_of(&found);
    let attachment = context.attachment(media_type::of(name), carried.bytes());
    let file = OfferedFile::of(&attachment, name);
    Ok((found, attachment, file))
}

/// Reads a file once there is a place for it. What can never be handed over does not wait for one.
async fn carried(
    handing: &Handing,
    context: &CallContext,
    path: String,
) -> Result<(LocatedFile, Carried), ToolError> {
    let asked = path.clone();
    let look = move |workspace: &Workspace| {
        let LocatedFile { size, .. } = workspace.locate(&asked)?;
        let max = u64::try_from(HANDED_BYTES).unwrap_or(u64::MAX);
        if size > max { Err(FileError::TooLarge { path: asked, size, max }) } else { Ok(()) }
    };
    in_workspace(&handing.files, context, look).await?;
    let place = handing.places.take(context.deadline()).await?;
    // Gone with this future: when the call is stopped or its time is up.
    let wanted = Arc::new(());
    let is_wanted = Arc::downgrade(&wanted);
    let read = move |workspace: &Workspace| {
        let read = workspace.read_whole(&path, HANDED_BYTES, || is_wanted.strong_count() > 0);
        let (found, bytes) = read?;
        Ok((found, Carried { bytes, _place: place }))
    };
    let read = in_workspace(&handing.files, context, read).await;
    drop(wanted);
    read
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

pub(super) fn name_of(found: &LocatedFile) -> &str {
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
            let place = places.take(None).await.unwrap();
            carried.push(Carried { bytes: vec![0; 100], _place: place }.bytes());
        }
        let next = tokio::spawn({
            let places = places.clone();
            async move { places.take(None).await.is_ok() }
        });
        yield_now().await;
        assert!(!next.is_finished(), "all places are taken");
        let piece = carried.pop().unwrap().slice(10..20);
        yield_now().await;
        assert!(!next.is_finished(), "somebody has a piece");
        drop(piece);
        assert!(next.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_finds_no_place_is_told_so_long_before_the_deadline() {
        let places = Places::default();
        let _taken = (places.take(None).await.unwrap(), places.take(None).await.unwrap());
        let (came, deadline) = (Instant::now(), Instant::now() + Duration::from_secs(20));
        let error = places.take(Some(deadline)).await.unwrap_err();
        assert_eq!((error.kind(), came.elapsed()), (ErrorKind::RateLimited, Duration::from_secs(10)));
        assert!(error.hint().unwrap().contains("nothing has happened") && error.retry_after() == Some(AGAIN));
        assert_eq!(places.take(None).await.unwrap_err().kind(), ErrorKind::RateLimited);
    }
}
