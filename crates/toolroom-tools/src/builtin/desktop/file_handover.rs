//! Hands a file of the workspace to the user: opened on the desktop, or sent to their client.

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

/// The largest file that is sent.
const MAX_FILE_BYTES: usize = 50 * 1024 * 1024;

/// Files in transfer at once, from reading them until they are stored. Bounds memory.
const MAX_TRANSFERS: usize = 2;

/// How long a call without a deadline waits for a slot. Other calls wait for half of their remaining time, which leaves
/// the other half for the file.
const SLOT_TIMEOUT: Duration = Duration::from_secs(30);

/// When to retry if all slots are in use.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The files, and the slots for transfers.
#[derive(Clone)]
pub(super) struct FileHandover {
    pub(super) files: Files,
    slots: TransferSlots,
}

impl FileHandover {
    pub(super) fn new(files: &Files) -> Self {
        Self { files: files.clone(), slots: TransferSlots::default() }
    }
}

#[derive(Clone)]
struct TransferSlots(Arc<Semaphore>);

impl Default for TransferSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_TRANSFERS)))
    }
}

impl TransferSlots {
    /// Waits for a slot, for half of the time left.
    async fn acquire(&self, deadline: Option<Instant>) -> Result<OwnedSemaphorePermit, ToolError> {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let wait = left.map_or(SLOT_TIMEOUT, |left| left / 2);
        let Ok(slot) = timeout(wait, Arc::clone(&self.0).acquire_owned()).await else {
            let text = format!(
                "{MAX_TRANSFERS} files are already being transferred, so this transfer was not started"
            );
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(RETRY_AFTER);
            return Err(error.with_hint("nothing was sent; call again in a few seconds"));
        };
        slot.map_err(|error| {
            ToolError::new(ErrorKind::Crashed, "files cannot be transferred").caused_by(error)
        })
    }
}

/// The bytes of a file, with the slot they hold.
struct FileInTransit {
    bytes: Vec<u8>,
    _slot: OwnedSemaphorePermit,
}

impl FileInTransit {
    /// The bytes. Every clone and slice keeps the slot.
    fn bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for FileInTransit {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// How a file was shown.
pub(super) enum ShowOutcome {
    /// Open on the desktop of this machine.
    OpenedHere,
    /// Sent to the client of the caller.
    SentToClient(Attachment, OfferedFile),
}

/// Shows a file: on the desktop for a local caller, through the client otherwise.
pub(super) async fn show(
    desktop: &Desktop,
    handover: &FileHandover,
    context: &CallContext,
    path: String,
) -> Result<ShowOutcome, ToolError> {
    if context.user_location() == UserLocation::Remote {
        let (_, attachment, file) = attached(handover, context, path).await?;
        return Ok(ShowOutcome::SentToClient(attachment, file));
    }
    let found = in_workspace(&handover.files, context, move |workspace| workspace.locate(&path)).await?;
    // Judged by the real name, not that of a link.
    if media_type::displayable(file_name(&found)).is_none() {
        let text = format!(
            "`{}` is not opened here, because a file of this type could be a program",
            file_name(&found)
        );
        return Err(ToolError::new(ErrorKind::PermissionDenied, text)
            .with_hint("documents, pictures, sounds and web pages can be opened; `send_file` shows where other files are"));
    }
    desktop.open_file(&found.place).await.map_err(failed)?;
    Ok(ShowOutcome::OpenedHere)
}

/// Reads a file as an attachment. It keeps its slot until all its bytes are dropped.
pub(super) async fn attached(
    handover: &FileHandover,
    context: &CallContext,
    path: String,
) -> Result<(LocatedFile, Attachment, OfferedFile), ToolError> {
    // Sending is the effect; until then the call can be cancelled without doubt.
    let (found, in_transit) = context.before_effect(in_transit(handover, context, path)).await?;
    let name = file_name(&found);
    let attachment = context.attachment(media_type::for_name(name), in_transit.bytes());
    let file = OfferedFile::from_attachment(&attachment, name);
    Ok((found, attachment, file))
}

/// Reads a file once a slot is free. A file that is too large fails without waiting.
async fn in_transit(
    handover: &FileHandover,
    context: &CallContext,
    path: String,
) -> Result<(LocatedFile, FileInTransit), ToolError> {
    let asked = path.clone();
    let look = move |workspace: &Workspace| {
        let LocatedFile { size, .. } = workspace.locate(&asked)?;
        let max = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX);
        if size > max { Err(FileError::TooLarge { path: asked, size, max }) } else { Ok(()) }
    };
    in_workspace(&handover.files, context, look).await?;
    let slot = handover.slots.acquire(context.deadline()).await?;
    // Dropped with this future: when the call is cancelled or times out.
    let still_wanted = Arc::new(());
    let is_still_wanted = Arc::downgrade(&still_wanted);
    let read = move |workspace: &Workspace| {
        let read = workspace.read_whole(&path, MAX_FILE_BYTES, || is_still_wanted.strong_count() > 0);
        let (found, bytes) = read?;
        Ok((found, FileInTransit { bytes, _slot: slot }))
    };
    let read = in_workspace(&handover.files, context, read).await;
    drop(still_wanted);
    read
}

/// Runs file work on the blocking pool.
pub(in super::super) async fn in_workspace<T: Send + 'static>(
    files: &Files,
    context: &CallContext,
    work: impl FnOnce(&Workspace) -> Result<T, FileError> + Send + 'static,
) -> Result<T, ToolError> {
    let workspace = workspace(files, context)?;
    let done = tokio::task::spawn_blocking(move || work(&workspace)).await;
    let done = done
        .map_err(|error| ToolError::new(ErrorKind::Crashed, "the file could not be read").caused_by(error))?;
    done.map_err(|error| match error {
        FileError::TooLarge { path, size, max } => {
            let text = format!("`{path}` has {size} bytes; the limit is {max}");
            ToolError::tool(text).with_hint("make it smaller, or tell the user its path")
        }
        other => not_read(other),
    })
}

pub(super) fn file_name(found: &LocatedFile) -> &str {
    found.place.file_name().and_then(|name| name.to_str()).unwrap_or("file")
}

/// The path, for a person.
pub(super) fn display_path(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn a_slice_of_a_file_keeps_its_slot() {
        let slots = TransferSlots::default();
        let mut in_transit = Vec::new();
        for _ in 0..MAX_TRANSFERS {
            let slot = slots.acquire(None).await.unwrap();
            in_transit.push(FileInTransit { bytes: vec![0; 100], _slot: slot }.bytes());
        }
        let next = tokio::spawn({
            let slots = slots.clone();
            async move { slots.acquire(None).await.is_ok() }
        });
        yield_now().await;
        assert!(!next.is_finished(), "all slots are in use");
        let piece = in_transit.pop().unwrap().slice(10..20);
        yield_now().await;
        assert!(!next.is_finished(), "a slice is left");
        drop(piece);
        assert!(next.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_slot_ends_long_before_the_deadline() {
        let slots = TransferSlots::default();
        let _taken = (slots.acquire(None).await.unwrap(), slots.acquire(None).await.unwrap());
        let (came, deadline) = (Instant::now(), Instant::now() + Duration::from_secs(20));
        let error = slots.acquire(Some(deadline)).await.unwrap_err();
        assert_eq!((error.kind(), came.elapsed()), (ErrorKind::RateLimited, Duration::from_secs(10)));
        assert!(
            error.hint().unwrap().contains("nothing was sent") && error.retry_after() == Some(RETRY_AFTER)
        );
        assert_eq!(slots.acquire(None).await.unwrap_err().kind(), ErrorKind::RateLimited);
    }
}
