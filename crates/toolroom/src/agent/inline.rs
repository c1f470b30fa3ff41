//! Calls that a model printed as text, because it is weak or its template is broken.
//!
//! | form | as in |
//! |---|---|
//! | `<tool_call>{"name": …, "arguments": {…}}</tool_call>` | Hermes, Qwen |
//! | `<function=NAME><parameter=KEY>VALUE</parameter></function>`, alone or in `<tool_call>` | Qwen Coder, Llama |
//! | `<function_calls><invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke></function_calls>` | many |
//! | a code block of the language `tool_call` with JSON | many |
//! | `[TOOL_CALLS][{"name": …}]`, `[TOOL_CALLS]NAME[ARGS]{…}` | Mistral |
//! | `<\|python_tag\|>{"name": …, "parameters": {…}}` | Llama |
//!
//! Only names of tools on offer count, by their wire name, their id, or a bare name that one of them has. What cannot be
//! read, or names anything else, stays visible as it is: it may be an example. What opens and never closes ends with the
//! text. Each form is looked for once from front to back, so the time grows with the text and no faster.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::inline_values::{coerced, json_calls, marked_calls};
use crate::catalog::WireNames;
use crate::model::OfferedTool;
use crate::tool::ToolId;

/// A call that was found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct InlineCall {
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments, with values in the types that the tool declares where the text says them otherwise.
    pub arguments: Map<String, Value>,
}

/// What was found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// The text without the calls.
    pub text: String,
    /// The calls, in their order. There is at least one.
    pub calls: Vec<InlineCall>,
}

/// A way to mark calls in a text.
struct Form {
    opens: &'static str,
    /// What ends it, the first of these.
    closes: &'static [&'static str],
    /// Whether the opening is part of what is read, as it names the tool.
    names: bool,
}

const FORMS: [Form; 7] = [
    Form { opens: "<tool_call>", closes: &["</tool_call>"], names: false },
    Form { opens: "<function_calls>", closes: &["</function_calls>"], names: false },
    Form { opens: "<function=", closes: &["</function>"], names: true },
    Form { opens: "<invoke name=", closes: &["</invoke>"], names: true },
    Form { opens: "```tool_call", closes: &["```"], names: false },
    Form { opens: "[TOOL_CALLS]", closes: &["</s>"], names: false },
    Form { opens: "<|python_tag|>", closes: &["<|eom_id|>", "<|eot_id|>"], names: false },
];

/// A printed call, before the tool is looked up.
pub(super) struct PrintedCall {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
}

/// Finds the calls in a text that came without any. `None` if there are none, and the text is what it is.
#[must_use]
pub fn recover_calls(text: &str, tools: &[OfferedTool], names: &WireNames) -> Option<Recovered> {
    let mut kept = String::new();
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some((before, form, body)) = next_form(rest) {
        kept.push_str(before);
        let (inside, close, after) = block(form, body);
        match read(form, inside, !close.is_empty(), tools, names) {
            Some((found, unread)) => {
                calls.extend(found);
                rest = after;
                if close.is_empty() {
                    kept.push_str(unread);
                }
                drop_fence(&mut kept, &mut rest);
            }
            None => {
                kept.push_str(form.opens);
                rest = body;
                // A closed block was read as a whole. An open marker may be ordinary text, so the text after it is searched.
                if !close.is_empty() {
                    kept.push_str(inside);
                    kept.push_str(close);
                    rest = after;
                }
            }
        }
    }
    kept.push_str(rest);
    (!calls.is_empty()).then(|| Recovered { text: kept.trim().to_owned(), calls })
}

/// The text with a blank inside every call marker, so that [`recover_calls`] finds none. For a model that repeats tool
/// results verbatim: their author must not be able to make calls.
#[must_use]
pub fn without_calls(text: &str) -> Cow<'_, str> {
    let mut safe = String::new();
    let mut rest = text;
    while let Some((before, form, body)) = next_form(rest) {
        let (first, others) = form.opens.split_at(1);
        safe.extend([before, first, " ", others]);
        rest = body;
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    safe.push_str(rest);
    Cow::Owned(safe)
}

/// The next place where calls may begin: what stands before it, and what behind.
fn next_form(text: &str) -> Option<(&str, &'static Form, &str)> {
    memchr::memchr3_iter(b'<', b'[', b'`', text.as_bytes()).find_map(|at| {
        let (before, here) = text.split_at_checked(at)?;
        FORMS.iter().find_map(|form| Some((before, form, here.strip_prefix(form.opens)?)))
    })
}

/// What stands inside, what closes it, and what is behind it. One that is not closed ends where the next one opens.
fn block<'t>(form: &Form, body: &'t str) -> (&'t str, &'static str, &'t str) {
    let end = memchr::memchr3_iter(b'<', b'[', b'`', body.as_bytes()).find_map(|at| {
        let (inside, here) = body.split_at_checked(at)?;
        if here.starts_with(form.opens) {
            return Some((inside, "", here));
        }
        form.closes.iter().find_map(|close| Some((inside, *close, here.strip_prefix(close)?)))
    });
    end.unwrap_or((body, "", ""))
}

/// The calls of one block, if all of it is calls of tools on offer, and what was not read of one without an end.
fn read<'t>(
    form: &Form,
    inside: &'t str,
    closed: bool,
    tools: &[OfferedTool],
    names: &WireNames,
) -> Option<(Vec<InlineCall>, &'t str)> {
    // A code block may say `tool_calls` or `tool_call json`.
    let body = match form.opens {
        "```tool_call" => inside.split_once('\n')?.1,
        _ => inside,
    };
    let (printed, unread) = if form.names {
        marked_calls(form.opens, body)?
    } else {
        json_calls(body).or_else(|| marked_calls("", body))?
    };
    if closed && !unread.trim().is_empty() {
        return None;
    }
    let known = |call: PrintedCall| {
        let tool = on_offer(&call.name, tools, names)?;
        let arguments = coerced(call.arguments, &tool.parameters);
        Some(InlineCall { name: tool.name.clone(), arguments })
    };
    let calls: Vec<InlineCall> = printed.into_iter().map(known).collect::<Option<_>>()?;
    (!calls.is_empty()).then_some((calls, unread))
}

fn on_offer<'a>(name: &str, tools: &'a [OfferedTool], names: &WireNames) -> Option<&'a OfferedTool> {
    let name = name.trim();
    let wire = names.wire(name).unwrap_or(name);
    if let Some(tool) = tools.iter().find(|tool| tool.name == wire) {
        return Some(tool);
    }
    let is_called = |tool: &&OfferedTool| {
        let id = names.id(&tool.name).and_then(|id| ToolId::parse(id).ok());
        id.is_some_and(|id| id.bare() == name)
    };
    let mut called = tools.iter().filter(is_called);
    // One that could be either of two is none.
    called.next().filter(|_| called.next().is_none())
}

/// Takes away a code block that had nothing but calls in it.
fn drop_fence(kept: &mut String, rest: &mut &str) {
    let Some(after) = rest.trim_start().strip_prefix("```") else { return };
    let before = kept.trim_end();
    let (line_start, line) =
        before.rsplit_once('\n').map_or((0, before), |(above, line)| (above.len() + 1, line));
    let is_opening =
        line.strip_prefix("```").is_some_and(|language| language.bytes().all(|b| b.is_ascii_alphabetic()));
    if is_opening && after.lines().next().is_none_or(|line| line.trim().is_empty()) {
        kept.truncate(line_start);
        *rest = after;
    }
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
