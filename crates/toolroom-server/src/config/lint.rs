//! What is probably not meant, although it can be used.

use std::path::Path;

use toolroom::nearest::nearest_one;
use toolroom::policy::ToolPattern;
use toolroom::tool::ToolSpec;
use toolroom_host::environment;
use toolroom_host::files::{Judge, Role};

use super::place::Folder;
use super::problem::{Problem, shown};
use super::toml_text::joined;
use super::{Loaded, Origin};

/// Rules that show no example; rules, limits and agents that are about none of the tools there are; and folders that are
/// never opened.
#[must_use]
pub fn lint(loaded: &Loaded, tools: &[ToolSpec]) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let mut warn = |origin: &Origin, line, key: &str, message| {
        warnings.push(Problem { origin: origin.clone(), line, key: key.to_owned(), message });
    };
    for rule in &loaded.config.rules {
        let key = joined("rule", &rule.text.id);
        if rule.text.matches.is_empty() && rule.text.not_matches.is_empty() {
            let message = "has no example; `match` and `not_match` show what it means".to_owned();
            warn(&rule.origin, rule.line, &key, message);
        }
        if let Some(message) = about_nothing(&rule.text.tool, tools) {
            warn(&rule.origin, rule.line, &key, message);
        }
    }
    for section in &loaded.config.tools {
        if let Some(message) = about_nothing(&section.tool, tools) {
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
    for said in &loaded.config.agents {
        let path = joined("agent", &said.agent);
        for (name, patterns) in [("allow", &said.keys.allow), ("deny", &said.keys.deny)] {
            for message in patterns.iter().flatten().filter_map(|pattern| about_nothing(pattern, tools)) {
                warn(&said.origin, said.line, &joined(&path, name), message);
            }
        }
    }
    warnings
}

/// Says so if no tool will ever get into a folder, as far as its name tells. Where links lead is for an examination
/// to find out.
fn never_opened(folder: &Folder, judge: &Judge) -> Option<String> {
    let refusal = judge.root(&folder.path()?).err()?;
    let folder = shown(&folder.to_string());
    Some(format!("names `{folder}`, which {refusal}; name a folder of your own, such as `~/notes`"))
}

/// Warns of a name that is hidden from programs by no rule.
fn unknown_credential_name(name: &str, judge: &Judge) -> Option<String> {
    let is_known = name == "*" || judge.credentials(&Path::new("/").join(name), Role::File).is_err();
    let told =
        || format!("names `{}`, which is not kept from programs; write a name such as `.env`", shown(name));
    (!is_known).then(told)
}

/// Says so if a pattern fits no tool. Tools may come and go, so this is no mistake.
fn about_nothing(pattern: &str, tools: &[ToolSpec]) -> Option<String> {
    let parsed = ToolPattern::parse(pattern).ok()?;
    if tools.iter().any(|spec| parsed.matches(spec)) {
        return None;
    }
    let near = nearest_one(pattern, tools.iter().map(|spec| spec.id.as_str()));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Some(format!("is about `{}`, which no tool here is called{hint}", shown(pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, load};

    #[test]
    fn what_is_probably_not_meant_is_told_with_its_place() {
        let text = "[tool.lotery]\nrate = '1/h'\n[tool.'app:*']\n[tool.'zz?']\n\
                    [[rule]]\nid = 'a'\neffect = 'ask'\ntool = 'lottery'\n\
                    [agent.cook]\nallow = ['lottery', 'lotery']\ndeny = ['nothing']\n\
                    [[rule]]\nid = 'b'\neffect = 'ask'\ntool = 'games'\nmatch = [{}]\n";
        let loaded = load(&[Layer::User { path: "t.toml".into(), text: text.to_owned() }]).unwrap();
        let tools = [ToolSpec::new("app:lottery", "").unwrap().family("games", true)];
        let told: Vec<String> = lint(&loaded, &tools).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "t.toml:5: `rule.a` has no example; `match` and `not_match` show what it means",
                "t.toml:1: `tool.lotery` is about `lotery`, which no tool here is called; \
                 did you mean `app:lottery`?",
                "t.toml:4: `tool.\"zz?\"` is about `zz?`, which no tool here is called",
                "t.toml:9: `agent.cook.allow` is about `lotery`, which no tool here is called; \
                 did you mean `app:lottery`?",
                "t.toml:9: `agent.cook.deny` is about `nothing`, which no tool here is called",
            ]
        );
    }

    #[test]
    fn folders_that_are_never_opened_are_told_with_what_to_do() {
        let text =
            "[files]\nread = ['/srv/data', '/proc/self', '/home/ann/.ssh']\nwrite = ['/', '/etc/', '/srv']";
        let loaded = load(&[Layer::User { path: "t.toml".into(), text: text.to_owned() }]).unwrap();
        let told: Vec<String> = lint(&loaded, &[]).iter().map(ToString::to_string).collect();
        let never = "which is never opened for tools";
        let own = "name a folder of your own, such as `~/notes`";
        assert_eq!(
            told,
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
