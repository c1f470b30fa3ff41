//! `toolroom mcp import`: imports servers from the configuration of other programs. Starts nothing.

mod plan;
mod preview;
mod values;

use std::path::PathBuf;

use clap::Args;
use toolroom::foreign::ForeignServers;
use toolroom_host::environment::path_variable;
use toolroom_host::text_file::{current_folder, read_bounded, read_bounded_unlinked};
use toolroom_store::SettingsBatch;
use toolroom_tools::mcp::import::{ConfigLocation, ImportSource, SuggestedRule, parse};

use super::project;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::input::is_confirmed;
use crate::cli::console::input::no_file;
use crate::cli::console::output::{Output, visible};
use crate::gateway::{self, StoredSecrets};
use crate::settings::ImportState;
use plan::{ExistingState, FileOwner, Origin, PlannedServer};
use preview::{document, show};

/// The largest configuration file; that of Claude Code contains a history.
const MAX_FILE_BYTES: usize = 32 * 1024 * 1024;

#[derive(Args)]
pub(super) struct McpImportArgs {
    /// Import only from this program: claude-desktop, claude-code, cursor, windsurf, cline, vscode, codex, goose, gemini or zed
    source: Option<String>,
    /// Read this file instead of the program's own
    #[arg(long, value_name = "FILE", requires = "source")]
    path: Option<PathBuf>,
    /// Only show what would be imported
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Import without asking
    #[arg(long)]
    yes: bool,
}

/// The plan of an import.
#[derive(Default)]
struct ServerImportPlan {
    servers: Vec<PlannedServer>,
    /// Source, name or file, and the reason.
    skipped: Vec<(ImportSource, String, String)>,
    rules: Vec<EquivalentRule>,
    /// Settings that are not imported.
    ignored: Vec<(ImportSource, String)>,
}

/// A policy rule equivalent to a permission of the other program, with the tool's name in Toolroom.
#[derive(serde::Serialize, PartialEq, Eq)]
pub(super) struct EquivalentRule {
    pub(super) effect: &'static str,
    pub(super) tool: String,
}

pub(super) async fn run(app: &App, args: McpImportArgs, output: Output) -> anyhow::Result<Exit> {
    let files = files(&args)?;
    let existing = ExistingState {
        servers: app.store.servers(&project()).await?,
        secrets: app.vault.secrets(&project()).await?,
        stored: StoredSecrets::load(&app.vault, &project()).await?,
        workspace: app.gateway.workspace().to_owned(),
        now: app.room.clock().now(),
    };
    let plan = make_plan(&files, &existing)?;
    let open: Vec<&PlannedServer> =
        plan.servers.iter().filter(|planned| planned.fate != ImportState::Same).collect();
    if !output.is_json() {
        show(&plan, &existing, output)?;
    }
    let is_done = !open.is_empty()
        && !args.dry_run
        && (args.yes || is_confirmed(format_args!("Add servers: {}?", open.len()), output)?);
    if is_done {
        store(app, &existing, &open).await?;
    }
    if output.is_json() {
        output.document(&document(&plan, &existing, is_done))?;
    } else if is_done {
        output.talk(format_args!(
            "imported {}; connect to each with `toolroom mcp test NAME`",
            servers(open.len())
        ));
    }
    Ok(Exit::Done)
}

/// The files to read, without duplicates: the working folder may be the home folder.
fn files(args: &McpImportArgs) -> anyhow::Result<Vec<Origin>> {
    let wanted = match &args.source {
        None => None,
        Some(name) => Some(ImportSource::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = ImportSource::ALL.iter().map(|source| source.name()).collect();
            let (name, names) = (visible(name), names.join(", "));
            Usage(match name.contains(['/', '.']) {
                // The format of a file depends on its program.
                true => format!(
                    "name the program that `{name}` belongs to: `toolroom mcp import PROGRAM --path {name}`, with PROGRAM one of {names}"
                ),
                false => format!("unknown program `{name}`; known programs: {names}"),
            })
        })?),
    };
    let (home, folder) = (path_variable("HOME"), current_folder()?);
    if let (Some(source), Some(path)) = (wanted, &args.path) {
        let path = folder.join(path);
        let base = path.parent().unwrap_or(&folder).to_owned();
        return Ok(vec![Origin { source, owner: FileOwner::Named, path, base }]);
    }
    let mut files: Vec<Origin> = Vec::new();
    for source in ImportSource::ALL.into_iter().filter(|source| wanted.is_none_or(|wanted| wanted == *source))
    {
        for location in source.locations() {
            let (owner, base, below) = match location {
                ConfigLocation::Home(below) => (FileOwner::Home, home.clone(), below),
                ConfigLocation::Folder(below) => {
                    let is_home = home.as_ref() == Some(&folder);
                    let owner = if is_home { FileOwner::Home } else { FileOwner::Folder };
                    (owner, Some(folder.clone()), below)
                }
            };
            let Some(base) = base else { continue };
            let path = base.join(below);
            if !files.iter().any(|file| file.source == source && file.path == path) {
                files.push(Origin { source, owner, path, base });
            }
        }
    }
    Ok(files)
}

fn make_plan(files: &[Origin], existing: &ExistingState) -> anyhow::Result<ServerImportPlan> {
    let folder = current_folder()?.display().to_string();
    let mut plan = ServerImportPlan::default();
    let mut rules: Vec<(&Origin, SuggestedRule)> = Vec::new();
    for origin in files {
        let (source, file) = (origin.source, origin.path.display().to_string());
        let text = match origin.is_untrusted() {
            // A link in it could point to a private file.
            true => read_bounded_unlinked(&origin.path, MAX_FILE_BYTES),
            false => read_bounded(&origin.path, MAX_FILE_BYTES),
        };
        let contents = match text {
            Ok(Some(text)) => parse(source, &text, &folder),
            Ok(None) if origin.owner == FileOwner::Named => {
                return Err(no_file(&origin.path).into());
            }
            Ok(None) => continue,
            Err(error) => Err(error.to_string()),
        };
        let contents = match contents {
            Ok(contents) => contents,
            Err(why) => {
                plan.skipped.push((source, file, why));
                continue;
            }
        };
        for imported in &contents.servers {
            match existing.plan(origin, imported, &plan.servers) {
                Ok(planned) => {
                    plan.ignored.extend(planned.ignored.iter().map(|ignored| (source, ignored.clone())));
                    plan.servers.push(planned);
                }
                Err(why) => plan.skipped.push((source, imported.original_name.clone(), why)),
            }
        }
        plan.skipped.extend(contents.skipped.into_iter().map(|(name, why)| (source, name, why)));
        plan.ignored.extend(contents.ignored.into_iter().map(|ignored| (source, ignored)));
        rules.extend(contents.rules.into_iter().map(|rule| (origin, rule)));
    }
    for (origin, rule) in rules {
        suggest(&mut plan, origin, &rule);
    }
    Ok(plan)
}

/// Adds the equivalent of a rule. Its server may have another name here.
fn suggest(plan: &mut ServerImportPlan, origin: &Origin, rule: &SuggestedRule) {
    let SuggestedRule { effect, server, tool } = rule;
    let is_meant = |planned: &&PlannedServer| {
        planned.origin.source == origin.source && rule.is_about(&planned.original_name)
    };
    let Some(planned) = plan.servers.iter().find(is_meant) else {
        let ignored = format!("the rule `{effect} {tool}` is about `{server}`, which is not imported");
        plan.ignored.push((origin.source, ignored));
        return;
    };
    let id = format!("mcp:{}:{tool}", planned.record.name);
    if origin.is_untrusted() && *effect == "allow" {
        let ignored = format!("the rule `allow {id}` comes with the folder; only you can allow it");
        plan.ignored.push((origin.source, ignored));
        return;
    }
    let rule = EquivalentRule { effect, tool: id };
    if !plan.rules.contains(&rule) {
        plan.rules.push(rule);
    }
}

/// Stores all servers in one transaction, then their secrets.
async fn store(app: &App, existing: &ExistingState, open: &[&PlannedServer]) -> anyhow::Result<()> {
    let mut batch = SettingsBatch::default();
    for (index, PlannedServer { record, .. }) in open.iter().enumerate() {
        // Of several servers with one name, the last one counts.
        if !open.iter().skip(index + 1).any(|later| later.record.name == record.name) {
            let earlier = existing.servers.iter().find(|server| server.name == record.name);
            batch.server(&project(), gateway::entry(earlier, record.clone()));
        }
    }
    app.store.set_all(batch).await?;
    for secret in open.iter().flat_map(|planned| &planned.secrets) {
        if let Some(value) = &secret.value {
            app.vault.set_secret(&project(), &secret.name, value).await?;
        }
    }
    Ok(())
}

fn servers(count: usize) -> String {
    if count == 1 { "1 server".to_owned() } else { format!("{count} servers") }
}
