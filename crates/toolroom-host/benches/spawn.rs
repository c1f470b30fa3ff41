//! Cost of starting a program under the supervisor and in a sandbox, compared with a plain start; and of a command in a
//! persistent shell, compared with a new one.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock and starts processes"
)]

#[expect(dead_code, reason = "starts are timed individually")]
#[path = "../../toolroom/benches/measure/mod.rs"]
mod measure;

use std::error::Error;
use std::time::{Duration, Instant};

use measure::{Bar, Measure, quantile, report};
use tokio_util::sync::CancellationToken;
use toolroom_host::environment;
use toolroom_host::process::{Order, SUBCOMMAND, Supervisor, helper_main};
use toolroom_host::sandbox::{Level, Profile, Sandbox, SandboxRequest};
use toolroom_host::shell::{Command, CommandEnd, Interpreter, Shells};

/// Starts per figure.
const STARTS: usize = 400;

/// Milliseconds the supervisor may add to a start.
const SUPERVISOR: Bar = Bar::floor_and_aim(15.0, 5.0);

/// Milliseconds a sandbox may add to a start, including the supervisor.
const SANDBOX: Bar = Bar::floor_and_aim(40.0, 15.0);

/// Milliseconds a command may take in a persistent shell.
const PERSISTENT_SHELL: Bar = Bar::floor_and_aim(10.0, 2.0);

/// Generous, for slow machines.
const TIMEOUT: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = environment::arguments().into_iter().skip(1);
    if arguments.next().is_some_and(|first| first == SUBCOMMAND) {
        // Ignores the exit code: the parent gets the result over the control socket.
        helper_main(arguments);
        return Ok(());
    }
    let measure = Measure::from_arguments();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if measure.selects("spawn", "true") {
        runtime.block_on(spawn())?;
    }
    if measure.selects("spawn", "shell") {
        runtime.block_on(shell())?;
    }
    Ok(())
}

async fn spawn() -> Result<(), Box<dyn Error>> {
    let supervisor = Supervisor::new(environment::own_program());
    let mut confinements = Vec::new();
    for level in [Level::Namespaces, Level::Landlock] {
        let request = SandboxRequest { level: Some(level), user: None };
        confinements.push((level, Sandbox::find(&supervisor, request).await?.confine(&Profile::bare())?));
    }
    let (mut bare, mut supervised) = (Vec::new(), Vec::new());
    let mut confined = vec![Vec::new(); confinements.len()];
    // Interleaved, so that all run under the same load.
    for _ in 0..STARTS {
        let began = Instant::now();
        tokio::process::Command::new("/bin/true").env_clear().output().await?;
        bare.push(milliseconds_since(began));
        let began = Instant::now();
        supervisor.run(Order::new("/bin/true", "/"), &CancellationToken::new()).await?;
        supervised.push(milliseconds_since(began));
        for ((_, confinement), times) in confinements.iter().zip(&mut confined) {
            let began = Instant::now();
            let mut order = Order::new("/bin/true", "/");
            order.confinement = Some(confinement.clone());
            supervisor.run(order, &CancellationToken::new()).await?;
            times.push(milliseconds_since(began));
        }
    }
    for (share, name) in [(0.5, "median"), (0.99, "p99")] {
        let (bare, supervised) = (quantile(&mut bare, share), quantile(&mut supervised, share));
        report("spawn", &format!("bare, {name}"), bare, "ms", Bar::NONE, STARTS);
        report("spawn", &format!("supervised, {name}"), supervised, "ms", Bar::NONE, STARTS);
        let bar = |bar: Bar| if share > 0.5 { Bar::NONE } else { bar };
        let added = supervised - bare;
        report("spawn", &format!("added by the supervisor, {name}"), added, "ms", bar(SUPERVISOR), STARTS);
        for ((level, _), times) in confinements.iter().zip(&mut confined) {
            let (added, level) = (quantile(times, share) - bare, level.name());
            report(
                "spawn",
                &format!("added by the sandbox ({level}), {name}"),
                added,
                "ms",
                bar(SANDBOX),
                STARTS,
            );
        }
    }
    Ok(())
}

fn milliseconds_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

async fn shell() -> Result<(), Box<dyn Error>> {
    let supervisor = Supervisor::new(environment::own_program());
    let interpreter = Interpreter::detect();
    let shells = Shells::new(supervisor.clone(), interpreter);
    let order = || Order::new("", "/");
    let (mut persistent, mut fresh) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let text = "x=1; echo hello".to_owned();
        let until = tokio::time::Instant::now() + TIMEOUT;
        let command = Command { text, folder: None, variables: Vec::new(), wall: TIMEOUT, until };
        let began = Instant::now();
        let outcome = shells.run("bench", order(), &command).await?;
        persistent.push(milliseconds_since(began));
        assert_eq!((outcome.end, outcome.stdout.total_bytes()), (CommandEnd::Done(0), 6));
        let began = Instant::now();
        supervisor.run(interpreter.once(order(), &command.text), &CancellationToken::new()).await?;
        fresh.push(milliseconds_since(began));
    }
    for (share, name) in [(0.5, "median"), (0.99, "p99")] {
        let bar = if share > 0.5 { Bar::NONE } else { PERSISTENT_SHELL };
        report(
            "spawn",
            &format!("lasting shell, {name}"),
            quantile(&mut persistent, share),
            "ms",
            bar,
            STARTS,
        );
        report(
            "spawn",
            &format!("fresh shell, {name}"),
            quantile(&mut fresh, share),
            "ms",
            Bar::NONE,
            STARTS,
        );
    }
    Ok(())
}
