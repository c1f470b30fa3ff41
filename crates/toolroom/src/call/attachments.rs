//! Stores files attached to a result, without secrets.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::spawn_blocking;

use super::open_call::OpenCall;
use super::shape::ARTIFACT_MAX_BYTES;
use crate::ledger::Artifact;
use crate::redact::Redactor;
use crate::tool::Attachment;
use crate::toolroom::Toolroom;

/// Most files of one call.
const MAX_FILES: usize = 64;

/// Larger files are redacted on the blocking pool.
const INLINE_BYTES: usize = 1 << 20;

/// Stores as many files as the limits allow. Text in them is redacted.
pub(super) async fn store(room: &Toolroom, mut files: Vec<Attachment>, call: &mut OpenCall) {
    let given = files.len();
    let mut total = 0_usize;
    let fitting = files.iter().take(MAX_FILES).take_while(|file| {
        total = total.saturating_add(file.bytes.len());
        total <= ARTIFACT_MAX_BYTES
    });
    let fitting = fitting.count();
    files.truncate(fitting);
    let redactor = call.redactor.clone().unwrap_or_default();
    let files = match total > INLINE_BYTES {
        false => without_secrets(files, &redactor),
        // Files that could not be redacted are not stored.
        true => spawn_blocking(move || without_secrets(files, &redactor)).await.unwrap_or_default(),
    };
    let artifacts = files.into_iter().map(|Attachment { id, media_type, bytes }| Artifact {
        id,
        call: call.record.id.clone(),
        scope: call.record.scope.clone(),
        media_type: Cow::Owned(media_type),
        bytes,
        kept_at: room.clock.now(),
    });
    call.artifacts = artifacts.collect();
    let kept = call.artifacts.len();
    if kept < given {
        tracing::warn!(call = %call.record.id, kept, given, "not all files of a result are kept");
    }
}

fn without_secrets(mut files: Vec<Attachment>, redactor: &Arc<Redactor>) -> Vec<Attachment> {
    for file in &mut files {
        if let Some(redacted) = redacted(&file.bytes, redactor) {
            file.bytes = Bytes::from_owner(RedactedFile { bytes: redacted, _original: file.bytes.clone() });
        }
    }
    files
}

/// A redacted file. It holds the original bytes as well, which a tool may count against a memory limit until both are gone.
struct RedactedFile {
    bytes: Vec<u8>,
    _original: Bytes,
}

impl AsRef<[u8]> for RedactedFile {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The file with secrets removed from its text, also between binary data; `None` if it has none.
fn redacted(bytes: &[u8], redactor: &Redactor) -> Option<Vec<u8>> {
    let mut redacted: Option<Vec<u8>> = None;
    let mut read = 0;
    for chunk in bytes.utf8_chunks() {
        if let Cow::Owned(hidden) = redactor.redact_text(chunk.valid()) {
            if chunk.valid().len() == bytes.len() {
                return Some(hidden.into_bytes());
            }
            let redacted = redacted.get_or_insert_with(|| bytes.get(..read).unwrap_or_default().to_vec());
            redacted.extend_from_slice(hidden.as_bytes());
        } else if let Some(redacted) = &mut redacted {
            redacted.extend_from_slice(chunk.valid().as_bytes());
        }
        if let Some(redacted) = &mut redacted {
            redacted.extend_from_slice(chunk.invalid());
        }
        read += chunk.valid().len() + chunk.invalid().len();
    }
    redacted
}
