//! What it costs to start a program under the supervisor and in a sandbox, beside a bare start in the same run, and to
//! give a command to a shell that is there, beside a new one.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench looks at the clock and starts processes"
)]

#[expect(dead_code, reason = "each start is timed by itself, in turns with another")]
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

/// Milliseconds the supervisor may add to a start: what we never ship above, and what we want.
const ADDED: Bar = Bar::floor_and_aim(15.0, 5.0);

/// The same for a sandbox, the supervisor included.
const CONFINED: Bar = Bar::floor_and_aim(40.0, 15.0);

/// Milliseconds a command may take in a shell that is there.
const LASTING: Bar = Bar::floor_and_aim(10.0, 2.0);

/// What a command has to be done in, however slow the machine.
const LONG: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = environment::arguments().into_iter().skip(1);
    if arguments.next().is_some_and(|first| first == SUBCOMMAND) {
        // Ignores the exit code: the parent gets the result over the control socket.
        helper_main(arguments);
        return Ok(());
    }
    let measure = Measure::from_arguments();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if measure.wants("spawn", "true") {
        runtime.block_on(spawn())?;
    }
    if measure.wants("spawn", "shell") {
        runtime.block_on(shell())?;
    }
    Ok(())
}

async fn spawn() -> Result<(), Box<dyn Error>> {
    let supervisor = Supervisor::new(environment::own_program());
    let mut confinements = Vec::new();
    for level in [Level::Namespaces, Level::Landlock] {
        let demand = SandboxRequest { level: Some(level), user: None };
        confinements.push((level, Sandbox::find(&supervisor, demand).await?.confine(&Profile::bare())?));
    }
    let (mut bare, mut supervised) = (Vec::new(), Vec::new());
    let mut confined = vec![Vec::new(); confinements.len()];
    // In turns, so that all see the same machine.
    for _ in 0..STARTS {
        let began = Instant::now();
        tokio::process::Command::new("/bin/true").env_clear().output().await?;
        bare.push(since(began));
        let began = Instant::now();
        supervisor.run(Order::new("/bin/true", "/"), &CancellationToken::new()).await?;
        supervised.push(since(began));
        for ((_, confinement), times) in confinements.iter().zip(&mut confined) {
            let began = Instant::now();
            let mut order = Order::new("/bin/true", "/");
            order.confinement = Some(confinement.clone());
            supervisor.run(order, &CancellationToken::new()).await?;
            times.push(since(began));
        }
    }
    for (share, name) in [(0.5, "median"), (0.99, "p99")] {
        let (bare, supervised) = (quantile(&mut bare, share), quantile(&mut supervised, share));
        report("spawn", &format!("bare, {name}"), bare, "ms", Bar::NONE, STARTS);
        report("spawn", &format!("supervised, {name}"), supervised, "ms", Bar::NONE, STARTS);
        let bar = |bar: Bar| if share > 0.5 { Bar::NONE } else { bar };
        let added = supervised - bare;
        report("spawn", &format!("added by the supervisor, {name}"), added, "ms", bar(ADDED), STARTS);
        for ((level, _), times) in confinements.iter().zip(&mut confined) {
            let (added, level) = (quantile(times, share) - bare, level.name());
            report(
                "spawn",
                &format!("added by the sandbox ({level}), {name}"),
                added,
                "ms",
                bar(CONFINED),
                STARTS,
            );
        }
    }
    Ok(())
}

fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

async fn shell() -> Result<(), Box<dyn Error>> {
    let supervisor = Supervisor::new(environment::own_program());
    let interpreter = Interpreter::detect();
    let shells = Shells::new(supervisor.clone(), interpreter);
    let order = || Order::new("", "/");
    let (mut lasting, mut fresh) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let text = "x=1; echo hello".to_owned();
        let until = tokio::time::Instant::now() + LONG;
        let command = Command { text, folder: None, variables: Vec::new(), wall: LONG, until };
        let began = Instant::now();
        let outcome = shells.run("bench", order(), &command).await?;
        lasting.push(began.elapsed().as_secs_f64() * 1e3);
        assert_eq!((outcome.end, outcome.stdout.total_bytes()), (CommandEnd::Done(0), 6));
        let began = Instant::now();
        supervisor.run(interpreter.once(order(), &command.text), &CancellationToken::new()).await?;
        fresh.push(began.elapsed().as_secs_f64() * 1e3);
    }
    for (share, name) in [(0.5, "median"), (0.99, "p99")] {
        let bar = if share > 0.5 { Bar::NONE } else { LASTING };
        report("spawn", &format!("lasting shell, {name}"), quantile(&mut lasting, share), "ms", bar, STARTS);
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
