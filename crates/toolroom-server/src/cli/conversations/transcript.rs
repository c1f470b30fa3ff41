//! Renders conversations for the terminal and as Markdown.

use jiff::tz::TimeZone;
use serde_json::Value;
use toolroom::catalog::WireNames;
use toolroom::conversation::{Content, Conversation, ConversationEntry};
use toolroom::model::{Block, Message, Role};

use crate::cli::console::output::{BOLD, DIM, GREEN, RED, escape_controls, one_line, visible};
use crate::cli::console::time::local_time;
use toolroom::schema::plain;

/// Width of arguments and results.
const SUMMARY_CHARS: usize = 72;

/// Renders a conversation for a terminal.
pub(super) fn as_text(conversation: &Conversation, entries: &[ConversationEntry], zone: &TimeZone) -> String {
    let began = local_time(conversation.created_at, zone, "%Y-%m-%d %H:%M %Z");
    let title = one_line(&conversation.title, SUMMARY_CHARS);
    let mut text = format!("{BOLD}{title}{BOLD:#}\n{DIM}{} · {began}{DIM:#}\n", conversation.id);
    for entry in entries {
        match &entry.content {
            Content::Message(message) => {
                for block in &message.blocks {
                    text.push_str(&shown(message.role, block));
                }
            }
            Content::Summary(summary) => {
                text.push_str(&format!(
                    "\n{DIM}earlier messages are sent as a summary ({} → {} tokens){DIM:#}\n{}",
                    summary.before,
                    summary.after,
                    barred(&summary.text)
                ));
            }
        }
    }
    text
}

fn shown(role: Role, block: &Block) -> String {
    match block {
        Block::Text { text, .. } => {
            let who = match role {
                Role::User => "you",
                Role::Assistant => "answer",
            };
            format!("\n{BOLD}{who}{BOLD:#}\n{}", barred(text))
        }
        Block::Image(image) => format!("{DIM}  an image ({}){DIM:#}\n", visible(&image.media_type)),
        Block::Reasoning { .. } | Block::Opaque(_) => String::new(),
        Block::Call { name, arguments, .. } => {
            format!(
                "{DIM}○{DIM:#} {BOLD}{}{BOLD:#}  {}\n",
                tool_name(name),
                one_line(arguments, SUMMARY_CHARS)
            )
        }
        Block::Result { name, content, is_error, .. } => {
            let dot = if *is_error { RED } else { GREEN };
            format!(
                "{dot}●{dot:#} {BOLD}{}{BOLD:#}  {}\n",
                tool_name(name),
                one_line(&plain(content), SUMMARY_CHARS)
            )
        }
    }
}

/// Converts the wire name of a tool to its id.
fn tool_name(name: &str) -> String {
    let id = WireNames::read(name);
    visible(id.strip_prefix("builtin:").unwrap_or(&id))
}

/// Puts untrusted lines behind a bar, so that they cannot imitate our own.
fn barred(text: &str) -> String {
    text.lines().map(|line| format!("  │ {}\n", escape_controls(line))).collect()
}

/// Renders a conversation as Markdown. No message can end its block.
pub(super) fn as_markdown(
    conversation: &Conversation,
    entries: &[ConversationEntry],
    zone: &TimeZone,
) -> String {
    let mut text = format!("# {}\n\n", one_line(&conversation.title, SUMMARY_CHARS));
    let began = local_time(conversation.created_at, zone, "%Y-%m-%d %H:%M %Z");
    text.push_str(&format!("Conversation `{}`, {began}\n", conversation.id));
    for entry in entries {
        match &entry.content {
            Content::Message(message) => {
                text.push_str(&section(message, &local_time(entry.at, zone, "%H:%M")));
            }
            Content::Summary(summary) => {
                text.push_str(&format!("\n## Summary of earlier messages\n\n{}\n", summary.text.trim()));
            }
        }
    }
    text.trim_end().to_owned()
}

fn section(message: &Message, at: &str) -> String {
    let is_result = message.blocks.iter().all(|block| matches!(block, Block::Result { .. }));
    let mut text = match message.role {
        Role::User if is_result => String::new(),
        Role::User => format!("\n## You, {at}\n"),
        Role::Assistant => format!("\n## Answer, {at}\n"),
    };
    for block in &message.blocks {
        match block {
            Block::Text { text: said, .. } => text.push_str(&format!("\n{}\n", said.trim())),
            Block::Image(image) => text.push_str(&format!("\n*An image ({}).*\n", image.media_type)),
            Block::Reasoning { .. } | Block::Opaque(_) => {}
            Block::Call { name, arguments, .. } => {
                text.push_str(&format!("\nCalls `{}`:\n\n{}", tool_name(name), fenced(arguments)));
            }
            Block::Result { name, content, is_error, .. } => {
                let what = if *is_error { "Error" } else { "Result" };
                let content = match content.as_ref() {
                    Value::String(content) => content.clone(),
                    content => serde_json::to_string_pretty(content).unwrap_or_default(),
                };
                text.push_str(&format!("\n{what} of `{}`:\n\n{}", tool_name(name), fenced(&content)));
            }
        }
    }
    text
}

/// A block of code with a fence longer than any in it.
fn fenced(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fenced("a"), "```\na\n```\n");
        assert_eq!(fenced("```\nx\n````"), "`````\n```\nx\n````\n`````\n");
    }

    #[test]
    fn messages_cannot_imitate_our_own_lines() {
        assert_eq!(barred("one\nyou\u{1b}[2J"), "  │ one\n  │ you\\u{1b}[2J\n");
    }
}
