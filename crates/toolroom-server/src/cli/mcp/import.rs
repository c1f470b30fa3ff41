//! `toolroom mcp import`: servers that other programs know, shown first and then entered. Nothing is started.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use toolroom::foreign::{ForeignServers, Reached};
use toolroom_host::environment::path_variable;
use toolroom_host::text_file::{current_folder, read_bounded};
use toolroom_tools::mcp::import::{Place, Source, SuggestedRule, read};

use super::super::exit::{Exit, Missing, Usage};
use super::super::output::{BOLD, DIM, Output, visible};
use super::super::question::{Reply, ask, is_yes};
use super::document::target;
use super::import_plan::{Before, Fate, Planned};
use super::project;
use crate::app::App;

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
struct Found {
    planned: Vec<Planned>,
    /// Source, name or file, and why it is passed over.
    skipped: Vec<(Source, String, String)>,
    rules: Vec<SuggestedRule>,
    left: Vec<(Source, String)>,
}

pub(super) async fn run(app: &App, args: ImportArgs, output: Output) -> anyhow::Result<Exit> {
    let files = files(&args)?;
    let before = Before {
        servers: app.store.servers(&project()).await?,
        secrets: app.vault.secrets(&project()).await?,
        now: app.room.clock().now(),
    };
    let found = look(&files, &before)?;
    let open: Vec<&Planned> = found.planned.iter().filter(|planned| planned.fate != Fate::Same).collect();
    if !output.is_json() {
        show(&found, &before, output)?;
    }
    let is_done = !open.is_empty() && !args.dry_run && (args.yes || is_wanted(open.len(), output)?);
    if is_done {
        for planned in &open {
            enter(app, planned).await?;
        }
    }
    if output.is_json() {
        output.document(&document(&found, &before, is_done))?;
    } else if is_done {
        output.talk(format_args!("entered {}; look at each with `toolroom mcp test NAME`", open.len()));
    }
    Ok(Exit::Done)
}

/// The files that are there.
fn files(args: &ImportArgs) -> anyhow::Result<Vec<(Source, PathBuf)>> {
    let wanted = match &args.source {
        None => None,
        Some(name) => Some(Source::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = Source::ALL.iter().map(|source| source.name()).collect();
            Usage(format!("`{}` is no program that is known here: {}", visible(name), names.join(", ")))
        })?),
    };
    if let (Some(source), Some(path)) = (wanted, &args.path) {
        return Ok(vec![(source, path.clone())]);
    }
    let (home, folder) = (path_variable("HOME"), current_folder()?);
    let mut files = Vec::new();
    for source in Source::ALL.into_iter().filter(|source| wanted.is_none_or(|wanted| wanted == *source)) {
        for place in source.places() {
            let path = match place {
                Place::Home(below) => home.as_ref().map(|home| home.join(below)),
                Place::Folder(below) => Some(folder.join(below)),
            };
            files.extend(path.map(|path| (source, path)));
        }
    }
    files.dedup();
    Ok(files)
}

fn look(files: &[(Source, PathBuf)], before: &Before) -> anyhow::Result<Found> {
    let folder = current_folder()?.display().to_string();
    let mut found = Found { planned: Vec::new(), skipped: Vec::new(), rules: Vec::new(), left: Vec::new() };
    let is_named = files.len() == 1;
    for (source, path) in files {
        let file = path.display().to_string();
        let contents = match read_bounded(path, MAX_FILE_BYTES) {
            Ok(Some(text)) => read(*source, &text, &folder),
            Ok(None) if is_named => {
                return Err(Missing(format!("there is no file `{}`", visible(&file))).into());
            }
            Ok(None) => continue,
            Err(error) => Err(error.to_string()),
        };
        let contents = match contents {
            Ok(contents) => contents,
            Err(why) => {
                found.skipped.push((*source, file, why));
                continue;
            }
        };
        for imported in &contents.servers {
            let planned = before.plan(*source, &file, imported, &found.planned);
            found.planned.push(planned);
        }
        found.skipped.extend(contents.skipped.into_iter().map(|(name, why)| (*source, name, why)));
        found.left.extend(contents.left.into_iter().map(|left| (*source, left)));
        for rule in contents.rules {
            if !found.rules.contains(&rule) {
                found.rules.push(rule);
            }
        }
    }
    Ok(found)
}

fn show(found: &Found, before: &Before, output: Output) -> anyhow::Result<()> {
    if found.planned.is_empty() && found.skipped.is_empty() && found.rules.is_empty() {
        output.talk("no server of another program was found");
    }
    for Planned { source, record, secrets, fate, .. } in &found.planned {
        let what = match fate {
            Fate::New => "new",
            Fate::Changed => "changed",
            Fate::Same => "same",
        };
        let (name, from) = (visible(&record.name), source.name());
        output.data(&format!("{what:<9}{BOLD}{name}{BOLD:#} {DIM}from {from}{DIM:#}"))?;
        if *fate == Fate::Same {
            continue;
        }
        output.data(&format!("         {}", visible(&target(&record.reached))))?;
        if let Reached::Stdio(program) = &record.reached {
            output.data(&format!(
                "         {DIM}in the sandbox profile `{}`{DIM:#}",
                visible(&program.profile)
            ))?;
        }
        for (secret, value) in secrets {
            let secret = visible(secret);
            match value.is_some() || before.is_kept(&secret) {
                true => output.data(&format!("         {DIM}secret {secret}{DIM:#}"))?,
                false => output
                    .data(&format!("         secret {secret} is missing: `toolroom secrets set {secret}`"))?,
            }
        }
    }
    for (source, name, why) in &found.skipped {
        let (name, why) = (visible(name), visible(why));
        output.data(&format!("skipped  {BOLD}{name}{BOLD:#} {DIM}from {}{DIM:#}: {why}", source.name()))?;
    }
    for (source, left) in &found.left {
        output.data(&format!("skipped  {DIM}from {}{DIM:#}: {}", source.name(), visible(left)))?;
    }
    if !found.rules.is_empty() {
        output.hint(
            "these rules would do here what was said there; put those you want into your configuration:",
        );
        for (index, SuggestedRule { effect, tool }) in found.rules.iter().enumerate() {
            let number = index + 1;
            output.talk(format_args!(
                "\n[[rule]]\nid = \"imported-{number}\"\neffect = \"{effect}\"\ntool = \"{}\"",
                visible(tool)
            ));
        }
    }
    Ok(())
}

fn is_wanted(count: usize, output: Output) -> anyhow::Result<bool> {
    match ask(format_args!("enter {count}? [y/N]"), output)? {
        Reply::Line(line) => Ok(is_yes(&line)),
        Reply::Nobody => {
            let text = "nobody can be asked here; `--yes` enters what is shown, `--dry-run` only shows it";
            Err(Usage(text.to_owned()).into())
        }
    }
}

async fn enter(app: &App, planned: &Planned) -> anyhow::Result<()> {
    let Planned { record, secrets, .. } = planned;
    for (name, value) in secrets.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        app.vault.set_secret(&project(), name, value).await?;
    }
    let servers = app.store.servers(&project()).await?;
    let before = servers.iter().find(|server| server.name == record.name);
    // Another server behind the same name is no change of the first one's tools.
    if before.is_some_and(|before| before.reached != record.reached) {
        app.store.remove_server(&project(), &record.name).await?;
    }
    Ok(app.store.set_server(&project(), record).await?)
}

/// What `--json` prints of a server.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    state: Fate,
    source: &'static str,
    file: &'a str,
    target: String,
    entry: Value,
    secrets: Vec<Value>,
}

fn document(found: &Found, before: &Before, is_done: bool) -> Value {
    let listed: Vec<Listed<'_>> = found
        .planned
        .iter()
        .map(|planned| {
            Listed {
        name: &planned.record.name,
        state: planned.fate,
        source: planned.source.name(),
        file: &planned.file,
        target: target(&planned.record.reached),
        entry: json!(planned.record.reached),
        secrets: planned.secrets.iter()
            .map(|(name, value)| json!({"name": name, "is_known": value.is_some() || before.is_kept(name)}))
            .collect(),
    }
        })
        .collect();
    let skipped: Vec<Value> = found
        .skipped
        .iter()
        .map(|(source, name, why)| json!({"source": source.name(), "name": name, "why": why}))
        .collect();
    let left: Vec<Value> =
        found.left.iter().map(|(source, what)| json!({"source": source.name(), "what": what})).collect();
    json!({"servers": listed, "skipped": skipped, "left": left, "rules": found.rules, "done": is_done})
}
