//! What other programs allow and forbid, as rules that would do the same here. They are shown, never set: rules are
//! written by people.

use serde_json::Value;

use super::Contents;
use super::entry::name_of;

/// A rule somebody may want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedRule {
    /// `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// What the server is called there; here it may have another name.
    pub server: String,
    /// The tool it is about, or `*` for all of the server.
    pub tool: String,
}

impl SuggestedRule {
    /// Whether it is about the server that is called so there.
    #[must_use]
    pub fn is_about(&self, called: &str) -> bool {
        self.server == called || name_of(&self.server).is_some_and(|name| name_of(called) == Some(name))
    }
}

/// The permissions of Claude Code; those about its own tools have no meaning here.
pub(super) fn of_claude_code(document: &Value, contents: &mut Contents) {
    let permissions = document.get("permissions");
    for effect in ["deny", "ask", "allow"] {
        let list = permissions.and_then(|permissions| permissions.get(effect)).and_then(Value::as_array);
        for rule in list.into_iter().flatten().filter_map(Value::as_str) {
            match pattern(rule) {
                Some((server, tool)) => contents.rules.push(SuggestedRule { effect, server, tool }),
                None => {
                    contents.left.push(format!("the rule `{effect} {rule}` is about a tool of Claude Code"));
                }
            }
        }
    }
    if document.get("hooks").is_some() {
        contents.left.push("hooks are not taken over".to_owned());
    }
    for (key, why) in [
        ("enabledMcpjsonServers", "what is on here says `toolroom mcp enable`"),
        ("disabledMcpjsonServers", "what is off here says `toolroom mcp disable`"),
        ("enableAllProjectMcpServers", "servers of a folder are switched on one by one here"),
    ] {
        if document.get(key).is_some() {
            contents.left.push(format!("`{key}` is not taken over: {why}"));
        }
    }
}

/// `mcp__server__tool`, or `mcp__server` for all of its tools.
fn pattern(rule: &str) -> Option<(String, String)> {
    let (server, tool) = match rule.strip_prefix("mcp__")?.split_once("__") {
        Some((server, tool)) => (server, tool),
        None => (rule.strip_prefix("mcp__")?, "*"),
    };
    let is_fine = |text: &str| !text.is_empty() && !text.contains(['(', ':', '"', '\\']);
    (is_fine(server) && is_fine(tool)).then(|| (server.to_owned(), tool.to_owned()))
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
            rules.push(SuggestedRule { effect, server: server.to_owned(), tool: tool.to_owned() });
        }
    }
    rules
}

/// What an entry says that means nothing here, or that only a person says here.
pub(super) fn left_of(called: &str, entry: &Value) -> Vec<String> {
    let said = [
        ("trust", "nothing is trusted because a file says so; write rules, and see `toolroom mcp declare`"),
        ("includeTools", "switch off those that are not wanted with `toolroom tools disable`"),
        ("enabled_tools", "switch off those that are not wanted with `toolroom tools disable`"),
        ("available_tools", "switch off those that are not wanted with `toolroom tools disable`"),
        ("oauth", "sign in with `toolroom mcp login`"),
        ("auth", "sign in with `toolroom mcp login`"),
        ("authProviderType", "sign in with `toolroom mcp login`"),
        ("envFile", "say its variables with `toolroom mcp set --env`"),
    ];
    let is_said = |key: &str| {
        let value = entry.get(key);
        value.is_some_and(|value| {
            !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("")
        })
    };
    let left = said.into_iter().filter(|(key, _)| is_said(key));
    left.map(|(key, why)| format!("`{key}` of `{called}` is not taken over: {why}")).collect()
}
