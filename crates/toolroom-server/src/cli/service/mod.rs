//! `toolroom service`: runs the server as a systemd user service.

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

/// Size limit of a unit file.
const UNIT_BYTES: usize = 64 * 1024;

const EXAMPLES: &str = "\
Examples:
  toolroom service install --user                 write the unit, enable and start it
  toolroom service install --user --print         only print the unit
  toolroom service install --print                print the system unit, for packages
  toolroom service status
  journalctl --user -u toolroom -f                follow the server log";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServiceArgs {
    #[command(subcommand)]
    command: ServiceCommand,
}

#[derive(Subcommand)]
enum ServiceCommand {
    /// Install and start the service
    Install(InstallArgs),
    /// Stop the service and remove its unit
    Uninstall(UninstallArgs),
    /// Show whether the service is installed and running
    Status,
}

#[derive(Args)]
struct InstallArgs {
    /// Install for your user; starts when you sign in
    #[arg(long)]
    user: bool,
    /// Address to listen on [default: `server.listen` of the configuration]
    #[arg(long, value_name = "ADDRESS", requires = "user")]
    listen: Option<SocketAddr>,
    /// Replace an existing unit
    #[arg(long)]
    force: bool,
    /// Only print the unit
    #[arg(long)]
    print: bool,
}

#[derive(Args)]
struct UninstallArgs {
    /// Remove a unit not written by Toolroom
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct ServiceReport {
    unit: String,
    /// Whether systemd ran the steps.
    done: bool,
    /// The commands to run by hand otherwise.
    commands: Vec<String>,
}

#[derive(Serialize)]
struct ServiceStatus {
    unit: String,
    installed: bool,
    /// The answer of systemd; `None` without systemd.
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
            // Fails early on invalid environment variables.
            Folders::from_environment()?;
            Unit::User {
                program: environment::program_file().context("cannot determine the path of this program")?,
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
        let text = "only `--user` can be installed; the system unit comes with its package, and \
                    `toolroom service install --print` prints it";
        return Err(Usage(text.to_owned()).into());
    }
    let path = unit_path()?;
    match read_unit(&path)? {
        Some(old) if old != text && !args.force => {
            let text = format!(
                "`{}` already exists with different content; replace it with `--force`",
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
    let report = run_steps(&path, &steps)?;
    print_report(&report, "installed", output)
}

fn uninstall(args: &UninstallArgs, output: &Output) -> anyhow::Result<Exit> {
    let path = unit_path()?;
    let Some(text) = read_unit(&path)? else {
        return Err(Refused(format!(
            "the service is not installed (no `{}`); install it with `toolroom service install --user`",
            path.display()
        ))
        .into());
    };
    if !text.starts_with(MARK) && !args.force {
        let text = format!("`{}` was not written by Toolroom; remove it with `--force`", path.display());
        return Err(Refused(text).into());
    }
    // systemd needs the unit to stop it.
    let stopped = run_steps(&path, &[&["disable", "--now", NAME]])?;
    service_manager::remove_unit(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
    let reloaded = run_steps(&path, &[&["daemon-reload"]])?;
    let commands = [stopped.commands, reloaded.commands].concat();
    print_report(&ServiceReport { commands, ..reloaded }, "removed", output)
}

fn status(output: &Output) -> anyhow::Result<Exit> {
    let path = unit_path()?;
    // systemctl prints one word, also for a negative answer.
    let word = |verb| -> anyhow::Result<Option<String>> {
        let reply = service_manager::ask(&[verb, NAME])?;
        Ok(reply.and_then(|reply| reply.said.lines().next().map(str::to_owned)))
    };
    let status = ServiceStatus {
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

fn unit_path() -> anyhow::Result<PathBuf> {
    match service_manager::unit_folder() {
        Some(folder) => Ok(folder.join(NAME)),
        None => bail!("cannot determine the folder of user units: HOME is not set"),
    }
}

fn read_unit(path: &Path) -> anyhow::Result<Option<String>> {
    Ok(text_file::read_bounded(path, UNIT_BYTES)?)
}

/// Runs the steps with systemctl. Without a systemd user manager they are returned as commands.
fn run_steps(path: &Path, steps: &[&[&str]]) -> anyhow::Result<ServiceReport> {
    let unit = path.display().to_string();
    let has_manager = service_manager::ask(&["show-environment"])?.is_some_and(|reply| reply.is_done);
    if !has_manager {
        let command_line = |step: &&[&str]| format!("systemctl --user {}", step.join(" "));
        return Ok(ServiceReport { unit, done: false, commands: steps.iter().map(command_line).collect() });
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
    Ok(ServiceReport { unit, done: true, commands: Vec::new() })
}

fn print_report(report: &ServiceReport, what: &str, output: &Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(report)?;
        return Ok(Exit::Done);
    }
    output.data(&format!("{what}: {}", visible(&report.unit)))?;
    if !report.done {
        output.talk("No systemd user manager is running; run these commands where it does:");
        for command in &report.commands {
            output.talk(format_args!("  {command}"));
        }
    } else if what == "installed" {
        output
            .talk("The service is running; to keep it running after you sign out: `loginctl enable-linger`");
    }
    Ok(Exit::Done)
}
