//! The texts of the offline model.

use std::fmt::Write;

use toolroom::model::ModelEvent;

use super::tool_list::{ListedTool, ToolList};

/// Words in one event.
const WORDS_PER_EVENT: usize = 12;

/// Limit of events for one text.
const MAX_EVENTS: usize = 64;

/// Tools shown as examples.
const EXAMPLES: usize = 5;

/// Preferred example tools, in this order.
const PREFERRED: [&str; 6] =
    ["calculator", "get_local_time", "read_file", "web_fetch", "list_files", "memory_store"];

const ABOUT: &str = "No model connected: this is Toolroom's built-in offline mode, which turns messages into tool calls by rules.";

const CONNECT: &str = "To connect a model, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or OLLAMA_HOST \
    for one on your own machine, and start again. `toolroom models list --all` lists all vendors.";

/// Sends a text as several events.
pub(super) fn stream(text: &str, on_event: &mut dyn FnMut(ModelEvent)) {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let size = WORDS_PER_EVENT.max(words.len().div_ceil(MAX_EVENTS));
    for piece in words.chunks(size) {
        on_event(ModelEvent::Text(piece.concat()));
    }
}

/// What the offline mode is, what it can do, and how to connect a model.
pub(super) fn introduction(tools: &ToolList<'_>) -> String {
    if tools.is_empty() {
        return format!("{ABOUT} No tools are available.\n\n{CONNECT}");
    }
    let mut text = format!("{ABOUT} Ask for something that a tool can do, or call a tool directly:\n");
    for tool in examples(tools) {
        line(&mut text, tool);
    }
    let left = tools.iter().count().saturating_sub(EXAMPLES);
    if left > 0 {
        let _ = write!(text, "\n\n`/tools` lists {left} more.");
    }
    let _ = write!(text, "\n\n{CONNECT}");
    text
}

/// A list of all tools.
pub(super) fn all(tools: &ToolList<'_>) -> String {
    if tools.is_empty() {
        return introduction(tools);
    }
    let mut text = "Available tools:\n".to_owned();
    for tool in tools.iter() {
        line(&mut text, tool);
    }
    let _ = write!(text, "\n\n{ABOUT} {CONNECT}");
    text
}

/// The tool is unknown.
pub(super) fn no_such_tool(name: &str, near: &[&ListedTool<'_>], tools: &ToolList<'_>) -> String {
    let mut text = format!("Unknown tool `{name}`.");
    match near {
        [] => text.push_str(if tools.is_empty() {
            " No tools are available."
        } else {
            " `/tools` lists all tools."
        }),
        near => {
            text.push_str(" Did you mean one of these?\n");
            for tool in near {
                line(&mut text, tool);
            }
        }
    }
    text
}

/// The arguments of a call are invalid.
pub(super) fn misused(tool: &ListedTool<'_>, problem: &str) -> String {
    let mut text = format!("{} was not called: {problem}. Usage:\n", tool.title());
    line(&mut text, tool);
    let parameters: Vec<(&str, &str)> = tool
        .parameters()
        .filter_map(|(name, property)| Some((name, property.get("description")?.as_str()?.trim())))
        .filter(|(_, description)| !description.is_empty())
        .collect();
    for (name, description) in parameters.iter().take(8) {
        let _ = write!(text, "\n  - `{name}`: {}", description.lines().next().unwrap_or_default());
    }
    text
}

/// The request is unclear; these tools are similar.
pub(super) fn unclear(near: &[&ListedTool<'_>], tools: &ToolList<'_>) -> String {
    if near.is_empty() {
        let list = if tools.is_empty() { "" } else { " `/tools` lists all tools." };
        return format!(
            "No tool matches this message, and the offline mode cannot answer it without one.{list}\n\n{CONNECT}"
        );
    }
    let mut text = "It is not clear which tool to call. Similar tools:\n".to_owned();
    for tool in near {
        line(&mut text, tool);
    }
    let _ = write!(text, "\n\n{ABOUT} {CONNECT}");
    text
}

/// Tool calls are not allowed in this answer.
pub(super) fn no_calls_allowed() -> String {
    "Tool calls are not allowed in this answer, and the offline mode cannot answer without them. Ask again."
        .to_owned()
}

/// The message is only an image.
pub(super) fn no_images() -> String {
    format!("The offline mode cannot read images. {ABOUT}\n\n{CONNECT}")
}

/// The reply to thanks.
pub(super) fn welcome() -> String {
    "You are welcome.".to_owned()
}

/// The reply to a farewell.
pub(super) fn farewell() -> String {
    "Goodbye. `toolroom chat --continue` continues this conversation.".to_owned()
}

/// The reply to a greeting.
pub(super) fn greeting(tools: &ToolList<'_>) -> String {
    format!("Hello! {}", introduction(tools))
}

fn line(text: &mut String, tool: &ListedTool<'_>) {
    let _ = write!(text, "\n- {}: `{}`", tool.title(), tool.usage());
    let summary = tool.summary();
    if !summary.is_empty() {
        let _ = write!(text, " · {summary}");
    }
}

fn examples<'t, 'r>(tools: &'t ToolList<'r>) -> Vec<&'t ListedTool<'r>> {
    let preferred = PREFERRED.iter().filter_map(|name| tools.iter().find(|tool| tool.typed() == *name));
    let rest = tools.iter().filter(|tool| !PREFERRED.contains(&tool.typed()));
    preferred.chain(rest).take(EXAMPLES).collect()
}
