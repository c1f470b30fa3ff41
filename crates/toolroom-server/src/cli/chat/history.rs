//! What was said before, for the arrow keys: one JSON text a line, oldest first. Secrets are hidden before anything is
//! written.

use std::sync::Arc;

use toolroom::redact::Redactor;
use toolroom_host::folders::Folders;
use toolroom_host::text_file;

use crate::app::CHAT_HISTORY;

/// More nobody looks for.
const MAX_TEXTS: usize = 500;

/// What is longer was pasted, and is not brought back.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// All of them at their longest, with room for escapes.
const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

pub(super) struct History {
    folders: Folders,
    redactor: Arc<Redactor>,
}

impl History {
    pub(super) fn new(folders: Folders, redactor: Arc<Redactor>) -> Self {
        Self { folders, redactor }
    }

    /// What was said, oldest first. What cannot be read is not worth a conversation.
    pub(super) fn read(&self) -> Vec<String> {
        let text = text_file::read_bounded(&self.folders.data.join(CHAT_HISTORY), MAX_FILE_BYTES);
        let text = text.ok().flatten().unwrap_or_default();
        let all: Vec<String> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let surplus = all.len().saturating_sub(MAX_TEXTS);
        all.into_iter().skip(surplus).collect()
    }

    /// Adds what was said. Others may have said something meanwhile, so the file is read again.
    pub(super) fn add(&self, said: &str) {
        if said.len() > MAX_TEXT_BYTES {
            return;
        }
        let said = self.redactor.redact_text(said).into_owned();
        let mut all = self.read();
        if all.last() == Some(&said) {
            return;
        }
        all.push(said);
        let surplus = all.len().saturating_sub(MAX_TEXTS);
        let lines = all.iter().skip(surplus).filter_map(|text| serde_json::to_string(text).ok());
        let text = lines.map(|line| line + "\n").collect::<String>();
        let written = self.folders.private_file(CHAT_HISTORY).map_err(anyhow::Error::from);
        if let Err(error) = written.and_then(|path| Ok(text_file::replace(&path, &text)?)) {
            tracing::warn!("what was said is not remembered for the arrow keys: {error:#}");
        }
    }
}
