//! What a client is told, and the room that it takes until it is written.

use std::ops::Deref;

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

/// A text for a client. Large ones hold the room they take until nobody has them any more, however slowly they are read.
#[derive(Debug)]
pub(crate) struct OutgoingMessage {
    text: String,
    room: Option<OwnedSemaphorePermit>,
}

impl OutgoingMessage {
    pub(in crate::mcp) const fn in_room(text: String, room: OwnedSemaphorePermit) -> Self {
        Self { text, room: Some(room) }
    }

    /// With something around it, in the same room.
    pub(crate) fn wrapped(self, wrap: impl FnOnce(&str) -> String) -> Self {
        Self { text: wrap(&self.text), room: self.room }
    }

    /// The bytes. Whoever has some of them holds the room.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.room {
            None => self.text.into(),
            Some(_) => Bytes::from_owner(self),
        }
    }
}

impl From<String> for OutgoingMessage {
    fn from(text: String) -> Self {
        Self { text, room: None }
    }
}

impl Deref for OutgoingMessage {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl AsRef<[u8]> for OutgoingMessage {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}
