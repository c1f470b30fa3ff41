//! What servers of the older era say over HTTP without being asked: a stream of its own.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolroom_host::net::Response;
use toolroom_host::sse::Reader;

use crate::mcp::protocol::error::McpError;
use crate::mcp::transport::streamable_http::{Line, RESUME_AFTER, RESUME_AT_MOST, StreamableHttp};

/// How long a stream of what nobody asked for may take to begin.
const LISTENING: Duration = Duration::from_secs(2);

/// A stream that was open for so long was a good one.
pub(crate) const GOOD: Duration = Duration::from_secs(60);

/// The longest wait before a stream is opened again.
const LONGEST: Duration = Duration::from_secs(5 * 60);

impl StreamableHttp {
    /// Opens the stream on which servers of the older era say what nobody asked for, if there is one.
    pub(crate) async fn listen(&self) -> Option<Listening> {
        let response = timeout(LISTENING, self.0.listen(None)).await.ok()?.ok()?;
        Some(Listening { line: Arc::downgrade(&self.0), response })
    }
}

/// A stream of what nobody asked for.
pub(crate) struct Listening {
    line: Weak<Line>,
    response: Response,
}

impl Listening {
    /// Reads it for as long as there is somebody who wants to know. A stream that ends is opened again; whatever was said
    /// between the two may be that the tools have changed.
    pub(crate) async fn read(self) {
        let Self { line, mut response } = self;
        let mut backoff = Backoff::default();
        loop {
            let mut reader = Reader::default();
            let began = Instant::now();
            while let Ok(Some(bytes)) = response.body.chunk().await {
                let Some(line) = line.upgrade() else { return };
                let mut messages = Vec::new();
                let is_too_much = line.desk.count(0, bytes.len()).is_err();
                if is_too_much || reader.push(&bytes, |event| messages.push(event.data)).is_err() {
                    return;
                }
                for message in messages.iter().filter(|message| !message.is_empty()) {
                    if let Err(error) = line.take(None, message.as_bytes()).await {
                        tracing::debug!(%error, "what a server said unasked is passed over");
                    }
                }
            }
            let place = reader.position().clone();
            response = loop {
                tokio::time::sleep(backoff.after(began.elapsed(), place.wait)).await;
                let Some(line) = line.upgrade().filter(|line| line.desk.closed().is_none()) else { return };
                line.desk.attendant().tools_changed();
                match line.listen(place.id.as_deref()).await {
                    Ok(next) => break next,
                    // It does not do that any more, or does not know us.
                    Err(McpError::Status { status: 400..500, .. } | McpError::SessionLost) => return,
                    Err(error) => tracing::debug!(%error, "a server tells nothing for now"),
                }
            };
        }
    }
}

/// How long to wait before a stream that was lost is opened again: longer each time, until one has held.
#[derive(Debug, Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    /// The time to wait after a stream that held for so long; the server may have named one.
    pub(crate) fn after(&mut self, held: Duration, named: Option<Duration>) -> Duration {
        self.0 = if held >= GOOD { 0 } else { (self.0 + 1).min(10) };
        let own = RESUME_AFTER * 2_u32.pow(self.0);
        named.unwrap_or(RESUME_AFTER).min(RESUME_AT_MOST).max(own).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_hold_are_opened_soon_and_others_later_each_time() {
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..12).map(|_| backoff.after(Duration::ZERO, None)).collect();
        assert!(waits.is_sorted() && waits.last() == Some(&LONGEST), "{waits:?}");
        assert_eq!(backoff.after(GOOD, None), RESUME_AFTER);
        assert_eq!(backoff.after(GOOD, Some(Duration::from_secs(5))), Duration::from_secs(5));
        assert_eq!(backoff.after(GOOD, Some(Duration::MAX)), RESUME_AT_MOST);
    }
}
