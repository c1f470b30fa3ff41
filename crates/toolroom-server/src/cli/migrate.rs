//! `toolroom migrate`: what a new version does to the database, before it does it; and the way back.

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
use crate::backup::WayBack;
use crate::database::{DATABASE, open_store};

const EXAMPLES: &str = "\
Every command brings an older database to its own version, and keeps the one before beside it. This one says so.

Examples:
  toolroom migrate --plan      what would be done
  toolroom migrate             does it
  toolroom migrate --back      after a newer Toolroom: back to what it found";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MigrateArgs {
    /// Only say what would be done
    #[arg(long, conflicts_with = "back")]
    plan: bool,
    /// Go back to the copy that a newer Toolroom made before it changed the database
    #[arg(long)]
    back: bool,
    /// Go back without being asked
    #[arg(long, requires = "back")]
    yes: bool,
}

/// What would be, or was, done.
#[derive(Serialize)]
struct Report<'a> {
    database: &'a Path,
    /// The schema it has, or had; nothing where there is no database.
    found: Option<i64>,
    /// The schema of this version.
    known: i64,
    steps: Vec<Step>,
    /// Where the database is kept as it was.
    copy: Option<PathBuf>,
    done: bool,
}

#[derive(Serialize)]
struct Step {
    schema: i64,
    brings: &'static str,
}

pub(super) async fn run(args: &MigrateArgs, output: &Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    if args.back {
        return go_back(&folders, args.yes, *output).await;
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
        false => tell(&report, *output)?,
    }
    Ok(Exit::Done)
}

fn report<'a>(database: &'a Path, plan: Option<&MigrationPlan>) -> Report<'a> {
    let steps = plan.iter().flat_map(|plan| &plan.steps);
    Report {
        database,
        found: plan.map(|plan| plan.found),
        known: newest_schema(),
        steps: steps.map(|step| Step { schema: step.schema, brings: step.adds }).collect(),
        copy: plan.and_then(|plan| plan.copy(is_there)),
        done: false,
    }
}

fn tell(report: &Report<'_>, output: Output) -> anyhow::Result<()> {
    let path = visible(&report.database.display().to_string());
    let known = report.known;
    let Some(found) = report.found else {
        output
            .talk(format_args!("there is no database yet; the first command makes one with schema {known}"));
        return Ok(());
    };
    if report.steps.is_empty() {
        output.talk(format_args!("nothing to do: the database has schema {known}"));
        return Ok(());
    }
    let verb = if report.done { "brought" } else { "would bring" };
    output.data(&format!("{verb} {path} from schema {found} to {known}"))?;
    for Step { schema, brings } in &report.steps {
        output.data(&format!("  {schema}  {brings}"))?;
    }
    if let Some(copy) = &report.copy {
        let kept = if report.done { "it is kept as it was in" } else { "it would be kept as it is in" };
        output.data(&format!("{DIM}{kept} {}{DIM:#}", visible(&copy.display().to_string())))?;
    }
    Ok(())
}

async fn go_back(folders: &Folders, yes: bool, output: Output) -> anyhow::Result<Exit> {
    let database = folders.data.join(DATABASE);
    let way = match is_there(&database) {
        true => WayBack::find(folders).await?,
        false => None,
    };
    let Some(way) = way else {
        let text = "there is nothing to go back from: the database is not newer than this Toolroom; see how it stands with `toolroom migrate --plan`";
        return Err(Usage(text.to_owned()).into());
    };
    let copy = visible(&way.copy.display().to_string());
    if !yes {
        output.talk(format_args!(
            "the database has schema {}; `{copy}` has schema {} and {} calls",
            way.found, way.facts.schema, way.facts.calls
        ));
        output.talk("what was done since then stays in the newer database, which is kept beside it");
        match ask("go back to it? [y/N]", output)? {
            Reply::Line(line) if is_yes(&line) => {}
            Reply::Line(_) => return Err(Refused("nothing was changed".to_owned()).into()),
            Reply::Nobody => {
                return Err(Usage("nobody can be asked here; say --yes to go back".to_owned()).into());
            }
        }
    }
    let kept = way.take(folders).await?;
    // Opened once, so that what is wrong with it is told now and not to the next call.
    open_store(folders).await?.shutdown().await?;
    if output.is_json() {
        output.document(&json!({
            "database": database, "from": way.copy, "found": way.found, "schema": way.facts.schema, "kept": kept
        }))?;
        return Ok(Exit::Done);
    }
    output.data(&format!("went back to {copy}"))?;
    if let Some(kept) = kept {
        output.talk(format_args!("the newer database is kept in {}", visible(&kept.display().to_string())));
    }
    Ok(Exit::Done)
}
