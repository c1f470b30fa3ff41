//! What the offline model says of itself and of tools.

use std::fmt::Write;

use toolroom::model::ModelEvent;

use super::on_offer::{OnOffer, Tool};

/// Words that are told at a time: enough for a reader to see them come.
const PIECE_WORDS: usize = 12;

/// More pieces than this are a flood of events; longer texts come in larger ones.
const PIECES: usize = 64;

/// Tools that are named as examples.
const EXAMPLES: usize = 5;

/// Tools that are worth an example, the most telling first.
const TELLING: [&str; 6] =
    ["calculator", "get_local_time", "read_file", "web_fetch", "list_files", "memory_store"];

const WHO: &str = "I am Toolroom's offline model: no AI, only rules that turn words into tool calls.";

const CONNECT: &str = "To talk with a real model, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or OLLAMA_HOST \
    for one on your own machine, and start again. `toolroom models list --all` shows all there are.";

/// Tells a text piece by piece.
pub(super) fn tell(text: &str, told: &mut dyn FnMut(ModelEvent)) {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let size = PIECE_WORDS.max(words.len().div_ceil(PIECES));
    for piece in words.chunks(size) {
        told(ModelEvent::Text(piece.concat()));
    }
}

/// Who it is, what it can do, and how to get somebody better.
pub(super) fn introduction(tools: &OnOffer<'_>) -> String {
    if tools.is_empty() {
        return format!("{WHO} There are no tools here that I may use.\n\n{CONNECT}");
    }
    let mut text = format!("{WHO} Ask for something that a tool can do, or name the tool yourself:\n");
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

/// All tools, a line for each.
pub(super) fn all(tools: &OnOffer<'_>) -> String {
    if tools.is_empty() {
        return introduction(tools);
    }
    let mut text = "These tools can be called:\n".to_owned();
    for tool in tools.iter() {
        line(&mut text, tool);
    }
    let _ = write!(text, "\n\n{WHO} {CONNECT}");
    text
}

/// No tool is called so.
pub(super) fn no_such_tool(name: &str, near: &[&Tool<'_>], tools: &OnOffer<'_>) -> String {
    let mut text = format!("There is no tool `{name}` here.");
    match near {
        [] => text.push_str(if tools.is_empty() {
            " There are none at all."
        } else {
            " `/tools` lists those there are."
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

/// A tool was named, and its arguments are wrong.
pub(super) fn misused(tool: &Tool<'_>, problem: &str) -> String {
    let mut text = format!("{} was not called: {problem}. Write it like this:\n", tool.title());
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

/// Nothing clear was said; these tools are near.
pub(super) fn unclear(near: &[&Tool<'_>], tools: &OnOffer<'_>) -> String {
    if near.is_empty() {
        let list = if tools.is_empty() { "" } else { " `/tools` lists what I can call." };
        return format!(
            "No tool here does that by my rules, and I am no AI that could answer by itself.{list}\n\n{CONNECT}"
        );
    }
    let mut text = "I am not sure what to call for that. These tools look near:\n".to_owned();
    for tool in near {
        line(&mut text, tool);
    }
    let _ = write!(text, "\n\nI go by rules and am no AI. {CONNECT}");
    text
}

/// Tools may not be called any more, and nothing was learned from them.
pub(super) fn may_not_call() -> String {
    "I may not call tools in this answer, and without them I know nothing: I am no AI, only rules. Ask once more.".to_owned()
}

/// There is a picture and nothing else.
pub(super) fn cannot_see() -> String {
    format!("I cannot look at pictures. {WHO}\n\n{CONNECT}")
}

/// Somebody says thanks.
pub(super) fn welcome() -> String {
    "You are welcome.".to_owned()
}

/// Somebody takes leave.
pub(super) fn farewell() -> String {
    "Goodbye. The conversation is kept: `toolroom chat --continue` goes on with it.".to_owned()
}

/// Somebody greets.
pub(super) fn greeting(tools: &OnOffer<'_>) -> String {
    format!("Hello! {}", introduction(tools))
}

fn line(text: &mut String, tool: &Tool<'_>) {
    let _ = write!(text, "\n- {}: `{}`", tool.title(), tool.usage());
    let gist = tool.gist();
    if !gist.is_empty() {
        let _ = write!(text, " · {gist}");
    }
}

fn examples<'t, 'r>(tools: &'t OnOffer<'r>) -> Vec<&'t Tool<'r>> {
    let telling = TELLING.iter().filter_map(|name| tools.iter().find(|tool| tool.typed() == *name));
    let others = tools.iter().filter(|tool| !TELLING.contains(&tool.typed()));
    telling.chain(others).take(EXAMPLES).collect()
}
