//! `toolroom tools --risk`: risky tools and how their calls are judged.

use std::sync::Arc;

use serde::Serialize;
use toolroom::catalog::{Entry, ToolLine};
use toolroom::ledger::Answerer;
use toolroom::policy::{Answers, Facts, Provenance, Ruling, VerdictPreview};
use toolroom::scope::Scope;
use toolroom::tool::{Arguments, Capability, Risk, ToolSpec};

use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, table, visible};

#[derive(Serialize)]
struct RiskRow {
    id: String,
    enabled: bool,
    risk: &'static str,
    effect: &'static str,
    capabilities: Vec<&'static str>,
    /// Whether the tool declares no effect or capabilities, and so counts as destructive.
    silent: bool,
    ruling: Ruling,
    rule: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Answerer>,
    /// Rules and answers that may change the verdict, depending on the arguments.
    depends_on: Vec<String>,
}

/// Prints the risky tools among the listed ones.
pub(super) fn report<'a>(
    app: &App,
    scope: &Scope,
    answers: &Answers,
    listed: impl Iterator<Item = &'a ToolLine>,
    output: Output,
) -> anyhow::Result<Exit> {
    let mut rows = Vec::new();
    for tool in listed {
        // The tool may have been removed meanwhile.
        let Ok(entry) = app.room.catalog().find(&scope.project, tool.id.as_str()) else { continue };
        if is_risky(entry.spec()) {
            rows.push(RiskRow::new(&entry, tool.enabled, preview(app, scope, answers, &entry)));
        }
    }
    if output.is_json() {
        output.document(&rows)?;
    } else if rows.is_empty() {
        output.talk("No tools of medium or high risk are switched on");
    } else {
        output.data(&table(&rows.iter().map(RiskRow::cells).collect::<Vec<_>>()))?;
        output.talk("Try a call: toolroom policy explain TOOL key=value …");
    }
    Ok(Exit::Done)
}

/// A tool without declared effect or capabilities is risky, regardless of its declared risk.
fn is_risky(spec: &ToolSpec) -> bool {
    spec.risk >= Risk::Medium || is_silent(spec)
}

fn is_silent(spec: &ToolSpec) -> bool {
    spec.effect.is_none() || spec.capabilities.is_none()
}

fn preview(app: &App, scope: &Scope, answers: &Answers, entry: &Arc<Entry>) -> VerdictPreview {
    let facts = Facts {
        spec: entry.spec(),
        arguments: &Arguments::new(),
        scope,
        entrance: "cli",
        thread: None,
        provenance: Provenance::NONE,
        origin: None,
        destination: None,
        definition: &entry.definition_hash(),
    };
    app.room.policy().preview(&facts, answers)
}

impl RiskRow {
    fn new(entry: &Entry, enabled: bool, preview: VerdictPreview) -> Self {
        let spec = entry.spec();
        let VerdictPreview { verdict, depends_on } = preview;
        Self {
            id: spec.id.to_string(),
            enabled,
            risk: spec.risk.as_str(),
            effect: spec.effective_effect().as_str(),
            capabilities: spec.effective_capabilities().iter().map(Capability::as_str).collect(),
            silent: is_silent(spec),
            ruling: verdict.ruling,
            rule: verdict.rule.to_string(),
            reason: verdict.reason,
            by: (verdict.ruling == Ruling::Ask).then_some(verdict.by),
            depends_on,
        }
    }

    fn cells(&self) -> Vec<String> {
        let does = match (self.silent, self.capabilities.as_slice()) {
            (true, _) => "undeclared effects".to_owned(),
            (false, []) => self.effect.to_owned(),
            (false, able) => format!("{} ({})", self.effect, able.join(", ")),
        };
        let operator = if self.by == Some(Answerer::Operator) { ", by the operator" } else { "" };
        let depends = match self.depends_on.as_slice() {
            [] => String::new(),
            rules => format!("; depends on arguments: {}", rules.join(", ")),
        };
        let state = if self.enabled { String::new() } else { format!("{DIM}off{DIM:#}") };
        vec![
            format!("{BOLD}{}{BOLD:#}", visible(&self.id)),
            self.risk.to_owned(),
            does,
            format!("{} (rule {}){operator}{depends}", self.ruling.as_str(), visible(&self.rule)),
            state,
        ]
    }
}
