//! `toolroom artifacts`: lists and saves stored results and files of calls.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use toolroom::ledger::{Artifact, ArtifactId, Artifacts as _, Journal as _};
use toolroom::scope::Scope;
use toolroom::tool::{Offer, bare_name};
use toolroom_host::text_file::TextFileError;
use toolroom_host::{environment, text_file};

use super::console::exit::{Exit, Missing, Usage};
use super::console::output::{BOLD, DIM, Output, escape_controls, one_line, table, visible};
use super::console::time::local_time;
use crate::app::App;
use crate::own_files::is_own;

const EXAMPLES: &str = "\
Long results and files that tools return are stored, with secrets removed, until
`toolroom prune` deletes them.

Examples:
  toolroom artifacts list
  toolroom artifacts save last
  toolroom artifacts save art_0190… report.pdf
  toolroom artifacts save art_0190… --force        use the name the tool gave it
  toolroom artifacts save art_0190… - | jq .       pipe it to another program";

/// Fits on one screen.
const DEFAULT_LINES: u32 = 20;

/// Column width of a name.
const NAME_CHARS: usize = 40;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ArtifactsArgs {
    #[command(subcommand)]
    command: ArtifactsCommand,
}

#[derive(Subcommand)]
enum ArtifactsCommand {
    /// List artifacts, newest first
    List {
        /// Maximum number to list
        #[arg(long, value_name = "N", default_value_t = DEFAULT_LINES, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Save an artifact to a file
    #[command(after_help = EXAMPLES)]
    Save {
        /// Artifact id as shown by `toolroom artifacts list` or `toolroom log`, or `last`
        id: String,
        /// Target file, or `-` for standard output [default: the name the tool gave it, in this folder]
        path: Option<PathBuf>,
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
}

pub(super) async fn run(
    app: &App,
    scope: Scope,
    args: ArtifactsArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    match args.command {
        ArtifactsCommand::List { limit } => list(app, &scope, limit, *output).await,
        ArtifactsCommand::Save { id, path, force } => save(app, &scope, &id, path, force, *output).await,
    }
}

async fn list(app: &App, scope: &Scope, limit: u32, output: Output) -> anyhow::Result<Exit> {
    let stored = app.store.stored_artifacts(scope, limit).await?;
    if output.is_json() {
        output.document(&stored)?;
    } else if stored.is_empty() {
        output.talk("No artifacts stored yet; long results and files that tools return are stored here");
    } else {
        let zone = environment::time_zone();
        let rows = stored.iter().map(|artifact| {
            vec![
                format!("{DIM}{}{DIM:#}", local_time(artifact.kept_at, &zone, "%m-%d %H:%M:%S")),
                artifact.id.to_string(),
                format!("{BOLD}{}{BOLD:#}", one_line(&artifact.tool, NAME_CHARS)),
                one_line(&artifact.media_type, NAME_CHARS),
                format!("{} bytes", artifact.bytes),
                one_line(artifact.name.as_deref().unwrap_or_default(), NAME_CHARS),
            ]
        });
        output.data(&table(&rows.collect::<Vec<_>>()))?;
    }
    Ok(Exit::Done)
}

async fn save(
    app: &App,
    scope: &Scope,
    id: &str,
    path: Option<PathBuf>,
    force: bool,
    output: Output,
) -> anyhow::Result<Exit> {
    let artifact = find(app, scope, id).await?;
    let name = default_file_name(app, scope, &artifact).await?;
    let path = match path {
        Some(path) => path,
        // Saved under this name it would become a configuration file, or mean standard output.
        None if ["toolroom.toml", "-"].contains(&name.as_str()) => {
            let text = format!("the artifact is named `{name}`; give another file name after the id");
            return Err(Usage(text).into());
        }
        None => PathBuf::from(name),
    };
    if path == Path::new("-") {
        return print(&artifact, output);
    }
    write(app, &path, &artifact.bytes, force)?;
    if output.is_json() {
        let (call, kind, bytes) = (&artifact.call, &artifact.media_type, artifact.bytes.len());
        output.document(&json!({
            "id": artifact.id, "call": call, "media_type": kind, "bytes": bytes, "file": path,
        }))?;
        return Ok(Exit::Done);
    }
    output.data(&visible(&path.display().to_string()))?;
    output.talk(format_args!("{} bytes, {}", artifact.bytes.len(), visible(&artifact.media_type)));
    Ok(Exit::Done)
}

async fn find(app: &App, scope: &Scope, id: &str) -> anyhow::Result<Artifact> {
    let id = match id {
        "last" => match app.store.stored_artifacts(scope, 1).await?.pop() {
            Some(newest) => newest.id,
            None => return Err(Missing("no artifacts stored yet".to_owned()).into()),
        },
        id => ArtifactId::new(id),
    };
    let found = app.store.artifact(scope, &id).await?;
    let missing = || Missing(format!("no artifact `{id}`; see `toolroom artifacts list`"));
    Ok(found.ok_or_else(missing)?)
}

/// Writes the artifact to `path`. Refuses to replace files of Toolroom itself.
fn write(app: &App, path: &Path, bytes: &[u8], force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    let wrong = if is_own(&app.folders, &text_file::current_folder()?.join(path)) {
        format!("`{shown}` belongs to Toolroom; choose another file")
    } else if text_file::is_folder(path) {
        format!("`{shown}` is a folder; give a file, such as `{}`", path.join("result").display())
    } else if text_file::is_link(path) {
        // A planted link could redirect the write to another file of this user.
        format!("`{shown}` is a symbolic link; give the file itself, or another one")
    } else {
        let written = match force {
            true => text_file::replace(path, bytes),
            false => text_file::write_new_private(path, bytes),
        };
        match written {
            Ok(()) => return Ok(()),
            Err(TextFileError::Exists { .. }) => {
                format!("`{shown}` already exists; choose another file, or replace it with `--force`")
            }
            Err(other) => format!("{:#}", anyhow::Error::from(other)),
        }
    };
    Err(Usage(wrong).into())
}

/// Writes the bytes to standard output.
fn print(artifact: &Artifact, output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        return Err(Usage("`-` cannot be combined with `--json`; give a file instead".to_owned()).into());
    }
    if io::stdout().is_terminal() {
        // A terminal would interpret control characters.
        let text = str::from_utf8(&artifact.bytes);
        let text = text.map_err(|_| {
            Usage("the artifact is not text; save it to a file, or pipe it to another program".to_owned())
        })?;
        output.data(&escape_controls(text))?;
        return Ok(Exit::Done);
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&artifact.bytes)?;
    stdout.flush()?;
    Ok(Exit::Done)
}

/// The file name the tool gave the artifact, or its id with an extension.
async fn default_file_name(app: &App, scope: &Scope, artifact: &Artifact) -> anyhow::Result<String> {
    let call = app.store.call(scope, &artifact.call).await?;
    let offers = call.map(|call| call.offers).unwrap_or_default();
    let file = offers.iter().filter_map(Offer::file).find(|file| file.artifact == artifact.id);
    Ok(match file {
        Some(file) => bare_name(&file.name),
        None => {
            let ending = match &*artifact.media_type {
                Artifact::JSON => "json",
                Artifact::TEXT => "txt",
                _ => "bin",
            };
            format!("{}.{ending}", artifact.id)
        }
    })
}
