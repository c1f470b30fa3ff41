//! Runs a program under the supervisor and prints how it ended: `supervised FOLDER PROGRAM [ARGUMENT…]`.
//!
//! With `CONFINED` set to `namespaces` or `landlock`, the program runs in a sandbox of that level and may write to the folder.
//! `OWN` names a folder to hide from it, `PROGRAMS_READ` a credential to show. The example is its own supervisor helper, as
//! every program that embeds the supervisor can be.

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolroom_host::environment;
use toolroom_host::process::{Order, ProgramEnd, SUBCOMMAND, Supervisor, helper_main};
use toolroom_host::sandbox::{Level, Profile, Sandbox, SandboxRequest};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = environment::arguments().into_iter().skip(1);
    let first = arguments.next().ok_or("usage: supervised FOLDER PROGRAM [ARGUMENT…]")?;
    if first == SUBCOMMAND {
        return Ok(helper_main(arguments));
    }
    let ended = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run(first, arguments))?;
    let mut out = std::io::stdout();
    write!(out, "{}", ended.stdout.text(30_000))?;
    write!(std::io::stderr(), "{}", ended.stderr.text(30_000))?;
    writeln!(out, "{:?}, {:?} after {:?}", ended.status, ended.cause, ended.usage.wall)?;
    Ok(ExitCode::SUCCESS)
}

async fn run(
    folder: OsString,
    mut command: impl Iterator<Item = OsString>,
) -> Result<ProgramEnd, Box<dyn Error>> {
    let supervisor = Supervisor::new(environment::own_program());
    let mut order =
        Order::new(command.next().ok_or("usage: supervised FOLDER PROGRAM [ARGUMENT…]")?, &folder)
            .with_arguments(command);
    order.limits.wall = Some(Duration::from_secs(60));
    let level = match environment::variable("CONFINED").as_deref() {
        Some("namespaces") => Some(Level::Namespaces),
        Some("landlock") => Some(Level::Landlock),
        _ => None,
    };
    if level.is_some() {
        let sandbox = Sandbox::find(&supervisor, SandboxRequest { level, user: None }).await?;
        let mut profile = Profile::workspace(folder);
        profile.hidden.extend(environment::path_variable("OWN"));
        profile.programs_read.extend(environment::variable("PROGRAMS_READ"));
        order.confinement = Some(sandbox.confine(&profile)?);
    }
    // Tests find all descendants by this variable.
    if let Some(mark) = environment::variable("MARK") {
        order.variables = order.variables.with("MARK", mark)?;
    }
    Ok(supervisor.run(order, &CancellationToken::new()).await?)
}
