//! A fuzz target of what clients send.

use crate::mcp::context::McpClient;
use crate::mcp::protocol::message::{InvalidMessage, Message, error_text, result_text};
use crate::mcp::stdio::line_buffer::{InputLine, LineBuffer};
use crate::mutation::fuzz;

/// Whatever is sent: it is refused in words, or can be worked with and answered.
#[test]
fn mcp_message() {
    fuzz("mcp_message", |text| match Message::read(text.as_bytes()) {
        Ok(Message::Request(request)) => {
            let answer = result_text(&request.id, "{}");
            let answered = Message::read(answer.as_bytes()).unwrap();
            assert!(matches!(answered, Message::Response { id, outcome: Ok(_) } if id == request.id));
            if let Some(Err(refusal)) = McpClient::named(&request.params.meta) {
                assert!(!refusal.message.is_empty());
            }
        }
        Ok(Message::Notification { .. } | Message::Response { .. }) => {}
        Err(InvalidMessage { id, refusal, .. }) => {
            let told = error_text(id.as_ref(), &refusal);
            assert!(!refusal.message.is_empty() && serde_json::from_str::<serde_json::Value>(&told).is_ok());
            // Whoever reads that has nothing to say to it.
            let answered = Message::read(told.as_bytes());
            assert!(!matches!(answered, Err(InvalidMessage { wants_answer: true, .. })), "{told}");
        }
    });
}

/// Whatever comes over standard input, in whatever pieces: each line is what it would be alone.
#[test]
fn mcp_lines() {
    fuzz("mcp_message", |text| {
        let bytes = text.as_bytes();
        let size = bytes.len() % 7 + 1;
        let mut lines = LineBuffer::default();
        let mut read = Vec::new();
        for piece in bytes.chunks(size) {
            lines.room().extend_from_slice(piece);
            while let Some(InputLine::Line(line)) = lines.next() {
                read.push(Message::read(line));
            }
        }
        read.push(Message::read(lines.rest()));
        let alone: Vec<_> = text.split('\n').map(|line| Message::read(line.as_bytes())).collect();
        assert_eq!(read, alone);
    });
}
