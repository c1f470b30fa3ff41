//! Notifications of a server and the standard error of its program.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use toolroom_host::process::CapturedOutput;

use crate::mcp::client::pending::ClientHandler;

/// Buffered bytes of standard error.
const BUFFER_BYTES: usize = 64 * 1024;

/// Notes changes of the tools and buffers standard error, across restarts of the program.
pub(super) struct NotificationHandler {
    tools_changed: AtomicBool,
    stderr: Mutex<CapturedOutput>,
    /// How many bytes were read from the buffer.
    read_bytes: AtomicU64,
}

impl Default for NotificationHandler {
    fn default() -> Self {
        Self {
            tools_changed: AtomicBool::default(),
            stderr: Mutex::new(CapturedOutput::new(BUFFER_BYTES)),
            read_bytes: AtomicU64::default(),
        }
    }
}

impl ClientHandler for NotificationHandler {
    fn on_tools_changed(&self) {
        self.tools_changed.store(true, Ordering::Relaxed);
    }

    fn on_stderr(&self, bytes: &[u8]) {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}

impl NotificationHandler {
    /// Whether the tools may have changed since they were listed.
    pub(super) fn have_tools_changed(&self) -> bool {
        self.tools_changed.load(Ordering::Relaxed)
    }

    pub(super) fn clear_tools_changed(&self) {
        self.tools_changed.store(false, Ordering::Relaxed);
    }

    /// Whether standard error has unread bytes.
    pub(super) fn has_unread_stderr(&self) -> bool {
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        stderr.total_bytes() != self.read_bytes.load(Ordering::Relaxed)
    }

    /// The end of standard error; `None` if nothing was printed.
    pub(super) fn read_stderr(&self, chars: usize) -> Option<String> {
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_bytes.store(stderr.total_bytes(), Ordering::Relaxed);
        (stderr.total_bytes() > 0).then(|| stderr.last_chars(chars))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_standard_error_is_read_to_its_end() {
        let handler = NotificationHandler::default();
        assert!(!handler.has_unread_stderr() && handler.read_stderr(10).is_none());
        for _ in 0..100 {
            handler.on_stderr(&[b'x'; 10_000]);
            assert!(handler.has_unread_stderr());
            drop(handler.read_stderr(10));
            assert!(!handler.has_unread_stderr());
        }
        handler.on_stderr(b" the end");
        assert!(handler.has_unread_stderr());
        assert_eq!(handler.read_stderr(8).unwrap(), " the end");
    }
}
