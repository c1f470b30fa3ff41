//! `toolroom mcp import`: servers that other programs know, shown first and then entered. Nothing is started.

mod plan;
mod preview;
mod values;

use std::path::PathBuf;

use clap::Args;
use toolroom::foreign::ForeignServers;
use toolroom_host::environment::path_variable;
use toolroom_host::text_file::{current_folder, read_bounded, read_bounded_unlinked};
use toolroom_store::SettingsBatch;
use toolroom_tools::mcp::import::{Place as Kept, Source, SuggestedRule, read};

use super::project;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::input::is_confirmed;
use crate::cli::console::input::no_file;
use crate::cli::console::output::{Output, visible};
use crate::gateway::{self, StoredSecrets};
use crate::settings::Fate;
use plan::{Before, Origin, Place, Planned};
use preview::{document, show};

/// A configuration may not be larger; that of Claude Code keeps a history.
const MAX_FILE_BYTES: usize = 32 * 1024 * 1024;

#[derive(Args)]
pub(super) struct ImportArgs {
    /// Only from this program: claude-desktop, claude-code, cursor, windsurf, cline, vscode, codex, goose, gemini or zed
    source: Option<String>,
    /// From this file instead of where the program keeps it
    #[arg(long, value_name = "FILE", requires = "source")]
    path: Option<PathBuf>,
    /// Only show what would be done
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do it without being asked
    #[arg(long)]
    yes: bool,
}

/// Everything that was found.
#[derive(Default)]
struct Found {
    planned: Vec<Planned>,
    /// Source, name or file, and why it is passed over.
    skipped: Vec<(Source, String, String)>,
    /// Rules, with the tools they are about as they are called here.
    rules: Vec<Rule>,
    left: Vec<(Source, String)>,
}

/// A rule that would do here what was said there.
#[derive(serde::Serialize, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) effect: &'static str,
    pub(super) tool: String,
}

pub(super) async fn run(app: &App, args: ImportArgs, output: Output) -> anyhow::Result<Exit> {
    let files = files(&args)?;
    let before = Before {
        servers: app.store.servers(&project()).await?,
        secrets: app.vault.secrets(&project()).await?,
        stored: StoredSecrets::of(&app.vault, &project()).await?,
        workspace: app.gateway.workspace().to_owned(),
        now: app.room.clock().now(),
    };
    let found = look(&files, &before)?;
    let open: Vec<&Planned> = found.planned.iter().filter(|planned| planned.fate != Fate::Same).collect();
    if !output.is_json() {
        show(&found, &before, output)?;
    }
    let is_done = !open.is_empty()
        && !args.dry_run
        && (args.yes || is_confirmed(format_args!("Add {}?", open.len()), output)?);
    if is_done {
        enter(app, &before, &open).await?;
    }
    if output.is_json() {
        output.document(&document(&found, &before, is_done))?;
    } else if is_done {
        output.talk(format_args!("entered {}; look at each with `toolroom mcp test NAME`", open.len()));
    }
    Ok(Exit::Done)
}

/// The files that may be there, each once: whoever works in their home has no other folder.
fn files(args: &ImportArgs) -> anyhow::Result<Vec<Origin>> {
    let wanted = match &args.source {
        None => None,
        Some(name) => Some(Source::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = Source::ALL.iter().map(|source| source.name()).collect();
            let (name, names) = (visible(name), names.join(", "));
            Usage(match name.contains(['/', '.']) {
                // A file does not say whose it is.
                true => format!(
                    "say which program `{name}` is from: `toolroom mcp import PROGRAM --path {name}`, with one of {names}"
                ),
                false => format!("`{name}` is no program that is known here: {names}"),
            })
        })?),
    };
    let (home, folder) = (path_variable("HOME"), current_folder()?);
    if let (Some(source), Some(path)) = (wanted, &args.path) {
        let path = folder.join(path);
        let base = path.parent().unwrap_or(&folder).to_owned();
        return Ok(vec![Origin { source, place: Place::Named, path, base }]);
    }
    let mut files: Vec<Origin> = Vec::new();
    for source in Source::ALL.into_iter().filter(|source| wanted.is_none_or(|wanted| wanted == *source)) {
        for kept in source.places() {
            let (place, base, below) = match kept {
                Kept::Home(below) => (Place::Home, home.clone(), below),
                Kept::Folder(below) => {
                    let is_home = home.as_ref() == Some(&folder);
                    (if is_home { Place::Home } else { Place::Folder }, Some(folder.clone()), below)
                }
            };
            let Some(base) = base else { continue };
            let path = base.join(below);
            if !files.iter().any(|file| file.source == source && file.path == path) {
                files.push(Origin { source, place, path, base });
            }
        }
    }
    Ok(files)
}

fn look(files: &[Origin], before: &Before) -> anyhow::Result<Found> {
    let folder = current_folder()?.display().to_string();
    let mut found = Found::default();
    let mut rules: Vec<(&Origin, SuggestedRule)> = Vec::new();
    for origin in files {
        let (source, file) = (origin.source, origin.path.display().to_string());
        let text = match origin.is_of_others() {
            // A link in it could lead to a file of the person.
            true => read_bounded_unlinked(&origin.path, MAX_FILE_BYTES),
            false => read_bounded(&origin.path, MAX_FILE_BYTES),
        };
        let contents = match text {
            Ok(Some(text)) => read(source, &text, &folder),
            Ok(None) if origin.place == Place::Named => {
                return Err(no_file(&origin.path).into());
            }
            Ok(None) => continue,
            Err(error) => Err(error.to_string()),
        };
        let contents = match contents {
            Ok(contents) => contents,
            Err(why) => {
                found.skipped.push((source, file, why));
                continue;
            }
        };
        for imported in &contents.servers {
            match before.plan(origin, imported, &found.planned) {
                Ok(planned) => {
                    found.left.extend(planned.left.iter().map(|left| (source, left.clone())));
                    found.planned.push(planned);
                }
                Err(why) => found.skipped.push((source, imported.called.clone(), why)),
            }
        }
        found.skipped.extend(contents.skipped.into_iter().map(|(name, why)| (source, name, why)));
        found.left.extend(contents.left.into_iter().map(|left| (source, left)));
        rules.extend(contents.rules.into_iter().map(|rule| (origin, rule)));
    }
    for (origin, rule) in rules {
        suggest(&mut found, origin, &rule);
    }
    Ok(found)
}

/// Says what a rule would be here, where its server may have another name.
fn suggest(found: &mut Found, origin: &Origin, rule: &SuggestedRule) {
    let SuggestedRule { effect, server, tool } = rule;
    let is_meant =
        |planned: &&Planned| planned.origin.source == origin.source && rule.is_about(&planned.called);
    let Some(planned) = found.planned.iter().find(is_meant) else {
        let left =
            format!("the rule `{effect} {tool}` is about `{server}`, which is not taken over from there");
        found.left.push((origin.source, left));
        return;
    };
    let id = format!("mcp:{}:{tool}", planned.record.name);
    if origin.is_of_others() && *effect == "allow" {
        let left = format!("the rule `allow {id}` came with the folder: what is allowed is for you to say");
        found.left.push((origin.source, left));
        return;
    }
    let rule = Rule { effect, tool: id };
    if !found.rules.contains(&rule) {
        found.rules.push(rule);
    }
}

/// All of them, or none: a person has seen what would take the place of what.
async fn enter(app: &App, before: &Before, open: &[&Planned]) -> anyhow::Result<()> {
    let mut batch = SettingsBatch::default();
    for (place, Planned { record, .. }) in open.iter().enumerate() {
        // Of several that become one the last counts.
        if !open.iter().skip(place + 1).any(|later| later.record.name == record.name) {
            let earlier = before.servers.iter().find(|server| server.name == record.name);
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
