//! Permissions of other programs as equivalent policy rules. They are suggested, never applied.

use serde_json::Value;

use super::ImportedFile;
use super::entry::valid_name;

/// A suggested policy rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedRule {
    /// `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// The server's name in the other program.
    pub server: String,
    /// The tool, or `*` for all tools of the server.
    pub tool: String,
}

impl SuggestedRule {
    /// Whether the rule is about the server with this name in the other program.
    #[must_use]
    pub fn is_about(&self, original_name: &str) -> bool {
        self.server == original_name
            || valid_name(&self.server).is_some_and(|name| valid_name(original_name) == Some(name))
    }
}

/// Reads the permissions of Claude Code, except those for its own tools.
pub(super) fn from_claude_code(document: &Value, contents: &mut ImportedFile) {
    let permissions = document.get("permissions");
    for effect in ["deny", "ask", "allow"] {
        let list = permissions.and_then(|permissions| permissions.get(effect)).and_then(Value::as_array);
        for rule in list.into_iter().flatten().filter_map(Value::as_str) {
            match pattern(rule) {
                Some((server, tool)) => contents.rules.push(SuggestedRule { effect, server, tool }),
                None => {
                    contents.ignored.push(format!("the rule `{effect} {rule}` is for a tool of Claude Code"));
                }
            }
        }
    }
    if document.get("hooks").is_some() {
        contents.ignored.push("hooks are not imported".to_owned());
    }
    for (key, why) in [
        ("enabledMcpjsonServers", "use `toolroom mcp enable`"),
        ("disabledMcpjsonServers", "use `toolroom mcp disable`"),
        ("enableAllProjectMcpServers", "enable servers one by one with `toolroom mcp enable`"),
    ] {
        if document.get(key).is_some() {
            contents.ignored.push(format!("`{key}` is not imported: {why}"));
        }
    }
}

/// Parses `mcp__server__tool`, or `mcp__server` for all of its tools.
fn pattern(rule: &str) -> Option<(String, String)> {
    let (server, tool) = match rule.strip_prefix("mcp__")?.split_once("__") {
        Some((server, tool)) => (server, tool),
        None => (rule.strip_prefix("mcp__")?, "*"),
    };
    let is_fine = |text: &str| !text.is_empty() && !text.contains(['(', ':', '"', '\\']);
    (is_fine(server) && is_fine(tool)).then(|| (server.to_owned(), tool.to_owned()))
}

/// Reads the permissions of single tools in a server's entry.
pub(super) fn from_entry(server: &str, entry: &Value) -> Vec<SuggestedRule> {
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

/// The settings of an entry that are not imported.
pub(super) fn ignored_settings(original_name: &str, entry: &Value) -> Vec<String> {
    let settings = [
        ("trust", "a file cannot grant trust; write rules, and see `toolroom mcp declare`"),
        ("includeTools", "disable unwanted tools with `toolroom tools disable`"),
        ("enabled_tools", "disable unwanted tools with `toolroom tools disable`"),
        ("available_tools", "disable unwanted tools with `toolroom tools disable`"),
        ("oauth", "sign in with `toolroom mcp login`"),
        ("auth", "sign in with `toolroom mcp login`"),
        ("authProviderType", "sign in with `toolroom mcp login`"),
        ("envFile", "set its variables with `toolroom mcp set --env`"),
    ];
    let is_set = |key: &str| {
        let value = entry.get(key);
        value.is_some_and(|value| {
            !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("")
        })
    };
    let ignored = settings.into_iter().filter(|(key, _)| is_set(key));
    ignored.map(|(key, why)| format!("`{key}` of `{original_name}` is not imported: {why}")).collect()
}
