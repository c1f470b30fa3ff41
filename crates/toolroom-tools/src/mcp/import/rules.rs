//! What other programs allow and forbid, as rules that would do the same here. They are shown, never set: rules are
//! written by people.

use serde::Serialize;
use serde_json::Value;

use super::Contents;

/// A rule somebody may want.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuggestedRule {
    /// `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// The tools it is about.
    pub tool: String,
}

/// The permissions of Claude Code; those about its own tools have no meaning here.
pub(super) fn of_claude_code(document: &Value, contents: &mut Contents) {
    let permissions = document.get("permissions");
    for effect in ["deny", "ask", "allow"] {
        let list = permissions.and_then(|permissions| permissions.get(effect)).and_then(Value::as_array);
        for rule in list.into_iter().flatten().filter_map(Value::as_str) {
            match pattern(rule) {
                Some(tool) => contents.rules.push(SuggestedRule { effect, tool }),
                None => {
                    contents.left.push(format!("the rule `{effect} {rule}` is about a tool of Claude Code"));
                }
            }
        }
    }
    if document.get("hooks").is_some() {
        contents.left.push("hooks are not taken over".to_owned());
    }
}

/// `mcp__server__tool`, or `mcp__server` for all of its tools.
fn pattern(rule: &str) -> Option<String> {
    let (server, tool) = match rule.strip_prefix("mcp__")?.split_once("__") {
        Some((server, tool)) => (server, tool),
        None => (rule.strip_prefix("mcp__")?, "*"),
    };
    let is_fine = |text: &str| !text.is_empty() && !text.contains(['(', ':', '"', '\\']);
    (is_fine(server) && is_fine(tool)).then(|| format!("mcp:{server}:{tool}"))
}

/// What an entry says about single tools.
pub(super) fn of_entry(server: &str, entry: &Value) -> Vec<SuggestedRule> {
    let mut rules = Vec::new();
    for (key, effect) in [
        ("autoApprove", "allow"),
        ("alwaysAllow", "allow"),
        ("excludeTools", "deny"),
        ("disabledTools", "deny"),
        ("disabled_tools", "deny"),
    ] {
        let list = entry.get(key).and_then(Value::as_array).into_iter().flatten();
        for tool in list.filter_map(Value::as_str).filter(|tool| !tool.contains(['"', '\\', ':'])) {
            rules.push(SuggestedRule { effect, tool: format!("mcp:{server}:{tool}") });
        }
    }
    rules
}
