//! `toolroom service`: a server that starts with its user and is started again when it fails.

mod unit;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;
use toolroom_host::folders::{Folders, HOME_VARIABLE};
use toolroom_host::{environment, service_manager, text_file};
use unit::{MARK, NAME, Unit};

use super::console::exit::{Exit, Refused, Usage};
use super::console::output::{Output, visible};

/// The largest unit that is looked at.
const UNIT_BYTES: usize = 64 * 1024;

const EXAMPLES: &str = "\
Examples:
  toolroom service install --user                 writes the unit, enables and starts it
  toolroom service install --user --print         shows the unit and does nothing
  toolroom service install --print                shows the unit of a whole machine, for packages
  toolroom service status
  journalctl --user -u toolroom -f                what the server tells";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServiceArgs {
    #[command(subcommand)]
    command: ServiceCommand,
}

#[derive(Subcommand)]
enum ServiceCommand {
    /// Let systemd run the server
    Install(InstallArgs),
    /// Stop it and remove the unit
    Uninstall(UninstallArgs),
    /// See whether it is installed and runs
    Status,
}

#[derive(Args)]
struct InstallArgs {
    /// For you alone; it starts when you sign in
    #[arg(long)]
    user: bool,
    /// Where it listens; `server.listen` of the configuration when left out
    #[arg(long, value_name = "ADDRESS", requires = "user")]
    listen: Option<SocketAddr>,
    /// Replace a unit that is already there
    #[arg(long)]
    force: bool,
    /// Print the unit and do nothing
    #[arg(long)]
    print: bool,
}

#[derive(Args)]
struct UninstallArgs {
    /// Remove it although somebody else wrote it
    #[arg(long)]
    force: bool,
}

/// What was done, and what is left to do.
#[derive(Serialize)]
struct Report {
    unit: String,
    /// Whether systemd did its part.
    done: bool,
    /// What to type where it did not.
    commands: Vec<String>,
}

#[derive(Serialize)]
struct Status {
    unit: String,
    installed: bool,
    /// What systemd says about it; nothing where there is no systemd.
    enabled: Option<String>,
    active: Option<String>,
}

pub(super) fn run(args: &ServiceArgs, output: &Output) -> anyhow::Result<Exit> {
    match &args.command {
        ServiceCommand::Install(args) => install(args, output),
        ServiceCommand::Uninstall(args) => uninstall(args, output),
        ServiceCommand::Status => status(output),
    }
}

fn install(args: &InstallArgs, output: &Output) -> anyhow::Result<Exit> {
    let unit = match args.user {
        true => {
            // What names no folder here names none later.
            Folders::from_environment()?;
            Unit::User {
                program: environment::program_file().context("cannot tell where this program is")?,
                home: environment::path_variable(HOME_VARIABLE),
                listen: args.listen,
            }
        }
        false => Unit::System,
    };
    let text = unit.text()?;
    if args.print {
        match output.is_json() {
            true => output.document(&serde_json::json!({"name": NAME, "text": text}))?,
            false => output.data(text.trim_end())?,
        }
        return Ok(Exit::Done);
    }
    if !args.user {
        let text = "only `--user` installs something; the unit of a whole machine comes with its package, and \
                    `toolroom service install --print` shows it";
        return Err(Usage(text.to_owned()).into());
    }
    let path = place()?;
    match written(&path)? {
        Some(old) if old != text && !args.force => {
            let text = format!(
                "`{}` is already there and says something else; `--force` replaces it",
                path.display()
            );
            return Err(Refused(text).into());
        }
        Some(old) if old == text => {}
        _ => {
            service_manager::make_folder(path.parent().unwrap_or(Path::new("/")))
                .with_context(|| format!("cannot make the folder of `{}`", path.display()))?;
            text_file::replace(&path, &text)?;
        }
    }
    let steps: [&[&str]; 3] = [&["daemon-reload"], &["enable", NAME], &["restart", NAME]];
    let report = carry_out(&path, &steps)?;
    tell(&report, "installed", output)
}

fn uninstall(args: &UninstallArgs, output: &Output) -> anyhow::Result<Exit> {
    let path = place()?;
    let Some(text) = written(&path)? else {
        return Err(Refused(format!(
            "there is no `{}`, so nothing was done; `toolroom service install` writes it",
            path.display()
        ))
        .into());
    };
    if !text.starts_with(MARK) && !args.force {
        let text = format!("`{}` was written by somebody else; `--force` removes it", path.display());
        return Err(Refused(text).into());
    }
    // It has to know the unit to stop it.
    let stopped = carry_out(&path, &[&["disable", "--now", NAME]])?;
    service_manager::remove_unit(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
    let forgotten = carry_out(&path, &[&["daemon-reload"]])?;
    let commands = [stopped.commands, forgotten.commands].concat();
    tell(&Report { commands, ..forgotten }, "removed", output)
}

fn status(output: &Output) -> anyhow::Result<Exit> {
    let path = place()?;
    // It says so in a word, also where the answer is no.
    let word = |verb| -> anyhow::Result<Option<String>> {
        let reply = service_manager::ask(&[verb, NAME])?;
        Ok(reply.and_then(|reply| reply.said.lines().next().map(str::to_owned)))
    };
    let status = Status {
        unit: path.display().to_string(),
        installed: text_file::is_there(&path),
        enabled: word("is-enabled")?,
        active: word("is-active")?,
    };
    if output.is_json() {
        output.document(&status)?;
    } else {
        let installed = if status.installed { "installed" } else { "not installed" };
        output.data(&format!("{installed}: {}", visible(&status.unit)))?;
        for (what, said) in [("enabled", &status.enabled), ("active", &status.active)] {
            if let Some(said) = said {
                output.data(&format!("{what}: {}", visible(said)))?;
            }
        }
    }
    let runs = status.active.as_deref() == Some("active");
    Ok(if runs { Exit::Done } else { Exit::Failed })
}

/// Where the unit belongs.
fn place() -> anyhow::Result<PathBuf> {
    match service_manager::unit_folder() {
        Some(folder) => Ok(folder.join(NAME)),
        None => bail!("nobody knows where your units are: HOME is not set"),
    }
}

fn written(path: &Path) -> anyhow::Result<Option<String>> {
    Ok(text_file::read_bounded(path, UNIT_BYTES)?)
}

/// Has systemd do these steps. Where it is not there, or knows no manager of this user, they are left to be typed.
fn carry_out(path: &Path, steps: &[&[&str]]) -> anyhow::Result<Report> {
    let unit = path.display().to_string();
    let has_manager = service_manager::ask(&["show-environment"])?.is_some_and(|reply| reply.is_done);
    if !has_manager {
        let typed = |step: &&[&str]| format!("systemctl --user {}", step.join(" "));
        return Ok(Report { unit, done: false, commands: steps.iter().map(typed).collect() });
    }
    for step in steps {
        let words = step.join(" ");
        match service_manager::ask(step)? {
            Some(reply) if !reply.is_done => bail!(
                "`systemctl --user {words}` failed: {}; see `journalctl --user -u {NAME}`",
                visible(&reply.complaint)
            ),
            Some(_) | None => {}
        }
    }
    Ok(Report { unit, done: true, commands: Vec::new() })
}

fn tell(report: &Report, what: &str, output: &Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(report)?;
        return Ok(Exit::Done);
    }
    output.data(&format!("{what}: {}", visible(&report.unit)))?;
    if !report.done {
        output.talk("no systemd of yours runs here; where it does, type:");
        for command in &report.commands {
            output.talk(format_args!("  {command}"));
        }
    } else if what == "installed" {
        output.talk("it runs; it goes on when you sign out after `loginctl enable-linger`");
    }
    Ok(Exit::Done)
}
