//! `toolroom backup`: creates, verifies and restores backups.

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
use crate::backup::{self, BackupError, KeyInclusion, MissingKey, RestoreOptions, RestorePlan, create};
use crate::database::open_store;
use report::{contents, print_examined, print_restored};

/// Time limit of the confirmation prompt.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(300);

/// Time stamp in file names.
const STAMP: &str = "%Y%m%d-%H%M%S";

const EXAMPLES: &str = "\
Examples:
  toolroom backup create                       back up everything except the master key
  toolroom backup create /mnt/usb/room.tar --with-key
  toolroom backup verify room.tar              check it and show its contents
  toolroom backup restore room.tar             show what would be replaced, ask, then restore";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BackupArgs {
    #[command(subcommand)]
    command: Option<BackupCommand>,
}

#[derive(Subcommand)]
enum BackupCommand {
    /// Save log, approvals, secrets, switches and configuration to one file
    Create {
        /// File to create [default: toolroom-backup-….tar in this folder]
        file: Option<PathBuf>,
        /// Include the master key: anyone with the file can then open every secret
        #[arg(long)]
        with_key: bool,
    },
    /// Verify a backup: hashes, database, and whether its secrets can be opened
    Verify {
        /// Backup file
        file: PathBuf,
    },
    /// Restore a backup; the current data is kept as a copy
    Restore {
        /// Backup file
        file: PathBuf,
        /// Restore without asking
        #[arg(long)]
        yes: bool,
        /// Also replace the configuration file
        #[arg(long)]
        config: bool,
        /// Also replace the master key
        #[arg(long)]
        with_key: bool,
    },
}

pub(super) async fn run(args: BackupArgs, output: &Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    match args.command {
        None => print_help(*output),
        Some(BackupCommand::Create { file, with_key }) => {
            create_backup(&folders, file, with_key, *output).await
        }
        Some(BackupCommand::Verify { file }) => verify(&folders, &file, *output).await,
        Some(BackupCommand::Restore { file, yes, config, with_key }) => {
            let wishes = RestoreOptions { config, key: with_key };
            restore(&folders, &file, wishes, yes, *output).await
        }
    }
}

fn print_help(output: Output) -> anyhow::Result<Exit> {
    let mut cli = Cli::command();
    cli.build();
    if let Some(backup) = cli.find_subcommand_mut("backup") {
        output.data(&backup.render_help().ansi().to_string())?;
    }
    Ok(Exit::Done)
}

async fn create_backup(
    folders: &Folders,
    file: Option<PathBuf>,
    with_key: bool,
    output: Output,
) -> anyhow::Result<Exit> {
    let stamp = local_time(SystemClock.now(), &environment::time_zone(), STAMP);
    let file = file.unwrap_or_else(|| PathBuf::from(format!("toolroom-backup-{stamp}.tar")));
    let wish = if with_key { KeyInclusion::Include } else { KeyInclusion::Exclude };
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    // An interrupt must not leave a partial file.
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
        output.hint(&format!("the configuration file is not included: {problem}"));
    }
    let manifest = &created.manifest;
    if output.is_json() {
        output.document(&json!({"file": file, "manifest": manifest}))?;
        return Ok(Exit::Done);
    }
    output.data(&visible(&file.display().to_string()))?;
    output.talk(format_args!("Saved {}", contents(manifest)));
    match (manifest.key.inside, created.key) {
        (true, _) => output.hint("the master key is included: anyone with this file can open every secret in it"),
        (false, None) if manifest.rows.secrets == 0 => {}
        (false, None) => output.hint("there is no master key here, so the secrets in the backup cannot be opened"),
        (false, Some(KeyHome::File(path))) => output.hint(&format!(
            "the master key is not included: secrets can only be opened with `{}`; keep a copy of that file in \
             another place",
            path.display()
        )),
        (false, Some(home @ KeyHome::Environment)) => output.hint(&format!(
            "the master key is not included: secrets can only be opened with the value of {home}"
        )),
    }
    Ok(Exit::Done)
}

async fn verify(folders: &Folders, file: &Path, output: Output) -> anyhow::Result<Exit> {
    let verified = backup::verify(folders, file).await.map_err(refused)?;
    print_examined(file, &verified, output)?;
    Ok(if verified.is_good() { Exit::Done } else { Exit::Failed })
}

async fn restore(
    folders: &Folders,
    file: &Path,
    wishes: RestoreOptions,
    yes: bool,
    output: Output,
) -> anyhow::Result<Exit> {
    let verified = backup::verify(folders, file).await.map_err(refused)?;
    if !verified.is_whole() {
        print_examined(file, &verified, output)?;
        return Ok(Exit::Failed);
    }
    let unopened = MissingKey::of(folders, &verified);
    let plan = RestorePlan::plan(folders, file, verified, wishes).map_err(refused)?;
    if !yes && !plan.replaces.is_empty() {
        output.talk(format_args!(
            "`{}` contains {}",
            visible(&file.display().to_string()),
            contents(&plan.manifest)
        ));
        for path in &plan.replaces {
            output.talk(format_args!("Would replace `{}`", visible(&path.display().to_string())));
        }
        match confirm(output).await? {
            Confirmation::Yes => {}
            Confirmation::No => {
                return Err(Refused("restore declined; nothing was changed".to_owned()).into());
            }
            Confirmation::Interrupted => return Ok(Exit::Interrupted),
        }
    }
    let mark = format!("before-restore-{}", local_time(SystemClock.now(), &environment::time_zone(), STAMP));
    let rows = plan.manifest.rows;
    let restored = plan.carry_out(folders, &mark).await.map_err(refused)?;
    // Opened once, so that a broken database is reported now and not by the next command.
    open_store(folders).await?.shutdown().await?;
    print_restored(&restored, rows, unopened.as_ref(), output)
}

/// The answer; a timeout counts as no.
enum Confirmation {
    Yes,
    No,
    Interrupted,
}

async fn confirm(output: Output) -> anyhow::Result<Confirmation> {
    let Some(mut terminal) = Terminal::open() else {
        return Err(Usage("no terminal to ask on; restore with `--yes`".to_owned()).into());
    };
    output.talk("Restore? [y] yes  [n] no");
    let answer = tokio::task::spawn_blocking(move || {
        terminal.discard_typed_ahead()?;
        terminal.read_key(CONFIRM_TIMEOUT)
    });
    Ok(match answer.await?? {
        Some(Key::Char('y')) => Confirmation::Yes,
        Some(Key::Interrupt) => Confirmation::Interrupted,
        Some(_) | None => Confirmation::No,
    })
}

/// Maps errors to refusals, usage errors and failures.
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
        | BackupError::NoRollbackCopy(_)
        | BackupError::UnreadableCopy { .. }
        | BackupError::Archive(_)
        | BackupError::Seal(_)
        | BackupError::Store(_)
        | BackupError::Io { .. }
        | BackupError::Presence(_)
        | BackupError::Folders(_) => error.into(),
    }
}
