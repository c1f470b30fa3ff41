//! `toolroom trust`: a project's file may loosen things once somebody has seen what.

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
use crate::config::{Compiled, FILE_NAME, Files, ProjectFile, Sources, Trust, what_trust_would_allow};
use crate::database::open_store;

const EXAMPLES: &str = "\
Examples:
  toolroom trust              shows what the file of this project would allow, and asks
  toolroom trust --list       which files are trusted, and whether they have changed since
  toolroom trust --revoke     takes it back";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TrustArgs {
    /// List trusted files
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    list: bool,
    /// Trust a file no longer: the one that counts here, or the one at PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, conflicts_with = "yes")]
    revoke: Option<Option<PathBuf>>,
    /// Trust the file without being asked
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
        let_go(&store).await;
        return result;
    }
    let files = Sources::find(&folders).read()?;
    let compiled = Compiled::of(&files.layers(Trust::Missing, settings))?;
    if files.unconfirmed.is_some() {
        return confirmed(files, settings, args.yes, *output);
    }
    let Some(file) = files.project else {
        compiled.loaded.warnings.iter().for_each(|warning| output.warning(&warning.to_string()));
        let text = format!("there is no `{FILE_NAME}` here or above; `toolroom init --project` writes one");
        return Err(Missing(text).into());
    };
    let wanted = Wanted { allows: what_trust_would_allow(&compiled.loaded), file };
    if wanted.allows.is_empty() {
        return wanted.tell(Told::NothingToAllow, *output);
    }
    let store = open_store(&folders).await?;
    let result = wanted.decide(&store, args.yes, *output).await;
    let_go(&store).await;
    result
}

/// The user's own file, if programs could have made it.
fn confirmed(files: Files, settings: &[String], yes: bool, output: Output) -> anyhow::Result<Exit> {
    let files = Files { project: None, ..files };
    let allows = what_trust_would_allow(&Compiled::of(&files.layers(Trust::Missing, settings))?.loaded);
    let Some(file) = files.unconfirmed else { return Ok(Exit::Done) };
    let wanted = Wanted { file, allows };
    output.talk("it appeared while a program ran in the sandbox that could have made it");
    if !wanted.is_agreed_to(yes, output)? {
        return wanted.tell(Told::Declined, output);
    }
    confirm(&wanted.file.path)?;
    wanted.tell(Told::Confirmed, output)
}

/// What was recorded is written already: an untidy end must not turn it into a failure.
async fn let_go(store: &Store) {
    if let Err(error) = store.shutdown().await {
        tracing::warn!(%error, "the database could not be closed in order");
    }
}

/// A file, exactly as it was read, and what it would be allowed.
struct Wanted {
    file: ProjectFile,
    allows: Vec<String>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    NothingToAllow,
    Already,
    Trusted,
    Confirmed,
    Declined,
}

impl Wanted {
    async fn decide(&self, store: &Store, yes: bool, output: Output) -> anyhow::Result<Exit> {
        if self.file.trust(store).await? == Trust::Given {
            return self.tell(Told::Already, output);
        }
        let Some(name) = self.file.name() else {
            let path = self.file.path.display();
            return Err(Usage(format!(
                "`{path}` is not UTF-8; a file can only be trusted by a path that is"
            ))
            .into());
        };
        if !self.is_agreed_to(yes, output)? {
            return self.tell(Told::Declined, output);
        }
        // The hash of what was shown: whoever changes the file meanwhile has it asked about again.
        store.trust(name, &self.file.sha256()).await?;
        self.tell(Told::Trusted, output)
    }

    /// Shows it and asks, unless the answer was given before.
    fn is_agreed_to(&self, yes: bool, output: Output) -> anyhow::Result<bool> {
        if !output.is_json() || !yes {
            self.show(output);
        }
        if yes {
            return Ok(true);
        }
        match ask("trust it? [y/N]", output)? {
            Reply::Nobody => {
                let text = "nobody can be asked here; `toolroom trust --yes` trusts it all the same";
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
            "{DIM}{count} in all, until the file changes; it may ask, deny and narrow without trust{DIM:#}"
        ));
    }

    fn tell(&self, told: Told, output: Output) -> anyhow::Result<Exit> {
        let exit = match told {
            Told::NothingToAllow | Told::Already | Told::Trusted | Told::Confirmed => Exit::Done,
            Told::Declined => Exit::Denied,
        };
        if output.is_json() {
            let trusted = matches!(told, Told::Already | Told::Trusted | Told::Confirmed);
            let (path, sha256) = (self.file.path.to_string_lossy(), self.file.sha256());
            output.document(
                &json!({"path": path, "sha256": sha256, "trusted": trusted, "allows": self.allows}),
            )?;
            return Ok(exit);
        }
        let path = visible(&self.file.path.display().to_string());
        match told {
            Told::NothingToAllow => {
                output.talk(format_args!("{path} allows nothing, and counts in full without trust"));
            }
            Told::Already => output.talk(format_args!("{path} is trusted already, with this content")),
            Told::Trusted => {
                output.talk(format_args!("{path} is trusted; `toolroom trust --revoke` takes it back"));
            }
            Told::Confirmed => output.talk(format_args!("{path} counts from now on")),
            Told::Declined => output.talk(format_args!("{path} stays as it was: not trusted")),
        }
        Ok(exit)
    }
}

/// A trusted file, and what has become of it.
#[derive(Serialize)]
struct Line {
    path: String,
    sha256: String,
    trusted_at: Timestamp,
    state: &'static str,
}

async fn list(store: &Store, output: Output) -> anyhow::Result<Exit> {
    let line = |file: TrustedFile| Line {
        state: state(&file),
        path: file.path,
        sha256: file.sha256,
        trusted_at: file.trusted_at,
    };
    let lines: Vec<Line> = store.trusted().await?.into_iter().map(line).collect();
    if output.is_json() {
        output.document(&lines)?;
    } else if lines.is_empty() {
        output.talk("no project's file is trusted; `toolroom trust` in a project shows what it would allow");
    } else {
        let zone = environment::time_zone();
        let row = |line: &Line| {
            let at = format!("{DIM}{}{DIM:#}", local_time(line.trusted_at, &zone, "%Y-%m-%d %H:%M"));
            vec![at, visible(&line.path), format!("{YELLOW}{}{YELLOW:#}", line.state)]
        };
        output.data(&table(&lines.iter().map(row).collect::<Vec<_>>()))?;
    }
    Ok(Exit::Done)
}

/// What has become of a file since it was trusted; nothing to say if it is the same.
fn state(file: &TrustedFile) -> &'static str {
    let path = PathBuf::from(&file.path);
    let sources = Sources::of(PathBuf::new(), Some(path));
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
    let wanted = match path {
        Some(path) => absolute(&path)?,
        None => Sources::find(folders).project.ok_or_else(|| {
            Missing(format!("there is no `{FILE_NAME}` here or above; name one of `toolroom trust --list`"))
        })?,
    };
    // A folder stands for the file in it.
    let inside = wanted.join(FILE_NAME);
    let known = trusted.iter().find(|name| Path::new(name) == wanted || Path::new(name) == inside);
    let Some(name) = known else {
        let text = wanted.display().to_string();
        let near = nearest_one(&text, trusted.iter().map(String::as_str));
        let hint =
            near.map_or("see `toolroom trust --list`".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(Missing(format!("`{text}` is not trusted; {hint}")).into());
    };
    store.distrust(name).await?;
    if output.is_json() {
        output.document(&json!({"path": name, "trusted": false}))?;
    } else {
        output.talk(format_args!("{} is no longer trusted", visible(name)));
    }
    Ok(Exit::Done)
}

/// The path a person means. The file may be gone, so nobody but the path itself is asked.
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
