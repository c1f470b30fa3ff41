//! What servers of the older era say over HTTP without being asked: a stream of its own.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::timeout;
use toolroom_host::net::Response;
use toolroom_host::sse::Reader;

use super::http::{Line, MAX_RESUMED, RESUME_AFTER, RESUME_AT_MOST, StreamableHttp};

/// How long a stream of what nobody asked for may take to begin.
const LISTENING: Duration = Duration::from_secs(2);

impl StreamableHttp {
    /// Opens the stream on which servers of the older era say what nobody asked for, if there is one.
    pub(super) async fn listen(&self) -> Option<Listening> {
        let response = timeout(LISTENING, self.0.listen(None)).await.ok()?.ok()?;
        Some(Listening { line: Arc::downgrade(&self.0), response })
    }
}

/// A stream of what nobody asked for.
pub(super) struct Listening {
    line: Weak<Line>,
    response: Response,
}

impl Listening {
    /// Reads it for as long as there is somebody who wants to know.
    pub(super) async fn read(self) {
        let Self { line, mut response } = self;
        let mut resumed = 0;
        loop {
            let mut reader = Reader::default();
            while let Ok(Some(bytes)) = response.body.chunk().await {
                let Some(line) = line.upgrade() else { return };
                let mut messages = Vec::new();
                if reader.push(&bytes, |event| messages.push(event.data)).is_err() {
                    return;
                }
                for message in messages.iter().filter(|message| !message.is_empty()) {
                    if let Err(error) = line.take(0, message.as_bytes()).await {
                        tracing::debug!(%error, "what a server said unasked is passed over");
                    }
                }
            }
            resumed += 1;
            let place = reader.place().clone();
            tokio::time::sleep(place.wait.unwrap_or(RESUME_AFTER).min(RESUME_AT_MOST)).await;
            let Some(line) = line.upgrade().filter(|line| line.desk.closed().is_none()) else { return };
            match line.listen(place.id.as_deref()).await {
                Ok(next) if resumed < MAX_RESUMED => response = next,
                _ => return,
            }
        }
    }
}
