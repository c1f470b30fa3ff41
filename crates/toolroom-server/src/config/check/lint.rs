//! Warnings about valid settings that are probably mistakes.

use std::path::Path;

use toolroom::nearest::nearest_one;
use toolroom::policy::ToolPattern;
use toolroom::tool::ToolSpec;
use toolroom_host::environment;
use toolroom_host::files::{Judge, Role};

use crate::config::check::problem::{Problem, shown};
use crate::config::text::toml::joined;
use crate::config::values::Folder;
use crate::config::{LoadedConfig, Origin};

/// Warns about rules without examples, rules, limits and agents that match no tool, and folders that are never opened.
#[must_use]
pub fn lint(loaded: &LoadedConfig, tools: &[ToolSpec]) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let mut warn = |origin: &Origin, line, key: &str, message| {
        warnings.push(Problem { origin: origin.clone(), line, key: key.to_owned(), message });
    };
    for rule in &loaded.config.rules {
        let key = joined("rule", &rule.text.id);
        if rule.text.matches.is_empty() && rule.text.not_matches.is_empty() {
            let message = "has no examples; add `match` and `not_match`".to_owned();
            warn(&rule.origin, rule.line, &key, message);
        }
        if let Some(message) = matches_no_tool(&rule.text.tool, tools) {
            warn(&rule.origin, rule.line, &key, message);
        }
    }
    for section in &loaded.config.tools {
        if let Some(message) = matches_no_tool(&section.tool, tools) {
            warn(&section.origin, section.line, &joined("tool", &section.tool), message);
        }
    }
    let judge = Judge::new(environment::path_variable("HOME"));
    let files = &loaded.config.files;
    for (key, folders) in [("files.read", &files.read), ("files.write", &files.write)] {
        for message in folders.iter().filter_map(|folder| never_opened(folder, &judge)) {
            warn(loaded.origin(key), None, key, message);
        }
    }
    for message in files.programs_read.iter().filter_map(|name| unknown_credential_name(name, &judge)) {
        let key = "files.programs_read";
        warn(loaded.origin(key), None, key, message);
    }
    for agent in &loaded.config.agents {
        let path = joined("agent", &agent.agent);
        for (name, patterns) in [("allow", &agent.keys.allow), ("deny", &agent.keys.deny)] {
            for message in patterns.iter().flatten().filter_map(|pattern| matches_no_tool(pattern, tools)) {
                warn(&agent.origin, agent.line, &joined(&path, name), message);
            }
        }
    }
    warnings
}

/// Warns about folders that are never opened, judging by their path. Links are resolved by `toolroom doctor`.
fn never_opened(folder: &Folder, judge: &Judge) -> Option<String> {
    let refusal = judge.root(&folder.path()?).err()?;
    let folder = shown(&folder.to_string());
    Some(format!("names `{folder}`, which {refusal}; use a folder of your own, such as `~/notes`"))
}

/// Warns about a name that is not a protected credential file.
fn unknown_credential_name(name: &str, judge: &Judge) -> Option<String> {
    let is_known = name == "*" || judge.credentials(&Path::new("/").join(name), Role::File).is_err();
    let message =
        || format!("names `{}`, which is not hidden from programs; use a name such as `.env`", shown(name));
    (!is_known).then(message)
}

/// Warns if a pattern matches no tool. Not an error, because tools may be added later.
fn matches_no_tool(pattern: &str, tools: &[ToolSpec]) -> Option<String> {
    let parsed = ToolPattern::parse(pattern).ok()?;
    if tools.iter().any(|spec| parsed.matches(spec)) {
        return None;
    }
    let near = nearest_one(pattern, tools.iter().map(|spec| spec.id.as_str()));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Some(format!("matches no tool: unknown tool `{}`{hint}", shown(pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, load};

    #[test]
    fn likely_mistakes_are_reported_with_their_position() {
        let text = "[tool.lotery]\nrate = '1/h'\n[tool.'app:*']\n[tool.'zz?']\n\
                    [[rule]]\nid = 'a'\neffect = 'ask'\ntool = 'lottery'\n\
                    [agent.cook]\nallow = ['lottery', 'lotery']\ndeny = ['nothing']\n\
                    [[rule]]\nid = 'b'\neffect = 'ask'\ntool = 'games'\nmatch = [{}]\n";
        let loaded = load(&[Layer::User { path: "t.toml".into(), text: text.to_owned() }]).unwrap();
        let tools = [ToolSpec::new("app:lottery", "").unwrap().family("games", true)];
        let warnings_text: Vec<String> = lint(&loaded, &tools).iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings_text,
            [
                "t.toml:5: `rule.a` has no examples; add `match` and `not_match`",
                "t.toml:1: `tool.lotery` matches no tool: unknown tool `lotery`; \
                 did you mean `app:lottery`?",
                "t.toml:4: `tool.\"zz?\"` matches no tool: unknown tool `zz?`",
                "t.toml:9: `agent.cook.allow` matches no tool: unknown tool `lotery`; \
                 did you mean `app:lottery`?",
                "t.toml:9: `agent.cook.deny` matches no tool: unknown tool `nothing`",
            ]
        );
    }

    #[test]
    fn folders_that_are_never_opened_are_reported_with_a_remedy() {
        let text =
            "[files]\nread = ['/srv/data', '/proc/self', '/home/ann/.ssh']\nwrite = ['/', '/etc/', '/srv']";
        let loaded = load(&[Layer::User { path: "t.toml".into(), text: text.to_owned() }]).unwrap();
        let warnings_text: Vec<String> = lint(&loaded, &[]).iter().map(ToString::to_string).collect();
        let never = "which is never opened for tools";
        let own = "use a folder of your own, such as `~/notes`";
        assert_eq!(
            warnings_text,
            [
                format!(
                    "t.toml: `files.read` names `/proc/self`, which lies in the system folder `/proc`, {never}; {own}"
                ),
                format!(
                    "t.toml: `files.read` names `/home/ann/.ssh`, which is a place of credentials, {never}; \
                     keep what a tool needs under `toolroom secrets`; {own}"
                ),
                format!(
                    "t.toml: `files.write` names `/`, which lies in the system folder `/`, {never}; {own}"
                ),
                format!(
                    "t.toml: `files.write` names `/etc/`, which lies in the system folder `/etc`, {never}; {own}"
                ),
            ]
        );
    }
}
