//! Fuzz targets for messages of MCP servers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use toolroom::clock::SystemClock;
use toolroom::tool::Attachment;
use toolroom_host::net::Url;
use toolroom_host::sse::Reader;

use crate::mcp::auth::Challenge;
use crate::mcp::catalog::definition::Definition;
use crate::mcp::catalog::lock::{self, LockState};
use crate::mcp::catalog::outcome::outcome;
use crate::mcp::catalog::tool::spec;
use crate::mcp::client::pending::{DefaultHandler, PendingRequests};
use crate::mcp::protocol::message::Incoming;
use crate::mcp::transport::sse::same_origin;
use crate::mcp::transport::stdio::Lines;
use crate::mutation::fuzz;

/// The outcome of one request, the reason for closing, and the replies, after a program printed this.
fn printed(pieces: &[&[u8]]) -> (Option<String>, Option<String>, Vec<Vec<u8>>) {
    let pending = PendingRequests::new(Arc::new(DefaultHandler));
    let (out, mut replies) = mpsc::channel(4_096);
    let mut lines = Lines::new(Arc::clone(&pending), out.downgrade());
    let mut request = pending.register(None).unwrap();
    pieces.iter().for_each(|piece| lines.push(piece));
    let replies = std::iter::from_fn(|| replies.try_recv().ok()).collect();
    let response = request.try_response().map(|response| format!("{response:?}"));
    (response, pending.closed().map(|error| error.to_string()), replies)
}

/// Each of our replies is JSON, and it makes no difference how the bytes are cut.
#[test]
fn mcp_frame() {
    fuzz("mcp_frame", |text| {
        let bytes = text.as_bytes();
        let (whole, closed, replies) = printed(&[bytes, b"\n"]);
        for reply in &replies {
            let reply: Value = serde_json::from_slice(reply).unwrap();
            assert!(reply.get("id").is_some() && reply.get("method").is_none(), "{text:?}");
        }
        let singly: Vec<&[u8]> = bytes.chunks(1).chain([b"\n".as_slice()]).collect();
        assert_eq!(printed(&singly), (whole, closed, replies), "{text:?}");
        if let Err(error) = Incoming::parse(bytes) {
            assert!(error.to_string().len() < 1_000);
        }
        let pending = PendingRequests::new(Arc::new(DefaultHandler));
        let mut events = Vec::new();
        if Reader::default().push(bytes, |event| events.push(event.data)).is_ok() {
            for event in events {
                drop(pending.receive(Some(1), event.as_bytes()));
            }
        }
        drop(Challenge::parse(401, text));
        let stream = "https://mcp.example/sse";
        if let Ok(post) = same_origin(stream, text) {
            assert_eq!(Url::parse(&post).unwrap().origin(), Url::parse(stream).unwrap().origin(), "{text:?}");
        }
    });
}

/// A definition is either left out with a reason or locked unchanged. A result is an output or an error.
#[test]
fn mcp_definition() {
    fuzz("mcp_definition", |text| {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return };
        if let Value::Object(result) = &value {
            let file = |media_type: &str, bytes| Attachment::new(&SystemClock, media_type, bytes);
            drop(outcome(&file, None, result.clone()));
        }
        let definition = match Definition::parse(&value) {
            Ok(definition) => definition,
            Err(unusable) => {
                assert!(!unusable.why.is_empty() && unusable.name.chars().count() <= 200);
                return;
            }
        };
        let again = Definition::parse(&definition.document()).unwrap();
        assert_eq!((again.hash(), &again.name), (definition.hash(), &definition.name), "{text}");
        let first = lock::compared(&[], std::slice::from_ref(&definition), true);
        let state = if definition.has_hidden_characters() { LockState::New } else { LockState::Accepted };
        assert_eq!(first.iter().map(lock::state_of).collect::<Vec<_>>(), [state], "{text}");
        assert_eq!(lock::compared(&first, &[again], false), first, "{text}");
        if let Ok(spec) = spec("server", Duration::from_secs(1), &definition) {
            assert!(spec.id.to_string().starts_with("mcp:server:"), "{text}");
        }
    });
}
