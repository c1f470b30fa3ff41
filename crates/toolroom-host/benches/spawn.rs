//! What it costs to start a program under the supervisor, beside a bare start in the same run.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench looks at the clock and starts processes"
)]

#[expect(dead_code, reason = "each start is timed by itself, in turns with another")]
#[path = "../../toolroom/benches/measure/mod.rs"]
mod measure;

use std::error::Error;
use std::time::Instant;

use measure::{Bar, Measure, quantile, report};
use tokio_util::sync::CancellationToken;
use toolroom_host::environment;
use toolroom_host::process::{Order, SUBCOMMAND, Supervisor, helper_main};

/// Starts per figure.
const STARTS: usize = 400;

/// Milliseconds the supervisor may add to a start: what we never ship above, and what we want.
const ADDED: Bar = Bar::floor_and_aim(15.0, 5.0);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = environment::arguments().into_iter().skip(1);
    if arguments.next().is_some_and(|first| first == SUBCOMMAND) {
        // The code is the helper's own business: whoever started it hears the rest over the lifeline.
        helper_main(arguments);
        return Ok(());
    }
    let measure = Measure::from_arguments();
    if measure.wants("spawn", "true") {
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(spawn())?;
    }
    Ok(())
}

async fn spawn() -> Result<(), Box<dyn Error>> {
    let supervisor = Supervisor::new(environment::own_program());
    let (mut bare, mut supervised) = (Vec::new(), Vec::new());
    // In turns, so that both see the same machine.
    for _ in 0..STARTS {
        let began = Instant::now();
        tokio::process::Command::new("/bin/true").env_clear().output().await?;
        bare.push(began.elapsed().as_secs_f64() * 1e3);
        let began = Instant::now();
        supervisor.run(Order::new("/bin/true", "/"), &CancellationToken::new()).await?;
        supervised.push(began.elapsed().as_secs_f64() * 1e3);
    }
    for (share, name) in [(0.5, "median"), (0.99, "p99")] {
        let (bare, supervised) = (quantile(&mut bare, share), quantile(&mut supervised, share));
        report("spawn", &format!("bare, {name}"), bare, "ms", Bar::NONE, STARTS);
        report("spawn", &format!("supervised, {name}"), supervised, "ms", Bar::NONE, STARTS);
        let bar = if share > 0.5 { Bar::NONE } else { ADDED };
        report("spawn", &format!("added by the supervisor, {name}"), supervised - bare, "ms", bar, STARTS);
    }
    Ok(())
}
