//! An import as it is shown before anything is done, in words or as JSON.

use serde::Serialize;
use serde_json::{Value, json};
use toolroom::foreign::Transport;
use toolroom_tools::mcp::reads;

use super::plan::{Before, Planned};
use super::values::SecretPlan;
use super::{Found, Rule};
use crate::cli::console::output::{BOLD, DIM, Output, visible};
use crate::cli::mcp::document::target;
use crate::gateway::seen_by_all;
use crate::settings::Fate;

/// Below its first line.
const INDENT: &str = "         ";

pub(super) fn show(found: &Found, before: &Before, output: Output) -> anyhow::Result<()> {
    if found.planned.is_empty() && found.skipped.is_empty() && found.rules.is_empty() {
        output.talk("no server of another program was found");
    }
    for planned in &found.planned {
        show_one(planned, before, output)?;
    }
    for (source, name, why) in &found.skipped {
        let (name, why) = (visible(name), visible(why));
        output.data(&format!("skipped  {BOLD}{name}{BOLD:#} {DIM}from {}{DIM:#}: {why}", source.name()))?;
    }
    for (source, left) in &found.left {
        output.data(&format!("skipped  {DIM}from {}{DIM:#}: {}", source.name(), visible(left)))?;
    }
    show_rules(&found.rules, output);
    Ok(())
}

fn show_one(planned: &Planned, before: &Before, output: Output) -> anyhow::Result<()> {
    let Planned { origin, record, fate, .. } = planned;
    let what = fate.as_str();
    let (name, from) = (visible(&record.name), origin.source.name());
    output.data(&format!("{what:<9}{BOLD}{name}{BOLD:#} {DIM}from {from}{DIM:#}"))?;
    if *fate == Fate::Same {
        return Ok(());
    }
    if let Some(before) = &planned.before {
        output.data(&format!("{INDENT}was {}", visible(&target(before))))?;
        output.data(&format!("{INDENT}is  {}", visible(&target(&record.transport))))?;
    } else {
        output.data(&format!("{INDENT}{}", visible(&target(&record.transport))))?;
    }
    if let Transport::Stdio(program) = &record.transport {
        let profile = visible(&program.profile);
        output.data(&format!("{INDENT}{DIM}in the sandbox profile `{profile}`{DIM:#}"))?;
        for path in reads(program, &before.workspace) {
            output.data(&format!("{INDENT}{DIM}may read {}{DIM:#}", visible(&path.display().to_string())))?;
        }
    }
    if let Some(warning) = seen_by_all(&record.transport) {
        output.data(&format!("{INDENT}warning: {warning}"))?;
    }
    if origin.is_of_others() && !record.is_enabled {
        let path = visible(&origin.path.display().to_string());
        output.data(&format!(
            "{INDENT}off, as it comes with the folder (`{path}`): look at it, then `toolroom mcp enable {name}`"
        ))?;
    }
    for SecretPlan { name, value, from } in &planned.secrets {
        let (name, from) = (visible(name), visible(from));
        match value.is_some() || before.is_kept(&name) {
            true => output.data(&format!("{INDENT}{DIM}secret {name} from {from}{DIM:#}"))?,
            false => output
                .data(&format!("{INDENT}secret {name} ({from}) is missing: `toolroom secrets set {name}`"))?,
        }
    }
    Ok(())
}

fn show_rules(rules: &[Rule], output: Output) {
    if rules.is_empty() {
        return;
    }
    output.hint("these rules would do here what was said there; put those you want into your configuration:");
    for (index, Rule { effect, tool }) in rules.iter().enumerate() {
        let (number, tool) = (index + 1, visible(tool));
        output.talk(format_args!(
            "\n[[rule]]\nid = \"imported-{number}\"\neffect = \"{effect}\"\ntool = \"{tool}\""
        ));
    }
    if rules.iter().any(|rule| rule.effect == "allow") {
        output.hint(
            "a tool of another server is asked about in spite of an allow rule until you have said what it can do: \
             `toolroom mcp declare`",
        );
    }
}

/// What `--json` prints of a server.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    state: Fate,
    source: &'static str,
    file: String,
    is_enabled: bool,
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    entry: Value,
    reads: Vec<String>,
    secrets: Vec<Value>,
}

impl<'a> Listed<'a> {
    fn of(planned: &'a Planned, before: &Before) -> Self {
        let Planned { origin, record, .. } = planned;
        let known = |secret: &SecretPlan| secret.value.is_some() || before.is_kept(&secret.name);
        let secret = |secret: &SecretPlan| json!({"name": secret.name, "from": secret.from, "is_known": known(secret)});
        let reads = match &record.transport {
            Transport::Stdio(program) => reads(program, &before.workspace),
            Transport::Http(_) | Transport::Sse(_) => Vec::new(),
        };
        Self {
            name: &record.name,
            state: planned.fate,
            source: origin.source.name(),
            file: origin.path.display().to_string(),
            is_enabled: record.is_enabled,
            target: target(&record.transport),
            before: planned.before.as_ref().map(target),
            entry: json!(record.transport),
            reads: reads.iter().map(|path| path.display().to_string()).collect(),
            secrets: planned.secrets.iter().map(secret).collect(),
        }
    }
}

pub(super) fn document(found: &Found, before: &Before, is_done: bool) -> Value {
    let listed: Vec<Listed<'_>> = found.planned.iter().map(|planned| Listed::of(planned, before)).collect();
    let skipped: Vec<Value> = found
        .skipped
        .iter()
        .map(|(source, name, why)| json!({"source": source.name(), "name": name, "why": why}))
        .collect();
    let left: Vec<Value> =
        found.left.iter().map(|(source, what)| json!({"source": source.name(), "what": what})).collect();
    json!({"servers": listed, "skipped": skipped, "left": left, "rules": found.rules, "done": is_done})
}
