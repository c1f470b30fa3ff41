//! Slash commands: `/tool key=value`.
//!
//! The name is followed by pairs, whose values may contain spaces up to the next pair or be quoted; by a JSON object; or by
//! free text for a tool with one string parameter.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use toolroom::nearest::nearest_one;
use toolroom::schema::{ArgumentWords, parse_object};

use super::Reply;
use super::texts;
use super::tool_list::{ListedTool, Lookup, ToolList};

/// Parses a message that begins with a slash and a name. `None` for anything else, such as a path.
pub(super) fn read(text: &str, tools: &ToolList<'_>) -> Option<Reply> {
    let line = text.strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
    if !name.starts_with(char::is_alphanumeric) || !name.chars().all(is_name) {
        return None;
    }
    let tool = match tools.look_up(name) {
        Lookup::Tool(tool) => tool,
        Lookup::Similar(_) if matches!(name, "help" | "tools") => {
            return Some(Reply::Words(texts::all(tools)));
        }
        Lookup::Similar(near) => return Some(Reply::Words(texts::no_such_tool(name, &near, tools))),
    };
    Some(match arguments(rest.trim(), tool) {
        Ok(arguments) => Reply::Call { name: tool.offered.name.clone(), arguments },
        Err(problem) => Reply::Words(texts::misused(tool, &problem)),
    })
}

/// The arguments of a call, or the problem with them.
fn arguments(rest: &str, tool: &ListedTool<'_>) -> Result<Map<String, Value>, String> {
    let arguments = if rest.starts_with('{') {
        parse_object(rest).map_err(|error| error.to_string())?
    } else if rest.is_empty() {
        Map::new()
    } else if pair(rest).is_some() {
        pairs(rest, tool)?
    } else {
        let key = tool.only_text().ok_or_else(|| format!("`{rest}` is not a key=value pair"))?;
        let mut words = ArgumentWords::new(tool.schema());
        words.text(key, &unquoted(rest)).map_err(|error| error.to_string())?;
        words.finish()
    };
    check(&arguments, tool)?;
    Ok(arguments)
}

/// Checks for unknown and missing arguments without a call in the journal.
fn check(arguments: &Map<String, Value>, tool: &ListedTool<'_>) -> Result<(), String> {
    let is_closed = tool.schema().get("additionalProperties") == Some(&Value::Bool(false));
    let known = || tool.parameters().map(|(name, _)| name);
    let unknown = arguments.keys().find(|key| is_closed && !known().any(|name| name == *key));
    if let Some(key) = unknown {
        let near = nearest_one(key, known()).map(|near| format!(" (did you mean `{near}`?)"));
        return Err(format!("unknown argument `{key}`{}", near.unwrap_or_default()));
    }
    let missing: Vec<String> = tool
        .required()
        .into_iter()
        .filter(|key| !arguments.contains_key(*key))
        .map(|key| format!("`{key}`"))
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        [only] => Err(format!("missing argument {only}")),
        several => Err(format!("missing arguments {}", several.join(", "))),
    }
}

fn pairs(rest: &str, tool: &ListedTool<'_>) -> Result<Map<String, Value>, String> {
    let mut words = ArgumentWords::new(tool.schema());
    let mut rest = rest;
    while !rest.is_empty() {
        let Some((key, is_json, after)) = pair(rest) else {
            return Err(format!("`{rest}` is not a key=value pair; quote values with spaces"));
        };
        let (value, after) = value(after, is_json);
        let added = match is_json {
            true => words.word(&format!("{key}:={value}")),
            false => words.text(key, &value),
        };
        added.map_err(|error| error.to_string())?;
        rest = after.trim_start();
    }
    Ok(words.finish())
}

/// The key at the beginning of a text, whether its value is JSON, and the text after the `=`. `==` is part of an
/// expression.
fn pair(text: &str) -> Option<(&str, bool, &str)> {
    let (key, value) = text.split_once('=')?;
    let (key, is_json) = key.strip_suffix(':').map_or((key, false), |key| (key, true));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = key.starts_with(|c: char| c.is_alphabetic() || c == '_') && key.chars().all(is_name);
    (fits && !value.starts_with('=')).then_some((key, is_json, value))
}

/// A value and the text after it: quoted, a JSON list or object, or everything up to the next pair.
fn value(text: &str, is_json: bool) -> (String, &str) {
    let is_end = |rest: &str| rest.chars().next().is_none_or(char::is_whitespace);
    if let Some((inside, rest)) = quoted(text).filter(|(_, rest)| !is_json && is_end(rest)) {
        return (inside, rest);
    }
    if is_json || text.starts_with(['[', '{']) {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        let is_whole = values.next().is_some_and(|value| value.is_ok());
        if let Some((json, rest)) = text.split_at_checked(values.byte_offset()).filter(|_| is_whole)
            && is_end(rest)
        {
            return (json.to_owned(), rest);
        }
    }
    let begins_pair = |(at, blank): (usize, char)| {
        let (before, rest) = text.split_at_checked(at.checked_add(blank.len_utf8())?)?;
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        pair(word).map(|_| (before, rest))
    };
    let mut blanks = text.char_indices().filter(|(_, c)| c.is_whitespace());
    let (value, rest) = blanks.find_map(begins_pair).unwrap_or((text, ""));
    (value.trim().to_owned(), rest)
}

/// A quoted text, and the text after it. A backslash escapes a quote and itself.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.chars();
    let quote = letters.next().filter(|c| matches!(c, '"' | '\''))?;
    let mut inside = String::new();
    while let Some(c) = letters.next() {
        match c {
            '\\' if letters.as_str().starts_with([quote, '\\']) => inside.extend(letters.next()),
            c if c == quote => return Some((inside, letters.as_str())),
            c => inside.push(c),
        }
    }
    None
}

/// A text without the quotes around the whole of it.
fn unquoted(text: &str) -> String {
    match quoted(text) {
        Some((inside, "")) => inside,
        _ => text.to_owned(),
    }
}
