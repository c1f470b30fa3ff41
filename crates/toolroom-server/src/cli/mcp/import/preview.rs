//! Shows the plan of an import, as text or JSON.

use serde::Serialize;
use serde_json::{Value, json};
use toolroom::foreign::Transport;
use toolroom_tools::mcp::reads;

use super::plan::{ExistingState, PlannedServer};
use super::values::PlannedSecret;
use super::{EquivalentRule, ServerImportPlan};
use crate::cli::console::output::{BOLD, DIM, Output, visible};
use crate::cli::mcp::document::target;
use crate::gateway::process_list_warning;
use crate::settings::ImportState;

/// Indentation of details.
const INDENT: &str = "         ";

pub(super) fn show(plan: &ServerImportPlan, existing: &ExistingState, output: Output) -> anyhow::Result<()> {
    if plan.servers.is_empty() && plan.skipped.is_empty() && plan.rules.is_empty() {
        output.talk("no servers of other programs found");
    }
    for planned in &plan.servers {
        show_server(planned, existing, output)?;
    }
    for (source, name, why) in &plan.skipped {
        let (name, why) = (visible(name), visible(why));
        output.data(&format!("skipped  {BOLD}{name}{BOLD:#} {DIM}from {}{DIM:#}: {why}", source.name()))?;
    }
    for (source, ignored) in &plan.ignored {
        output.data(&format!("skipped  {DIM}from {}{DIM:#}: {}", source.name(), visible(ignored)))?;
    }
    show_rules(&plan.rules, output);
    Ok(())
}

fn show_server(planned: &PlannedServer, existing: &ExistingState, output: Output) -> anyhow::Result<()> {
    let PlannedServer { origin, record, fate, .. } = planned;
    let what = fate.as_str();
    let (name, from) = (visible(&record.name), origin.source.name());
    output.data(&format!("{what:<9}{BOLD}{name}{BOLD:#} {DIM}from {from}{DIM:#}"))?;
    if *fate == ImportState::Same {
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
        output.data(&format!("{INDENT}{DIM}sandbox profile `{profile}`{DIM:#}"))?;
        for path in reads(program, &existing.workspace) {
            output.data(&format!("{INDENT}{DIM}may read {}{DIM:#}", visible(&path.display().to_string())))?;
        }
    }
    if let Some(warning) = process_list_warning(&record.transport) {
        output.data(&format!("{INDENT}warning: {warning}"))?;
    }
    if origin.is_untrusted() && !record.is_enabled {
        let path = visible(&origin.path.display().to_string());
        output.data(&format!(
            "{INDENT}disabled, because it comes with the folder (`{path}`): check it, then `toolroom mcp enable {name}`"
        ))?;
    }
    for PlannedSecret { name, value, from } in &planned.secrets {
        let (name, from) = (visible(name), visible(from));
        match value.is_some() || existing.has_secret(&name) {
            true => output.data(&format!("{INDENT}{DIM}secret {name} from {from}{DIM:#}"))?,
            false => output
                .data(&format!("{INDENT}secret {name} ({from}) is missing: `toolroom secrets set {name}`"))?,
        }
    }
    Ok(())
}

fn show_rules(rules: &[EquivalentRule], output: Output) {
    if rules.is_empty() {
        return;
    }
    output.hint("equivalent rules for Toolroom; copy those you want to your configuration:");
    for (index, EquivalentRule { effect, tool }) in rules.iter().enumerate() {
        let (number, tool) = (index + 1, visible(tool));
        output.talk(format_args!(
            "\n[[rule]]\nid = \"imported-{number}\"\neffect = \"{effect}\"\ntool = \"{tool}\""
        ));
    }
    if rules.iter().any(|rule| rule.effect == "allow") {
        output.hint(
            "a foreign tool asks for approval despite an allow rule until its capabilities are declared: `toolroom mcp \
             declare`",
        );
    }
}

/// A server in the JSON output.
#[derive(Serialize)]
struct PlannedServerDocument<'a> {
    name: &'a str,
    state: ImportState,
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

impl<'a> PlannedServerDocument<'a> {
    fn new(planned: &'a PlannedServer, existing: &ExistingState) -> Self {
        let PlannedServer { origin, record, .. } = planned;
        let known = |secret: &PlannedSecret| secret.value.is_some() || existing.has_secret(&secret.name);
        let secret = |secret: &PlannedSecret| json!({"name": secret.name, "from": secret.from, "is_known": known(secret)});
        let reads = match &record.transport {
            Transport::Stdio(program) => reads(program, &existing.workspace),
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

pub(super) fn document(plan: &ServerImportPlan, existing: &ExistingState, is_done: bool) -> Value {
    let servers: Vec<PlannedServerDocument<'_>> =
        plan.servers.iter().map(|planned| PlannedServerDocument::new(planned, existing)).collect();
    let skipped: Vec<Value> = plan
        .skipped
        .iter()
        .map(|(source, name, why)| json!({"source": source.name(), "name": name, "why": why}))
        .collect();
    let ignored: Vec<Value> =
        plan.ignored.iter().map(|(source, what)| json!({"source": source.name(), "what": what})).collect();
    json!({"servers": servers, "skipped": skipped, "left": ignored, "rules": plan.rules, "done": is_done})
}
