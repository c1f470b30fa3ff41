//! The notification stream of servers of the session era over HTTP.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolroom_host::net::Response;
use toolroom_host::sse::Reader;

use crate::mcp::protocol::error::McpError;
use crate::mcp::transport::streamable_http::{HttpSession, LONGEST_RETRY, RETRY_AFTER, StreamableHttp};

/// Timeout for opening the stream.
const OPEN_TIMEOUT: Duration = Duration::from_secs(2);

/// A stream that was open for this time resets the back-off.
pub(crate) const STABLE_AFTER: Duration = Duration::from_secs(60);

/// The longest back-off.
const LONGEST_BACKOFF: Duration = Duration::from_secs(5 * 60);

impl StreamableHttp {
    /// Opens the notification stream. `None` if the server has none.
    pub(crate) async fn notification_stream(&self) -> Option<NotificationStream> {
        let response = timeout(OPEN_TIMEOUT, self.0.event_stream(None)).await.ok()?.ok()?;
        Some(NotificationStream { session: Arc::downgrade(&self.0), response })
    }
}

/// An open notification stream.
pub(crate) struct NotificationStream {
    session: Weak<HttpSession>,
    response: Response,
}

impl NotificationStream {
    /// Reads until the connection is dropped, and opens the stream again when it ends. Changes of the tools may have been missed
    /// in between.
    pub(crate) async fn read(self) {
        let Self { session, mut response } = self;
        let mut backoff = Backoff::default();
        loop {
            let mut reader = Reader::default();
            let began = Instant::now();
            while let Ok(Some(bytes)) = response.body.chunk().await {
                let Some(session) = session.upgrade() else { return };
                let mut messages = Vec::new();
                let is_too_much = session.pending.count_traffic(0, bytes.len()).is_err();
                if is_too_much || reader.push(&bytes, |event| messages.push(event.data)).is_err() {
                    return;
                }
                for message in messages.iter().filter(|message| !message.is_empty()) {
                    if let Err(error) = session.receive(None, message.as_bytes()).await {
                        tracing::debug!(%error, "ignored an invalid notification of a server");
                    }
                }
            }
            let position = reader.position().clone();
            response = loop {
                tokio::time::sleep(backoff.after(began.elapsed(), position.wait)).await;
                let session = session.upgrade().filter(|session| session.pending.closed().is_none());
                let Some(session) = session else { return };
                session.pending.handler().on_tools_changed();
                match session.event_stream(position.id.as_deref()).await {
                    Ok(next) => break next,
                    // The server has no such stream any more, or has ended the session.
                    Err(McpError::Status { status: 400..500, .. } | McpError::SessionLost) => return,
                    Err(error) => tracing::debug!(%error, "cannot open the notification stream yet"),
                }
            };
        }
    }
}

/// Back-off for reopening a stream. It doubles until a stream was stable.
#[derive(Debug, Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    /// The time to wait after a stream that was open for `open_for`. `requested` is the server's `retry`.
    pub(crate) fn after(&mut self, open_for: Duration, requested: Option<Duration>) -> Duration {
        self.0 = if open_for >= STABLE_AFTER { 0 } else { (self.0 + 1).min(10) };
        let own = RETRY_AFTER * 2_u32.pow(self.0);
        requested.unwrap_or(RETRY_AFTER).min(LONGEST_RETRY).max(own).min(LONGEST_BACKOFF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_streams_are_reopened_soon_and_others_later_each_time() {
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..12).map(|_| backoff.after(Duration::ZERO, None)).collect();
        assert!(waits.is_sorted() && waits.last() == Some(&LONGEST_BACKOFF), "{waits:?}");
        assert_eq!(backoff.after(STABLE_AFTER, None), RETRY_AFTER);
        assert_eq!(backoff.after(STABLE_AFTER, Some(Duration::from_secs(5))), Duration::from_secs(5));
        assert_eq!(backoff.after(STABLE_AFTER, Some(Duration::MAX)), LONGEST_RETRY);
    }
}
