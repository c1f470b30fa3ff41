//! `toolroom artifacts`: whole results and files that were kept of calls.

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
use super::console::output::{BOLD, DIM, Output, harmless, one_line, table, visible};
use super::console::time::local_time;
use crate::app::App;
use crate::own_files::is_own;

const EXAMPLES: &str = "\
Results that were too long to be told and files that tools hand over are kept, without
secrets, until `toolroom prune` deletes them.

Examples:
  toolroom artifacts list
  toolroom artifacts save last
  toolroom artifacts save art_0190… report.pdf
  toolroom artifacts save art_0190… --force        under the name it was offered by
  toolroom artifacts save art_0190… - | jq .       to another program";

/// What fits on a screen without scrolling much.
const DEFAULT_LINES: u32 = 20;

/// Room for a name beside the other columns.
const NAME_CHARS: usize = 40;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ArtifactsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List what is kept, the newest first
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = DEFAULT_LINES, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Save one as a file
    #[command(after_help = EXAMPLES)]
    Save {
        /// Which one: `last`, or as `toolroom artifacts list` and `toolroom log` name it
        id: String,
        /// The file, `-` for standard output; else the name it was offered by, in this folder
        path: Option<PathBuf>,
        /// Replace a file that is there
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
    match args.action {
        Action::List { limit } => list(app, &scope, limit, *output).await,
        Action::Save { id, path, force } => save(app, &scope, &id, path, force, *output).await,
    }
}

async fn list(app: &App, scope: &Scope, limit: u32, output: Output) -> anyhow::Result<Exit> {
    let kept = app.store.stored_artifacts(scope, limit).await?;
    if output.is_json() {
        output.document(&kept)?;
    } else if kept.is_empty() {
        output.talk("nothing is kept; long results and files that tools hand over are");
    } else {
        let zone = environment::time_zone();
        let rows = kept.iter().map(|kept| {
            vec![
                format!("{DIM}{}{DIM:#}", local_time(kept.kept_at, &zone, "%m-%d %H:%M:%S")),
                kept.id.to_string(),
                format!("{BOLD}{}{BOLD:#}", one_line(&kept.tool, NAME_CHARS)),
                one_line(&kept.media_type, NAME_CHARS),
                format!("{} bytes", kept.bytes),
                one_line(kept.name.as_deref().unwrap_or_default(), NAME_CHARS),
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
    let name = name_of(app, scope, &artifact).await?;
    let path = match path {
        Some(path) => path,
        // It would be read as something else than a file: a configuration, or a word for standard output.
        None if ["toolroom.toml", "-"].contains(&name.as_str()) => {
            let text = format!("it was offered as `{name}`; say what to call it, behind the id");
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
            None => return Err(Missing("nothing is kept yet".to_owned()).into()),
        },
        id => ArtifactId::new(id),
    };
    let found = app.store.artifact(scope, &id).await?;
    let missing = || Missing(format!("there is no artifact `{id}`; see `toolroom artifacts list`"));
    Ok(found.ok_or_else(missing)?)
}

/// Writes it where it was asked to be, and never over a file of ours.
fn write(app: &App, path: &Path, bytes: &[u8], force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    let wrong = if is_own(&app.folders, &text_file::current_folder()?.join(path)) {
        format!("`{shown}` is a file of Toolroom itself; name another file")
    } else if text_file::is_folder(path) {
        format!("`{shown}` is a folder; name a file, such as `{}`", path.join("result").display())
    } else if text_file::is_link(path) {
        // It may have been put there to lead to a file of this user.
        format!("`{shown}` is a link, and stays; name the file itself, or another one")
    } else {
        let written = match force {
            true => text_file::replace(path, bytes),
            false => text_file::write_new_private(path, bytes),
        };
        match written {
            Ok(()) => return Ok(()),
            Err(TextFileError::Exists { .. }) => {
                format!(
                    "`{shown}` is already there and stays; name another file, or replace it with `--force`"
                )
            }
            Err(other) => format!("{:#}", anyhow::Error::from(other)),
        }
    };
    Err(Usage(wrong).into())
}

/// Hands it to another program, byte for byte.
fn print(artifact: &Artifact, output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        return Err(Usage("`-` prints the file itself; leave out `--json`, or name a file".to_owned()).into());
    }
    if io::stdout().is_terminal() {
        // A terminal obeys control characters.
        let text = str::from_utf8(&artifact.bytes);
        let text = text.map_err(|_| Usage("it is no text; name a file, or pipe it elsewhere".to_owned()))?;
        output.data(&harmless(text))?;
        return Ok(Exit::Done);
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&artifact.bytes)?;
    stdout.flush()?;
    Ok(Exit::Done)
}

/// What a file of it is called: as it was offered, or by its id.
async fn name_of(app: &App, scope: &Scope, artifact: &Artifact) -> anyhow::Result<String> {
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
