//! `toolroom migrate`: previews and runs database migrations, and rolls back to the copy made before one.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;
use toolroom_host::folders::Folders;
use toolroom_host::replacement::is_there;
use toolroom_store::{MigrationPlan, newest_schema, plan_migration};

use super::console::exit::{Exit, Refused, Usage};
use super::console::input::{Reply, ask, is_yes};
use super::console::output::{DIM, Output, visible};
use crate::backup::Rollback;
use crate::database::{DATABASE, open_store};

const EXAMPLES: &str = "\
Every command migrates an older database on first use and keeps a copy of it. This command does so explicitly.

Examples:
  toolroom migrate --plan      preview the migration
  toolroom migrate             migrate now
  toolroom migrate --back      roll back to the copy a newer Toolroom made";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MigrateArgs {
    /// Only show the planned steps
    #[arg(long, conflicts_with = "back")]
    plan: bool,
    /// Roll back to the copy that a newer Toolroom made before its migration
    #[arg(long)]
    back: bool,
    /// Roll back without asking
    #[arg(long, requires = "back")]
    yes: bool,
}

#[derive(Serialize)]
struct MigrationReport<'a> {
    database: &'a Path,
    /// Schema before the migration; `None` without a database.
    found: Option<i64>,
    /// Schema of this version.
    known: i64,
    steps: Vec<MigrationStep>,
    /// Copy of the database before the migration.
    copy: Option<PathBuf>,
    done: bool,
}

#[derive(Serialize)]
struct MigrationStep {
    schema: i64,
    brings: &'static str,
}

pub(super) async fn run(args: &MigrateArgs, output: &Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    if args.back {
        return roll_back(&folders, args.yes, *output).await;
    }
    let database = folders.data.join(DATABASE);
    let plan = match is_there(&database) {
        true => Some(plan_migration(&database).await?),
        false => None,
    };
    let mut report = report(&database, plan.as_ref());
    if !args.plan && !report.steps.is_empty() {
        open_store(&folders).await?.shutdown().await?;
        report.done = true;
    }
    match output.is_json() {
        true => output.document(&report)?,
        false => print_report(&report, *output)?,
    }
    Ok(Exit::Done)
}

fn report<'a>(database: &'a Path, plan: Option<&MigrationPlan>) -> MigrationReport<'a> {
    let steps = plan.iter().flat_map(|plan| &plan.steps);
    MigrationReport {
        database,
        found: plan.map(|plan| plan.found),
        known: newest_schema(),
        steps: steps.map(|step| MigrationStep { schema: step.schema, brings: step.adds }).collect(),
        copy: plan.and_then(|plan| plan.copy(is_there)),
        done: false,
    }
}

fn print_report(report: &MigrationReport<'_>, output: Output) -> anyhow::Result<()> {
    let path = visible(&report.database.display().to_string());
    let known = report.known;
    let Some(found) = report.found else {
        output.talk(format_args!("No database yet; the first command creates one with schema {known}"));
        return Ok(());
    };
    if report.steps.is_empty() {
        output.talk(format_args!("Nothing to do: the database has schema {known}"));
        return Ok(());
    }
    let verb = if report.done { "Migrated" } else { "Would migrate" };
    output.data(&format!("{verb} {path} from schema {found} to {known}"))?;
    for MigrationStep { schema, brings } in &report.steps {
        output.data(&format!("  {schema}  {brings}"))?;
    }
    if let Some(copy) = &report.copy {
        let kept =
            if report.done { "Copy of the old database:" } else { "The old database would be copied to" };
        output.data(&format!("{DIM}{kept} {}{DIM:#}", visible(&copy.display().to_string())))?;
    }
    Ok(())
}

async fn roll_back(folders: &Folders, yes: bool, output: Output) -> anyhow::Result<Exit> {
    let database = folders.data.join(DATABASE);
    let rollback = match is_there(&database) {
        true => Rollback::find(folders).await?,
        false => None,
    };
    let Some(rollback) = rollback else {
        let text = "nothing to roll back: the database is not newer than this Toolroom; see `toolroom migrate --plan`";
        return Err(Usage(text.to_owned()).into());
    };
    let copy = visible(&rollback.copy.display().to_string());
    if !yes {
        output.talk(format_args!(
            "The database has schema {}; `{copy}` has schema {} and {} calls",
            rollback.found, rollback.facts.schema, rollback.facts.calls
        ));
        output.talk("Later changes stay in the newer database, which is kept as a copy");
        match ask("Roll back? [y/N]", output)? {
            Reply::Line(line) if is_yes(&line) => {}
            Reply::Line(_) => return Err(Refused("rollback declined; nothing was changed".to_owned()).into()),
            Reply::NoTerminal => {
                return Err(Usage("no terminal to ask on; roll back with `--yes`".to_owned()).into());
            }
        }
    }
    let kept = rollback.apply(folders).await?;
    // Opened once, so that a broken database is reported now and not by the next command.
    open_store(folders).await?.shutdown().await?;
    if output.is_json() {
        output.document(&json!({
            "database": database, "from": rollback.copy, "found": rollback.found, "schema": rollback.facts.schema, "kept": kept
        }))?;
        return Ok(Exit::Done);
    }
    output.data(&format!("Rolled back to {copy}"))?;
    if let Some(kept) = kept {
        output.talk(format_args!("The newer database is kept in {}", visible(&kept.display().to_string())));
    }
    Ok(Exit::Done)
}
