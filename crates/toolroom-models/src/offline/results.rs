//! Describes results of calls.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::model::{Block, Message, ModelCallId};
use toolroom::schema::plain;

use super::tool_list::ToolList;

/// Characters of one result that are shown.
const SHOWN: usize = 2_000;

/// A list or an object with more entries than this is shown as JSON.
const ENTRIES: usize = 20;

/// Characters of a value on its own line.
const LINE: usize = 200;

/// The kernel's marker in a shortened result, before the artifact's id.
const ARTIFACT: &str = "left out; whole result: result_read artifact=";

/// Describes the results of the last turn.
pub(super) fn describe(messages: &[&Message], tools: &ToolList<'_>) -> String {
    let blocks = messages.last().map(|message| message.blocks.as_slice()).unwrap_or_default();
    let texts: Vec<String> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Result { id, name, content, is_error } => {
                let title = tools
                    .by_wire_name(name)
                    .map_or_else(|| name.clone(), super::tool_list::ListedTool::title);
                let arguments = arguments(messages, id);
                Some((title, arguments, Arc::clone(content), *is_error))
            }
            Block::Text { .. }
            | Block::Image(_)
            | Block::Reasoning { .. }
            | Block::Call { .. }
            | Block::Opaque(_) => None,
        })
        .map(|(title, arguments, content, is_error)| match is_error {
            true => failure(&title, &content),
            false => success(&title, &arguments, &content),
        })
        .collect();
    match texts.as_slice() {
        [only] => only.clone(),
        several => several
            .iter()
            .map(|one| format!("- {}", one.replace('\n', "\n  ")))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// The arguments of the last call with this id.
fn arguments(messages: &[&Message], call: &ModelCallId) -> Map<String, Value> {
    let calls = messages.iter().rev().flat_map(|message| &message.blocks);
    let found = calls.filter_map(|block| match block {
        Block::Call { id, arguments, .. } if id == call => serde_json::from_str(arguments).ok(),
        _ => None,
    });
    found.into_iter().next().unwrap_or_default()
}

fn failure(title: &str, content: &Value) -> String {
    let field = |key: &str| content.get(key).and_then(Value::as_str).map(|text| cut(text.trim(), SHOWN));
    let error = field("error").unwrap_or_else(|| cut(&plain(content), SHOWN));
    let mut text = format!("{title} failed: {error}");
    if let Some(hint) = field("hint") {
        let _ = write!(text, "\n\n{hint}");
    }
    text
}

fn success(title: &str, arguments: &Map<String, Value>, content: &Value) -> String {
    let mut text = match content {
        Value::Null => format!("{title} is done."),
        Value::Bool(_) | Value::Number(_) => equation(title, arguments, content),
        Value::String(text) if text.trim().is_empty() => format!("{title} returned an empty text."),
        Value::String(text) if text.chars().nth(LINE).is_none() && !text.contains('\n') => {
            format!("{title}: {text}")
        }
        Value::String(text) => format!("{title}:\n\n{}", shown(text)),
        Value::Array(items) => list(title, items, content),
        Value::Object(map) => object(title, map, content),
    };
    if let Some(artifact) = artifact(content) {
        let _ = write!(text, "\n\nThe result was shortened; `/result_read artifact={artifact}` shows more.");
    }
    text
}

/// `17*23 = 391`, if the call had one string argument.
fn equation(title: &str, arguments: &Map<String, Value>, result: &Value) -> String {
    let mut values = arguments.values();
    match (values.next(), values.next()) {
        (Some(Value::String(asked)), None) if asked.chars().nth(LINE).is_none() && !asked.contains('\n') => {
            format!("{} = {result}", asked.trim())
        }
        _ => format!("{title}: {result}"),
    }
}

fn list(title: &str, items: &[Value], content: &Value) -> String {
    if items.is_empty() {
        return format!("{title} found nothing.");
    }
    let lines: Option<Vec<String>> =
        items.iter().map(|item| line(item).map(|line| format!("- {line}"))).collect();
    match lines.filter(|lines| lines.len() <= ENTRIES) {
        Some(lines) => format!("{title}:\n\n{}", lines.join("\n")),
        None => json(title, content, &format!("{} entries", items.len())),
    }
}

fn object(title: &str, map: &Map<String, Value>, content: &Value) -> String {
    if let (Some(Value::String(time)), Some(Value::String(zone))) =
        (map.get("display_datetime"), map.get("timezone"))
    {
        return format!("It is {time} ({zone}).");
    }
    if map.is_empty() {
        return format!("{title} is done.");
    }
    let text = map.get("content").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    // Other fields come before the content, one per line.
    let fields: Vec<(&String, &Value)> =
        map.iter().filter(|(key, _)| text.is_none() || *key != "content").collect();
    let lines: Option<Vec<String>> =
        fields.iter().map(|(key, value)| line(value).map(|line| format!("- {key}: {line}"))).collect();
    match (lines.filter(|lines| lines.len() <= ENTRIES), text) {
        (Some(lines), None) => format!("{title}:\n\n{}", lines.join("\n")),
        (Some(lines), Some(text)) if lines.is_empty() => format!("{title}:\n\n{}", shown(text)),
        (Some(lines), Some(text)) => format!("{title}:\n\n{}\n\n{}", lines.join("\n"), shown(text)),
        (None, _) => json(title, content, &format!("{} entries", map.len())),
    }
}

/// A value on one line, if it fits.
fn line(value: &Value) -> Option<String> {
    match value {
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            text.chars().nth(LINE).is_none().then_some(text)
        }
        value => {
            let text = plain(value);
            (text.chars().nth(LINE).is_none() && !text.contains('\n')).then_some(text)
        }
    }
}

fn json(title: &str, content: &Value, size: &str) -> String {
    let text = serde_json::to_string_pretty(content).unwrap_or_else(|_| content.to_string());
    let fence = if text.contains("```") { "````" } else { "```" };
    let count = text.chars().count();
    match count > SHOWN {
        true => format!(
            "{title} ({size}, {count} characters; the beginning):\n\n{fence}json\n{}\n{fence}",
            cut(&text, SHOWN)
        ),
        false => format!("{title}:\n\n{fence}json\n{text}\n{fence}"),
    }
}

/// A text, or its beginning with its length.
fn shown(text: &str) -> String {
    let count = text.chars().count();
    match count > SHOWN {
        true => format!("{}\n\n({count} characters in total; this is the beginning.)", cut(text, SHOWN)),
        false => text.trim_end().to_owned(),
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// The artifact id in a shortened result.
fn artifact(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => {
            let (_, after) = text.split_once(ARTIFACT)?;
            let id: String = after
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
                .take(80)
                .collect();
            (!id.is_empty()).then_some(id)
        }
        Value::Array(items) => items.iter().find_map(artifact),
        Value::Object(map) => map.values().find_map(artifact),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
