//! A run as lines of text.

use std::fmt::Write;
use std::sync::Arc;

use toolroom::conversation::{NumberedEvent, RunEvent};
use toolroom::model::{Block, Message, ModelRequest, Role, ToolUse};

/// What a model was asked.
pub(super) fn request(model: &str, request: &ModelRequest) -> String {
    let mut text = format!("request to {model}");
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let may = if request.tool_use == ToolUse::Never { " (not to be called)" } else { "" };
    writeln!(text, ", tools: [{}]{may}", tools.join(" ")).unwrap();
    for message in &request.messages {
        writeln!(text, "  {}", line(message)).unwrap();
    }
    text.trim_end().to_owned()
}

/// A message in one line.
pub(super) fn line(message: &Arc<Message>) -> String {
    let role = if message.role == Role::User { "user" } else { "assistant" };
    let blocks: Vec<String> = message.blocks.iter().map(block).collect();
    format!("{role}: {}", blocks.join(" | "))
}

fn block(block: &Block) -> String {
    match block {
        Block::Text { text, .. } => text.replace('\n', "\\n"),
        Block::Image(_) => "[image]".to_owned(),
        Block::Reasoning { text, .. } => format!("({text})"),
        Block::Call { id, name, arguments, .. } => format!("{name}#{id} {arguments}"),
        Block::Result { id, content, is_error, .. } => {
            format!("#{id} {} {content}", if *is_error { "error" } else { "=" })
        }
        Block::Opaque(_) => "[opaque]".to_owned(),
    }
}

/// What is worth a line of an event.
pub(super) fn event(event: &NumberedEvent) -> Option<String> {
    Some(match &event.event {
        RunEvent::Started { resumed: true, .. } => "goes on".to_owned(),
        RunEvent::Started { .. } | RunEvent::Text { .. } | RunEvent::Writing { .. } => return None,
        RunEvent::Reasoning { text } => format!("thinks {text}"),
        RunEvent::Asking { model, iteration } => format!("asks {model} ({iteration})"),
        RunEvent::Void { reason, next, .. } => {
            format!("void: {reason}; next {}", next.as_deref().unwrap_or("the same again"))
        }
        RunEvent::Answered { text, calls, .. } => {
            let calls: Vec<String> =
                calls.iter().map(|call| format!(" {} {}", call.tool, call.arguments)).collect();
            format!("answers {text:?}{}", calls.join(","))
        }
        RunEvent::CallBegan(call) => format!("calls {}", call.title),
        RunEvent::CallProgress { message, .. } => format!("progress {message}"),
        RunEvent::CallEnded { tool, outcome, result, artifact, .. } => {
            let whole = if artifact.is_some() { " (whole in an artifact)" } else { "" };
            format!("{tool} is {outcome}: {result}{whole}")
        }
        RunEvent::Asks { tool, rule, by, .. } => format!("{tool} waits for the {} ({rule})", by.as_str()),
        RunEvent::Handed { tool, .. } => format!("{tool} is handed to the client"),
        RunEvent::Guarded { guard, reason } => format!("guard {guard}: {reason}"),
        RunEvent::Warned { limit, reason } => format!("warned ({limit}): {reason}"),
        RunEvent::Compacted { before, after, summarised } => {
            assert!(after < before);
            format!("compacted{}", if *summarised { " with a summary" } else { " by dropping" })
        }
        RunEvent::Waiting { calls } => format!("waits for {} call(s)", calls.len()),
        RunEvent::Done { text, .. } => format!("done: {text:?}"),
        RunEvent::Failed(failure) => format!("failed ({}): {}", failure.kind, failure.message),
        RunEvent::Cancelled => "cancelled".to_owned(),
    })
}
