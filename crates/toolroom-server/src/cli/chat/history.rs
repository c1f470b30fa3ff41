//! Message history for the arrow keys: one JSON string per line, oldest first. Secrets are redacted before writing.

use std::sync::Arc;

use toolroom::redact::Redactor;
use toolroom_host::folders::Folders;
use toolroom_host::text_file;

use crate::app::CHAT_HISTORY;

/// Older messages are dropped.
const MAX_TEXTS: usize = 500;

/// Longer messages were pasted and are not stored.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The largest file with `MAX_TEXTS` messages, including escapes.
const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

pub(super) struct History {
    folders: Folders,
    redactor: Arc<Redactor>,
}

impl History {
    pub(super) fn new(folders: Folders, redactor: Arc<Redactor>) -> Self {
        Self { folders, redactor }
    }

    /// Messages, oldest first. An unreadable file counts as empty.
    pub(super) fn read(&self) -> Vec<String> {
        let text = text_file::read_bounded(&self.folders.data.join(CHAT_HISTORY), MAX_FILE_BYTES);
        let text = text.ok().flatten().unwrap_or_default();
        let all: Vec<String> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let surplus = all.len().saturating_sub(MAX_TEXTS);
        all.into_iter().skip(surplus).collect()
    }

    /// Adds a message. Reads the file again, because another chat may have changed it.
    pub(super) fn add(&self, message: &str) {
        if message.len() > MAX_TEXT_BYTES {
            return;
        }
        let message = self.redactor.redact_text(message).into_owned();
        let mut all = self.read();
        if all.last() == Some(&message) {
            return;
        }
        all.push(message);
        let surplus = all.len().saturating_sub(MAX_TEXTS);
        let lines = all.iter().skip(surplus).filter_map(|text| serde_json::to_string(text).ok());
        let text = lines.map(|line| line + "\n").collect::<String>();
        let written = self.folders.private_file(CHAT_HISTORY).map_err(anyhow::Error::from);
        if let Err(error) = written.and_then(|path| Ok(text_file::replace(&path, &text)?)) {
            tracing::warn!("the message is not stored in the history: {error:#}");
        }
    }
}
