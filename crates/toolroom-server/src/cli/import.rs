//! `toolroom import`: previews the settings of an export file and applies all of them in one transaction.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolroom::scope::{LOCAL_PROJECT, ProjectId, Scope};

use super::console::exit::{Exit, Usage};
use super::console::input::{is_confirmed, read_text};
use super::console::output::{BOLD, DIM, Output, single_line};
use super::console::redaction;
use crate::app::App;
use crate::settings::{ImportItem, ImportPlan, ImportState, MAX_BYTES, SettingsDocument};

const EXAMPLES: &str = "\
Settings that are not in the file stay unchanged. Importing a file twice has no further effect.

Examples:
  toolroom import settings.json --dry-run      preview the changes
  toolroom import settings.json                show the changes, ask, then apply them
  toolroom export - | ssh there toolroom import - --yes";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// File written by `toolroom export`, or `-` for standard input
    file: PathBuf,
    /// Only show the changes
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Apply without asking
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(app: &App, _owner: Scope, args: ImportArgs, output: &Output) -> anyhow::Result<Exit> {
    let document =
        SettingsDocument::parse(&read_text(&args.file, MAX_BYTES)?).map_err(|problem| refused(&problem))?;
    let mut plan = ImportPlan::new(app, &document).await?.map_err(|problem| refused(&problem))?;
    plan.lines.iter_mut().for_each(redact_keys);
    if !output.is_json() {
        show(&plan, *output)?;
    }
    let changes = plan
        .lines
        .iter()
        .filter(|line| matches!(line.state, ImportState::New | ImportState::Changed))
        .count();
    let is_done = changes > 0
        && !args.dry_run
        && (args.yes || is_confirmed(format_args!("Apply changes: {changes}?"), *output)?);
    let ImportPlan { lines, missing, batch } = plan;
    if is_done {
        app.store.set_all(batch).await?;
    }
    if output.is_json() {
        let missing: Vec<_> =
            missing.iter().map(|(project, name)| json!({"project": project, "name": name})).collect();
        output.document(&json!({"settings": lines, "missing_secrets": missing, "done": is_done}))?;
        return Ok(Exit::Done);
    }
    match (changes, is_done) {
        (0, _) => output.talk("Nothing to change"),
        (_, true) => {
            output.talk(format_args!("Applied {changes} change{}", if changes == 1 { "" } else { "s" }));
        }
        (_, false) => output.talk("No changes made"),
    }
    if is_done && lines.iter().any(|line| line.kind == "server" && line.state != ImportState::Same) {
        output.hint("imported MCP servers were not started; test each one with `toolroom mcp test NAME`");
    }
    Ok(Exit::Done)
}

/// Redacts text that looks like an API key: the file comes from elsewhere and may hold one in the wrong field.
fn redact_keys(line: &mut ImportItem) {
    for text in [Some(&mut line.name), line.means.as_mut(), line.why.as_mut()].into_iter().flatten() {
        *text = redaction::logged(text).into_owned();
    }
}

fn refused(problem: &str) -> Usage {
    // Kept on one line, so that the file cannot forge output.
    Usage(format!("{}; nothing was changed", single_line(&redaction::logged(problem))))
}

fn show(plan: &ImportPlan, output: Output) -> anyhow::Result<()> {
    for ImportItem { project, kind, name, state, means, why } in &plan.lines {
        let what = state.as_str();
        let owner = if *kind == "project" { String::new() } else { project_suffix(project) };
        let why = why.as_ref().map(|why| format!(": {}", single_line(why))).unwrap_or_default();
        output
            .data(&format!("{what:<9}{kind} {BOLD}{}{BOLD:#}{DIM}{owner}{DIM:#}{why}", single_line(name)))?;
        if let Some(means) = means {
            output.data(&format!("         {DIM}{}{DIM:#}", single_line(means)))?;
        }
    }
    for (project, name) in &plan.missing {
        let name = single_line(name);
        let owner = project_suffix(project);
        output.data(&format!(
            "missing  secret {BOLD}{name}{BOLD:#}{DIM}{owner}{DIM:#}: toolroom secrets set {name}"
        ))?;
    }
    Ok(())
}

fn project_suffix(project: &ProjectId) -> String {
    match project.as_str() {
        LOCAL_PROJECT => String::new(),
        id => format!(" in project {}", single_line(id)),
    }
}
