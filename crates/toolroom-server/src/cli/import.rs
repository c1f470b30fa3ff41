//! `toolroom import`: what was set elsewhere, shown first and then set here, all of it or nothing.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolroom::scope::{LOCAL_PROJECT, ProjectId, Scope};

use super::console::exit::{Exit, Usage};
use super::console::input::is_wanted;
use super::console::input::text_of;
use super::console::output::single_line;
use super::console::output::{BOLD, DIM, Output};
use super::console::redaction;
use crate::app::App;
use crate::settings::{Fate, ImportPlan, Line, MAX_BYTES, SettingsDocument};

const EXAMPLES: &str = "\
What is here and not in the file stays. Importing the same file twice changes nothing the second time.

Examples:
  toolroom import settings.json --dry-run      what would be changed
  toolroom import settings.json                shows it, and asks
  toolroom export - | ssh there toolroom import - --yes";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// A file of `toolroom export`; `-` for standard input
    file: PathBuf,
    /// Only show what would be changed
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do it without being asked
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(app: &App, _owner: Scope, args: ImportArgs, output: &Output) -> anyhow::Result<Exit> {
    let document =
        SettingsDocument::parse(&text_of(&args.file, MAX_BYTES)?).map_err(|problem| refused(&problem))?;
    let mut plan = ImportPlan::of(app, &document).await?.map_err(|problem| refused(&problem))?;
    plan.lines.iter_mut().for_each(hide_keys);
    if !output.is_json() {
        show(&plan, *output)?;
    }
    let changes = plan.lines.iter().filter(|line| matches!(line.state, Fate::New | Fate::Changed)).count();
    let is_done = changes > 0 && !args.dry_run && (args.yes || is_wanted("set", changes, *output)?);
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
        (0, _) => output.talk("nothing to do: everything is already so"),
        (_, true) => output.talk(format_args!("set {changes}")),
        (_, false) => output.talk("nothing was changed"),
    }
    if is_done && lines.iter().any(|line| line.kind == "server" && line.state != Fate::Same) {
        output.hint("no server was started; look at each with `toolroom mcp test NAME`");
    }
    Ok(Exit::Done)
}

/// Nobody has looked at a document before, so keys that are in the wrong place are hidden by their form.
fn hide_keys(line: &mut Line) {
    for text in [Some(&mut line.name), line.means.as_mut(), line.why.as_mut()].into_iter().flatten() {
        *text = redaction::logged(text).into_owned();
    }
}

fn refused(problem: &str) -> Usage {
    // What is in a document makes no line of its own.
    Usage(format!("{}; nothing was changed", single_line(&redaction::logged(problem))))
}

fn show(plan: &ImportPlan, output: Output) -> anyhow::Result<()> {
    for Line { project, kind, name, state, means, why } in &plan.lines {
        let what = state.as_str();
        let of = if *kind == "project" { String::new() } else { of_project(project) };
        let why = why.as_ref().map(|why| format!(": {}", single_line(why))).unwrap_or_default();
        output.data(&format!("{what:<9}{kind} {BOLD}{}{BOLD:#}{DIM}{of}{DIM:#}{why}", single_line(name)))?;
        if let Some(means) = means {
            output.data(&format!("         {DIM}{}{DIM:#}", single_line(means)))?;
        }
    }
    for (project, name) in &plan.missing {
        let name = single_line(name);
        let of = of_project(project);
        output.data(&format!(
            "missing  secret {BOLD}{name}{BOLD:#}{DIM}{of}{DIM:#}: toolroom secrets set {name}"
        ))?;
    }
    Ok(())
}

fn of_project(project: &ProjectId) -> String {
    match project.as_str() {
        LOCAL_PROJECT => String::new(),
        id => format!(" of {}", single_line(id)),
    }
}
