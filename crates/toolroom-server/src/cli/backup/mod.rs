//! `toolroom backup`: everything in one file, and back.

mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory, Subcommand};
use serde_json::json;
use toolroom::call::CancellationToken;
use toolroom::clock::{Clock, SystemClock};
use toolroom_host::archive::ArchiveError;
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::interrupt::Interrupts;
use toolroom_host::seal::KeyHome;
use toolroom_host::terminal::{Key, Terminal};

use super::Cli;
use super::console::exit::{Exit, Missing, Refused, Usage};
use super::console::output::{Output, visible};
use super::console::time::local_time;
use crate::backup::{BackupError, KeyWish, Restoration, Unopened, Wishes, create, examine};
use crate::database::open_store;
use report::{contents, tell, tell_restored};

/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// An instant in the name of a file.
const STAMP: &str = "%Y%m%d-%H%M%S";

const EXAMPLES: &str = "\
Examples:
  toolroom backup create                       everything but the master key
  toolroom backup create /mnt/usb/room.tar --with-key
  toolroom backup verify room.tar              whether it is good, and what is in it
  toolroom backup restore room.tar             shows what would be replaced, and asks";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BackupArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Copy journal, approvals, secrets, switches and configuration into one file
    Create {
        /// The file, which must not be there yet [default: toolroom-backup-….tar in this folder]
        file: Option<PathBuf>,
        /// Put the master key inside: whoever has the file can then open every secret
        #[arg(long)]
        with_key: bool,
    },
    /// Check a backup: hashes, database, and whether its secrets can be opened
    Verify {
        /// The file
        file: PathBuf,
    },
    /// Bring a backup back; what is there now is kept beside
    Restore {
        /// The file
        file: PathBuf,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Replace the configuration file too
        #[arg(long)]
        config: bool,
        /// Replace the master key too
        #[arg(long)]
        with_key: bool,
    },
}

pub(super) async fn run(args: BackupArgs, output: &Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    match args.action {
        None => help(*output),
        Some(Action::Create { file, with_key }) => make(&folders, file, with_key, *output).await,
        Some(Action::Verify { file }) => verify(&folders, &file, *output).await,
        Some(Action::Restore { file, yes, config, with_key }) => {
            let wishes = Wishes { config, key: with_key };
            restore(&folders, &file, wishes, yes, *output).await
        }
    }
}

fn help(output: Output) -> anyhow::Result<Exit> {
    let mut cli = Cli::command();
    cli.build();
    if let Some(backup) = cli.find_subcommand_mut("backup") {
        output.data(&backup.render_help().ansi().to_string())?;
    }
    Ok(Exit::Done)
}

async fn make(
    folders: &Folders,
    file: Option<PathBuf>,
    with_key: bool,
    output: Output,
) -> anyhow::Result<Exit> {
    let stamp = local_time(SystemClock.now(), &environment::time_zone(), STAMP);
    let file = file.unwrap_or_else(|| PathBuf::from(format!("toolroom-backup-{stamp}.tar")));
    let wish = if with_key { KeyWish::Inside } else { KeyWish::Apart };
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    // An interruption must not leave half of everything behind.
    let _interrupts = Interrupts::watch(move || stopped.cancel())?;
    let store = open_store(folders).await?;
    let created = tokio::select! {
        created = create(folders, &store, &SystemClock, &file, wish) => Some(created),
        () = stop.cancelled() => None,
    };
    let closed = store.shutdown().await;
    let Some(created) = created.transpose().map_err(refused)? else { return Ok(Exit::Interrupted) };
    closed?;
    if let Some(problem) = &created.config_problem {
        output.hint(&format!("the configuration file was left out: {problem}"));
    }
    let manifest = &created.manifest;
    if output.is_json() {
        output.document(&json!({"file": file, "manifest": manifest}))?;
        return Ok(Exit::Done);
    }
    output.data(&visible(&file.display().to_string()))?;
    output.talk(format_args!("inside: {}", contents(manifest)));
    match (manifest.key.inside, created.key) {
        (true, _) => output.hint("the master key is inside: whoever has this file can open every secret in it"),
        (false, None) if manifest.rows.secrets == 0 => {}
        (false, None) => output.hint("there is no master key here, so the secrets in it cannot be opened"),
        (false, Some(KeyHome::File(path))) => output.hint(&format!(
            "the master key is not inside: what is sealed in it can only be opened with `{}`; keep a copy of that \
             file, apart from this one",
            path.display()
        )),
        (false, Some(home @ KeyHome::Environment)) => output.hint(&format!(
            "the master key is not inside: what is sealed in it can only be opened with the value of {home}"
        )),
    }
    Ok(Exit::Done)
}

async fn verify(folders: &Folders, file: &Path, output: Output) -> anyhow::Result<Exit> {
    let examined = examine(folders, file).await.map_err(refused)?;
    tell(file, &examined, output)?;
    Ok(if examined.is_good() { Exit::Done } else { Exit::Failed })
}

async fn restore(
    folders: &Folders,
    file: &Path,
    wishes: Wishes,
    yes: bool,
    output: Output,
) -> anyhow::Result<Exit> {
    let examined = examine(folders, file).await.map_err(refused)?;
    if !examined.is_whole() {
        tell(file, &examined, output)?;
        return Ok(Exit::Failed);
    }
    let unopened = Unopened::of(folders, &examined);
    let plan = Restoration::plan(folders, file, examined, wishes).map_err(refused)?;
    if !yes && !plan.replaces.is_empty() {
        output.talk(format_args!(
            "`{}` holds {}",
            visible(&file.display().to_string()),
            contents(&plan.manifest)
        ));
        for path in &plan.replaces {
            output.talk(format_args!("would replace `{}`", visible(&path.display().to_string())));
        }
        match confirm(output).await? {
            Reply::Yes => {}
            Reply::No => return Err(Refused("nothing was restored".to_owned()).into()),
            Reply::Interrupted => return Ok(Exit::Interrupted),
        }
    }
    let mark = format!("before-restore-{}", local_time(SystemClock.now(), &environment::time_zone(), STAMP));
    let rows = plan.manifest.rows;
    let restored = plan.carry_out(folders, &mark).await.map_err(refused)?;
    // Opened once, so that what is wrong with it is told now and not to the next call.
    open_store(folders).await?.shutdown().await?;
    tell_restored(&restored, rows, unopened.as_ref(), output)
}

/// What came of asking. Who does not answer says no.
enum Reply {
    Yes,
    No,
    Interrupted,
}

async fn confirm(output: Output) -> anyhow::Result<Reply> {
    let Some(mut terminal) = Terminal::open() else {
        return Err(Usage("nobody can be asked here; say --yes to restore it".to_owned()).into());
    };
    output.talk("restore it? [y] yes  [n] no");
    let answer = tokio::task::spawn_blocking(move || {
        terminal.discard_typed_ahead()?;
        terminal.read_key(PATIENCE)
    });
    Ok(match answer.await?? {
        Some(Key::Char('y')) => Reply::Yes,
        Some(Key::Interrupt) => Reply::Interrupted,
        Some(_) | None => Reply::No,
    })
}

/// Some errors say that the person asked for something that cannot be; the others that something broke.
fn refused(error: BackupError) -> anyhow::Error {
    match error {
        BackupError::InUse { .. } | BackupError::PresentIsNewer(_) | BackupError::OtherKey => {
            Refused(format!("{:#}", anyhow::Error::from(error))).into()
        }
        BackupError::NoKeyInside
        | BackupError::NoConfigInside
        | BackupError::ConfigInside { .. }
        | BackupError::KeyWouldNotCount
        | BackupError::KeyInEnvironment
        | BackupError::Archive(ArchiveError::Exists { .. } | ArchiveError::NotRegular { .. }) => {
            Usage(error.to_string()).into()
        }
        BackupError::Archive(ArchiveError::Missing { .. }) => Missing(error.to_string()).into(),
        BackupError::KeyChanges
        | BackupError::Changed
        | BackupError::NoWayBack(_)
        | BackupError::UnreadableCopy { .. }
        | BackupError::Archive(_)
        | BackupError::Seal(_)
        | BackupError::Store(_)
        | BackupError::Io { .. }
        | BackupError::Presence(_)
        | BackupError::Folders(_) => error.into(),
    }
}
