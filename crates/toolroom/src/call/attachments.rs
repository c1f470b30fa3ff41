//! Files beside a result, kept without secrets.

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

/// So many are kept.
const MAX_FILES: usize = 64;

/// What is larger is looked through where that holds nobody up.
const QUICK_BYTES: usize = 1 << 20;

/// Keeps files with the call, as far as they can be kept. What is text in them is kept without secrets.
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
    let files = match total > QUICK_BYTES {
        false => without_secrets(files, &redactor),
        // What nobody could look through is not kept.
        true => spawn_blocking(move || without_secrets(files, &redactor)).await.unwrap_or_default(),
    };
    let kept = files.into_iter().map(|Attachment { id, media_type, bytes }| Artifact {
        id,
        call: call.record.id.clone(),
        scope: call.record.scope.clone(),
        media_type: Cow::Owned(media_type),
        bytes,
        kept_at: room.clock.now(),
    });
    call.artifacts = kept.collect();
    let kept = call.artifacts.len();
    if kept < given {
        tracing::warn!(call = %call.record.id, kept, given, "not all files of a result are kept");
    }
}

fn without_secrets(mut files: Vec<Attachment>, redactor: &Arc<Redactor>) -> Vec<Attachment> {
    for file in &mut files {
        if let Some(quiet) = quiet(&file.bytes, redactor) {
            file.bytes = Bytes::from_owner(Quiet { bytes: quiet, _of: file.bytes.clone() });
        }
    }
    files
}

/// A file without its secrets. Whoever has let the whole of it in, and counts how many there are, counts it until this
/// one is gone, too.
struct Quiet {
    bytes: Vec<u8>,
    _of: Bytes,
}

impl AsRef<[u8]> for Quiet {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// What is text in a file without secrets, also where it stands between other bytes; nothing, if there are none.
fn quiet(bytes: &[u8], redactor: &Redactor) -> Option<Vec<u8>> {
    let mut quiet: Option<Vec<u8>> = None;
    let mut read = 0;
    for chunk in bytes.utf8_chunks() {
        if let Cow::Owned(hidden) = redactor.redact_text(chunk.valid()) {
            if chunk.valid().len() == bytes.len() {
                return Some(hidden.into_bytes());
            }
            let quiet = quiet.get_or_insert_with(|| bytes.get(..read).unwrap_or_default().to_vec());
            quiet.extend_from_slice(hidden.as_bytes());
        } else if let Some(quiet) = &mut quiet {
            quiet.extend_from_slice(chunk.valid().as_bytes());
        }
        if let Some(quiet) = &mut quiet {
            quiet.extend_from_slice(chunk.invalid());
        }
        read += chunk.valid().len() + chunk.invalid().len();
    }
    quiet
}
