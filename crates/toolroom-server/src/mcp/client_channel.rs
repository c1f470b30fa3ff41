//! What is said to a client while its request is being worked on.

use tokio::sync::mpsc;

use crate::mcp::protocol::outgoing::OutgoingMessage;

/// Messages on their way to somebody who reads slowly.
const AHEAD: usize = 64;

/// Where messages are put. What is told nobody is not kept.
#[derive(Debug, Clone)]
pub(crate) struct ClientChannel(Option<mpsc::Sender<OutgoingMessage>>);

impl ClientChannel {
    /// A channel, and where it is heard.
    pub(crate) fn open() -> (Self, mpsc::Receiver<OutgoingMessage>) {
        let (said, heard) = mpsc::channel(AHEAD);
        (Self(Some(said)), heard)
    }

    /// Nobody listens.
    pub(crate) const fn silent() -> Self {
        Self(None)
    }

    pub(crate) const fn of(said: mpsc::Sender<OutgoingMessage>) -> Self {
        Self(Some(said))
    }

    pub(crate) const fn is_silent(&self) -> bool {
        self.0.is_none()
    }

    /// Tells something that may be missed: whoever cannot follow hears less.
    pub(crate) fn mention(&self, message: String) {
        if let Some(said) = &self.0 {
            drop(said.try_send(message.into()));
        }
    }

    /// Waits until nobody listens any more.
    pub(crate) async fn unheard(&self) {
        if let Some(said) = &self.0 {
            said.closed().await;
        }
    }

    /// Tells something that has to arrive. Says whether somebody hears it.
    pub(crate) async fn tell(&self, message: String) -> bool {
        match &self.0 {
            Some(said) => said.send(message.into()).await.is_ok(),
            None => false,
        }
    }
}
