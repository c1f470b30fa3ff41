//! `toolroom trust`: lets a project file allow things, after showing what.

use std::path::{Component, Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;
use toolroom::clock::Timestamp;
use toolroom::nearest::nearest_one;
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::sandbox::confirm;
use toolroom_host::text_file;
use toolroom_store::{Store, TrustedFile};

use super::console::exit::{Exit, Missing, Usage};
use super::console::input::{Reply, ask, is_yes};
use super::console::output::{BOLD, DIM, Output, YELLOW, table, visible};
use super::console::time::local_time;
use crate::config::{
    CompiledConfig, ConfigFiles, FILE_NAME, ProjectFile, Sources, Trust, what_trust_would_allow,
};
use crate::database::open_store;

const EXAMPLES: &str = "\
Examples:
  toolroom trust              show what the project file would allow, and ask
  toolroom trust --list       list trusted files and whether they changed
  toolroom trust --revoke     stop trusting it";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TrustArgs {
    /// List trusted files
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    list: bool,
    /// Stop trusting the project file in effect here, or the one at PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, conflicts_with = "yes")]
    revoke: Option<Option<PathBuf>>,
    /// Trust the file without asking
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(settings: &[String], args: TrustArgs, output: &Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    if args.list || args.revoke.is_some() {
        let store = open_store(&folders).await?;
        let result = match args.revoke {
            Some(path) => revoke(&store, path, &folders, *output).await,
            None => list(&store, *output).await,
        };
        close(&store).await;
        return result;
    }
    let files = Sources::find(&folders).read()?;
    let compiled = CompiledConfig::of(&files.layers(Trust::Missing, settings))?;
    if files.unconfirmed.is_some() {
        return confirm_user_file(files, settings, args.yes, *output);
    }
    let Some(file) = files.project else {
        compiled.loaded.warnings.iter().for_each(|warning| output.warning(&warning.to_string()));
        let text =
            format!("no `{FILE_NAME}` in this folder or above; create one with `toolroom init --project`");
        return Err(Missing(text).into());
    };
    let request = TrustRequest { allows: what_trust_would_allow(&compiled.loaded), file };
    if request.allows.is_empty() {
        return request.finish(TrustOutcome::NothingToAllow, *output);
    }
    let store = open_store(&folders).await?;
    let result = request.decide(&store, args.yes, *output).await;
    close(&store).await;
    result
}

/// Confirms the user file, if a sandboxed program could have written it.
fn confirm_user_file(
    files: ConfigFiles,
    settings: &[String],
    yes: bool,
    output: Output,
) -> anyhow::Result<Exit> {
    let files = ConfigFiles { project: None, ..files };
    let allows = what_trust_would_allow(&CompiledConfig::of(&files.layers(Trust::Missing, settings))?.loaded);
    let Some(file) = files.unconfirmed else { return Ok(Exit::Done) };
    let request = TrustRequest { file, allows };
    output.talk("This file appeared while a sandboxed program was running, which could have written it");
    if !request.is_confirmed(yes, output)? {
        return request.finish(TrustOutcome::Declined, output);
    }
    confirm(&request.file.path)?;
    request.finish(TrustOutcome::Confirmed, output)
}

/// The change is durable at this point, so a failed shutdown is only a warning.
async fn close(store: &Store) {
    if let Err(error) = store.shutdown().await {
        tracing::warn!(%error, "the database was not closed cleanly");
    }
}

/// A file as it was read, and the settings that trust would allow.
struct TrustRequest {
    file: ProjectFile,
    allows: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrustOutcome {
    NothingToAllow,
    AlreadyTrusted,
    Trusted,
    Confirmed,
    Declined,
}

impl TrustRequest {
    async fn decide(&self, store: &Store, yes: bool, output: Output) -> anyhow::Result<Exit> {
        if self.file.trust(store).await? == Trust::Given {
            return self.finish(TrustOutcome::AlreadyTrusted, output);
        }
        let Some(name) = self.file.name() else {
            let path = self.file.path.display();
            return Err(
                Usage(format!("`{path}` is not UTF-8; only files with UTF-8 paths can be trusted")).into()
            );
        };
        if !self.is_confirmed(yes, output)? {
            return self.finish(TrustOutcome::Declined, output);
        }
        // The hash of the content that was shown: a later change needs trust again.
        store.trust(name, &self.file.sha256()).await?;
        self.finish(TrustOutcome::Trusted, output)
    }

    /// Shows the request and asks, unless `--yes` was given.
    fn is_confirmed(&self, yes: bool, output: Output) -> anyhow::Result<bool> {
        if !output.is_json() || !yes {
            self.show(output);
        }
        if yes {
            return Ok(true);
        }
        match ask("Trust it? [y/N]", output)? {
            Reply::NoTerminal => {
                let text = "no terminal to ask on; trust it with `toolroom trust --yes`";
                Err(Usage(text.to_owned()).into())
            }
            Reply::Line(line) => Ok(is_yes(&line)),
        }
    }

    fn show(&self, output: Output) {
        let path = visible(&self.file.path.display().to_string());
        output.talk(format_args!("{BOLD}{path}{BOLD:#} would be allowed to set:"));
        for allowed in &self.allows {
            output.talk(format_args!("  {YELLOW}{}{YELLOW:#}", visible(allowed)));
        }
        let count = self.allows.len();
        output.talk(format_args!(
            "{DIM}{count} in total, until the file changes; settings that ask, deny or narrow need no trust{DIM:#}"
        ));
    }

    fn finish(&self, outcome: TrustOutcome, output: Output) -> anyhow::Result<Exit> {
        let exit = match outcome {
            TrustOutcome::NothingToAllow
            | TrustOutcome::AlreadyTrusted
            | TrustOutcome::Trusted
            | TrustOutcome::Confirmed => Exit::Done,
            TrustOutcome::Declined => Exit::Denied,
        };
        if output.is_json() {
            let trusted = matches!(
                outcome,
                TrustOutcome::AlreadyTrusted | TrustOutcome::Trusted | TrustOutcome::Confirmed
            );
            let (path, sha256) = (self.file.path.to_string_lossy(), self.file.sha256());
            output.document(
                &json!({"path": path, "sha256": sha256, "trusted": trusted, "allows": self.allows}),
            )?;
            return Ok(exit);
        }
        let path = visible(&self.file.path.display().to_string());
        match outcome {
            TrustOutcome::NothingToAllow => {
                output.talk(format_args!("{path} allows nothing, so it is fully in effect without trust"));
            }
            TrustOutcome::AlreadyTrusted => output.talk(format_args!("{path} is already trusted")),
            TrustOutcome::Trusted => {
                output.talk(format_args!("Trusted {path}; undo with `toolroom trust --revoke`"));
            }
            TrustOutcome::Confirmed => output.talk(format_args!("Confirmed {path}; it is now in effect")),
            TrustOutcome::Declined => output.talk(format_args!("Not trusted: {path}")),
        }
        Ok(exit)
    }
}

#[derive(Serialize)]
struct TrustedFileRow {
    path: String,
    sha256: String,
    trusted_at: Timestamp,
    state: &'static str,
}

async fn list(store: &Store, output: Output) -> anyhow::Result<Exit> {
    let line = |file: TrustedFile| TrustedFileRow {
        state: state(&file),
        path: file.path,
        sha256: file.sha256,
        trusted_at: file.trusted_at,
    };
    let lines: Vec<TrustedFileRow> = store.trusted().await?.into_iter().map(line).collect();
    if output.is_json() {
        output.document(&lines)?;
    } else if lines.is_empty() {
        output.talk("No trusted project files; run `toolroom trust` in a project folder");
    } else {
        let zone = environment::time_zone();
        let row = |line: &TrustedFileRow| {
            let at = format!("{DIM}{}{DIM:#}", local_time(line.trusted_at, &zone, "%Y-%m-%d %H:%M"));
            vec![at, visible(&line.path), format!("{YELLOW}{}{YELLOW:#}", line.state)]
        };
        output.data(&table(&lines.iter().map(row).collect::<Vec<_>>()))?;
    }
    Ok(Exit::Done)
}

/// Compares the file with its trusted hash; empty if unchanged.
fn state(file: &TrustedFile) -> &'static str {
    let path = PathBuf::from(&file.path);
    let sources = Sources::new(PathBuf::new(), Some(path));
    match sources.project_file() {
        Ok(Some(now)) if now.sha256() == file.sha256 => "",
        Ok(Some(_)) => "changed since",
        Ok(None) => "gone",
        Err(_) => "cannot be read",
    }
}

async fn revoke(
    store: &Store,
    path: Option<PathBuf>,
    folders: &Folders,
    output: Output,
) -> anyhow::Result<Exit> {
    let trusted: Vec<String> = store.trusted().await?.into_iter().map(|file| file.path).collect();
    let request = match path {
        Some(path) => absolute(&path)?,
        None => Sources::find(folders).project.ok_or_else(|| {
            Missing(format!(
                "no `{FILE_NAME}` in this folder or above; give a path from `toolroom trust --list`"
            ))
        })?,
    };
    // A folder means the project file in it.
    let inside = request.join(FILE_NAME);
    let known = trusted.iter().find(|name| Path::new(name) == request || Path::new(name) == inside);
    let Some(name) = known else {
        let text = request.display().to_string();
        let near = nearest_one(&text, trusted.iter().map(String::as_str));
        let hint =
            near.map_or("see `toolroom trust --list`".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(Missing(format!("`{text}` is not trusted; {hint}")).into());
    };
    store.distrust(name).await?;
    if output.is_json() {
        output.document(&json!({"path": name, "trusted": false}))?;
    } else {
        output.talk(format_args!("No longer trusted: {}", visible(name)));
    }
    Ok(Exit::Done)
}

/// Makes a path absolute without the file system, because the file may be deleted.
fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    let whole = text_file::current_folder()?.join(path);
    Ok(whole.components().fold(PathBuf::new(), |mut above, step| {
        match step {
            Component::ParentDir => drop(above.pop()),
            step => above.push(step),
        }
        above
    }))
}
