//! `toolroom sandbox`: shows what the sandbox guarantees on this machine, and runs a program in it.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use toolroom_host::control_group::ControlGroup;
use toolroom_host::folders::Folders;
use toolroom_host::net::Proxy;
use toolroom_host::process::{
    Cause, Limit, Order, OutputStream, ProcessError, ProgramEnd, Running, Status, Supervisor,
};
use toolroom_host::sandbox::{Guarantee, Level, NamedProfile, Network, Profile, Sandbox, SandboxRequest};
use toolroom_host::{environment, interrupt::Interrupts, text_file};

use super::console::exit::{Exit, Missing, Refused, Usage};
use super::console::output::{GREEN, Output, YELLOW, visible};
use crate::config::{CompiledConfig, Sources, Trust};

/// Limit of standard input.
const MAX_INPUT_BYTES: u64 = 256 * 1024 * 1024;

/// Limit of each output stream in `--json`.
const KEPT_BYTES: usize = 1024 * 1024;

const EXAMPLES: &str = "\
Examples:
  toolroom sandbox
  toolroom sandbox -- make test
  toolroom sandbox --profile read-only -- grep -rn needle .
  toolroom sandbox --profile network:example.org -- curl https://example.org/

The program may write only to the current folder, or to the one given with --folder. It can read the system, has a private
/tmp and no network. PROFILE is workspace (default), read-only, network:HOST[:PORT],… or off.

The exit code is that of the program, or 128 plus the number of the signal that ended it.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SandboxArgs {
    /// Sandbox profile: what the program may access
    #[arg(long, default_value = "workspace", hide_default_value = true)]
    profile: String,
    /// Require this sandbox level, or fail: namespaces or landlock
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,
    /// Working folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Pass standard input to the program
    #[arg(long)]
    stdin: bool,
    /// Stop it after this many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn level(text: &str) -> Result<Level, String> {
    let levels = [Level::Namespaces, Level::Landlock];
    levels
        .into_iter()
        .find(|level| level.name() == text)
        .ok_or_else(|| "expected `namespaces` or `landlock`".to_owned())
}

pub(super) async fn run(settings: &[String], args: SandboxArgs, output: &Output) -> anyhow::Result<Exit> {
    let named: NamedProfile =
        args.profile.parse().map_err(|error| Usage(format!("{:#}", anyhow::Error::from(error))))?;
    let supervisor = Supervisor::new(environment::own_program());
    let demand = SandboxRequest { level: args.level, user: None };
    if named == NamedProfile::Off && args.level.is_some() {
        return Err(Usage(
            "`--profile off` uses no sandbox; leave out `--level`, or choose another profile".to_owned(),
        )
        .into());
    }
    let sandbox = match (&named, args.command.is_empty()) {
        (NamedProfile::Off, false) => None,
        _ => Some(Sandbox::find(&supervisor, demand).await.map_err(|error| Refused(error.to_string()))?),
    };
    let mut words = args.command.into_iter();
    let Some(program) = words.next() else {
        return match sandbox {
            Some(sandbox) => print_info(&sandbox, output),
            None => Ok(Exit::Usage),
        };
    };
    let folder = args
        .folder
        .map_or_else(text_file::current_folder, Ok)
        .context("the current folder no longer exists")?;
    let mut order = Order::new(program, &folder).with_arguments(words);
    order.kept_bytes = KEPT_BYTES;
    order.limits.wall = args.timeout.map(Duration::from_secs);
    if args.stdin {
        order.input = tokio::task::spawn_blocking(read_input).await??;
    }
    // Stays open until the program ends.
    let mut _proxy = None;
    if let Some(sandbox) = &sandbox {
        let mut profile = match &named {
            NamedProfile::ReadOnly => Profile::read_only(&folder),
            NamedProfile::Workspace | NamedProfile::Network(_) | NamedProfile::Off => {
                Profile::workspace(&folder)
            }
        };
        if let NamedProfile::Network(hosts) = &named {
            let opened = Proxy::open(hosts).context("cannot open the network proxy")?;
            profile.network = Network::Proxy { socket: opened.socket().to_owned() };
            _proxy = Some(opened);
        }
        if let Ok(folders) = Folders::from_environment() {
            let layers = Sources::find(&folders).read()?.layers(Trust::Missing, settings);
            profile.programs_read = CompiledConfig::of(&layers)?.loaded.config.files.programs_read;
            profile.hidden.extend([folders.config, folders.data]);
        }
        let refused = |error| Refused(format!("{:#}", anyhow::Error::from(error)));
        order.confinement = Some(sandbox.confine(&profile).map_err(refused)?);
    }
    let is_json = output.is_json();
    let observer = move |stream: OutputStream, bytes: &[u8]| {
        if !is_json {
            forward(stream, bytes);
        }
    };
    match supervisor.start_observed(order, observer).await {
        Ok(running) => {
            let ended = wait(&running).await?;
            report(&ended, sandbox.as_ref(), &named, output)
        }
        Err(error @ ProcessError::NotFound { .. }) => Err(Missing(error.to_string()).into()),
        Err(error) => Err(Refused(format!("{:#}", anyhow::Error::from(error))).into()),
    }
}

fn read_input() -> anyhow::Result<Vec<u8>> {
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut input)?;
    if input.len() as u64 > MAX_INPUT_BYTES {
        return Err(Usage("standard input is larger than 256 MiB; use a file instead".to_owned()).into());
    }
    Ok(input)
}

/// Waits for the program. A signal to this process stops it.
async fn wait(running: &Running) -> anyhow::Result<ProgramEnd> {
    let stop = CancellationToken::new();
    let stop_request = stop.clone();
    let _interrupts = Interrupts::watch(move || stop_request.cancel())?;
    tokio::select! {
        ended = running.wait() => return Ok(ended?),
        () = stop.cancelled() => running.stop(),
    }
    Ok(running.wait().await?)
}

/// Forwards output as it arrives. A closed pipe does not stop the program.
fn forward(stream: OutputStream, bytes: &[u8]) {
    let written = match stream {
        OutputStream::Stdout => {
            io::stdout().lock().write_all(bytes).and_then(|()| io::stdout().lock().flush())
        }
        OutputStream::Stderr => io::stderr().lock().write_all(bytes),
    };
    drop(written);
}

#[derive(Serialize)]
struct SandboxInfo {
    level: Level,
    landlock_abi: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    shortfall: Option<String>,
    promises: Vec<Guarantee>,
    cgroup: Cgroup,
}

#[derive(Serialize)]
struct Cgroup {
    #[serde(flatten)]
    found: ControlGroup,
    meaning: String,
}

fn print_info(sandbox: &Sandbox, output: &Output) -> anyhow::Result<Exit> {
    let found = ControlGroup::current();
    let info = SandboxInfo {
        level: sandbox.level(),
        landlock_abi: sandbox.landlock_abi(),
        shortfall: sandbox.shortfall().map(str::to_owned),
        promises: sandbox.guarantees(),
        cgroup: Cgroup { found, meaning: found.meaning() },
    };
    if output.is_json() {
        output.document(&info)?;
        return Ok(Exit::Done);
    }
    output.data(&format!("level: {}", info.level.name()))?;
    if let Some(shortfall) = &info.shortfall {
        output.data(&format!("  stronger level unavailable: {}", visible(shortfall)))?;
    }
    for Guarantee { name, holds, meaning } in info.promises {
        let (style, word) = if holds { (GREEN, "yes") } else { (YELLOW, "no") };
        output.data(&format!("  {name:<15} {style}{word}{style:#}: {meaning}"))?;
    }
    output.data(&format!("  {:<15} {}: {}", "cgroup", found.name(), info.cgroup.meaning))?;
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct ProgramReport {
    level: Option<Level>,
    profile: String,
    exit_code: Option<i32>,
    signal: Option<i32>,
    ended_by: &'static str,
    stdout: String,
    stderr: String,
    wall_ms: u128,
}

fn report(
    ended: &ProgramEnd,
    sandbox: Option<&Sandbox>,
    named: &NamedProfile,
    output: &Output,
) -> anyhow::Result<Exit> {
    let ended_by = match ended.cause {
        Cause::Itself => "itself",
        Cause::Stopped => "interrupt",
        Cause::Limit(Limit::Wall) => "timeout",
        Cause::Limit(Limit::Cpu) => "processor time",
        Cause::Limit(Limit::Memory) => "memory",
        Cause::Limit(Limit::Processes) => "number of processes",
        Cause::Limit(Limit::Output) => "amount of output",
        Cause::Limit(Limit::FileBytes) => "size of a file",
        Cause::Limit(Limit::Disk) => "room on the disk",
        Cause::Limit(Limit::Folders) => "number of folders that can be checked",
        Cause::Trespass => "change of a protected file",
        Cause::Uncovered => "replacement of a file that is kept from programs",
    };
    let (exit_code, signal) = match ended.status {
        Status::Exited(code) => (Some(code), None),
        Status::Signalled(signal) => (None, Some(signal)),
    };
    if output.is_json() {
        output.document(&ProgramReport {
            level: sandbox.map(Sandbox::level),
            profile: named.to_string(),
            exit_code,
            signal,
            ended_by,
            stdout: ended.stdout.text(KEPT_BYTES),
            stderr: ended.stderr.text(KEPT_BYTES),
            wall_ms: ended.usage.wall.as_millis(),
        })?;
    } else if ended.cause == Cause::Trespass {
        output.error(
            "the program changed a protected file (git hooks or settings, shell start files) or closed a watched folder; \
             the change was undone",
        );
    } else if ended.cause == Cause::Uncovered {
        output.error(
            "a file hidden from the program (credentials, start files) was replaced while it ran; run it again",
        );
    } else if !matches!(ended.cause, Cause::Itself | Cause::Stopped) {
        output.error(&format!("the program reached a limit: {ended_by}"));
    }
    Ok(match ended.cause {
        Cause::Limit(Limit::Wall) => Exit::Timeout,
        Cause::Stopped => Exit::Interrupted,
        Cause::Trespass | Cause::Uncovered => Exit::Denied,
        Cause::Itself | Cause::Limit(_) => {
            let code = exit_code.unwrap_or_else(|| 128 + signal.unwrap_or_default());
            Exit::Program(u8::try_from(code).unwrap_or(u8::MAX))
        }
    })
}
