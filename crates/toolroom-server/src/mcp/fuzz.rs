//! A fuzz target of what clients send.

use super::message::{Message, error_text, result_text};
use super::peer::Client;
use crate::mutation::fuzz;

/// Whatever is sent: it is refused in words, or can be worked with and answered.
#[test]
fn mcp_message() {
    fuzz("mcp_message", |text| match Message::read(text.as_bytes()) {
        Ok(Message::Request(request)) => {
            let answer = result_text(&request.id, "{}");
            let answered = Message::read(answer.as_bytes()).unwrap();
            assert!(matches!(answered, Message::Response { id, outcome: Ok(_) } if id == request.id));
            if let Some(Err(refusal)) = Client::named(&request.params) {
                assert!(!refusal.message.is_empty());
            }
        }
        Ok(Message::Notification { .. } | Message::Response { .. }) => {}
        Err((id, refusal)) => {
            let told = error_text(id.as_ref(), &refusal);
            assert!(!refusal.message.is_empty() && serde_json::from_str::<serde_json::Value>(&told).is_ok());
        }
    });
}
