//! Fuzz targets for messages of clients.

use crate::mcp::context::McpClient;
use crate::mcp::protocol::message::{InvalidMessage, Message, error_text, result_text};
use crate::mcp::stdio::line_buffer::{InputLine, LineBuffer};
use crate::mutation::fuzz;

/// Each message is either rejected with a message or can be processed and answered.
#[test]
fn mcp_message() {
    fuzz("mcp_message", |text| match Message::parse(text.as_bytes()) {
        Ok(Message::Request(request)) => {
            let answer = result_text(&request.id, "{}");
            let answered = Message::parse(answer.as_bytes()).unwrap();
            assert!(matches!(answered, Message::Response { id, outcome: Ok(_) } if id == request.id));
            if let Some(Err(refusal)) = McpClient::named(&request.params.meta) {
                assert!(!refusal.message.is_empty());
            }
        }
        Ok(Message::Notification { .. } | Message::Response { .. }) => {}
        Err(InvalidMessage { id, refusal, .. }) => {
            let error = error_text(id.as_ref(), &refusal);
            assert!(!refusal.message.is_empty() && serde_json::from_str::<serde_json::Value>(&error).is_ok());
            // An error response is never answered.
            let answered = Message::parse(error.as_bytes());
            assert!(!matches!(answered, Err(InvalidMessage { wants_answer: true, .. })), "{error}");
        }
    });
}

/// The way input is cut makes no difference to its lines.
#[test]
fn mcp_lines() {
    fuzz("mcp_message", |text| {
        let bytes = text.as_bytes();
        let size = bytes.len() % 7 + 1;
        let mut lines = LineBuffer::default();
        let mut read = Vec::new();
        for piece in bytes.chunks(size) {
            lines.buffer().extend_from_slice(piece);
            while let Some(InputLine::Line(line)) = lines.next() {
                read.push(Message::parse(line));
            }
        }
        read.push(Message::parse(lines.rest()));
        let alone: Vec<_> = text.split('\n').map(|line| Message::parse(line.as_bytes())).collect();
        assert_eq!(read, alone);
    });
}
