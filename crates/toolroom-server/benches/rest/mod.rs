//! What a call over HTTP costs, against a server that does nothing but read and write JSON; and how long a server takes
//! to be ready, and what it holds while nobody asks.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::tool::{Effect, Risk, ToolSpec};

use crate::Done;
use crate::lived_in::{folder, grow_old};
use crate::measure::{Bar, Measure, median, report};
use crate::served::load::{Connection, get, post};
use crate::served::seen::Seen;
use crate::served::{Served, asking, key, pin};
use crate::ticket::Echo;

/// Rounds per figure; odd, so that there is a median round.
const ROUNDS: usize = 7;

/// Servers started per figure.
const STARTS: usize = 31;

/// Calls per round.
const CALLS: usize = 12_000;
const CALLS_OF_ONE: usize = 2_000;

pub(crate) fn figures() -> Done {
    let measure = Measure::from_arguments();
    if !measure.wants("rest", "") {
        return Ok(());
    }
    // Inherited by the servers until they are moved.
    pin(std::process::id(), 1);
    let home = folder()?;
    grow_old(home.path())?;
    let key = key(home.path())?;
    ready(home.path())?;
    calls(home.path(), &key)
}

/// One trivial tool.
pub(crate) fn register(catalog: &Catalog) -> Result<(), RegisterError> {
    let spec = ToolSpec::new("app:say", "Say it again")?;
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 1000}},
        "required": ["text"],
        "additionalProperties": false
    });
    let spec = spec.parameters(schema).effect(Effect::Pure).capabilities(&[]).risk(Risk::Low);
    catalog.register(Echo(spec))
}

/// What the limit answers: it says again what it was told.
pub(crate) fn say_again(said: &Value) -> Value {
    json!({"outcome": "done", "result": said.get("arguments")})
}

/// From starting the process until it says that it is ready.
fn ready(home: &Path) -> Done {
    let runtime = asking()?;
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let start = Instant::now();
        let served = Served::ours("serve", home)?;
        runtime.block_on(async {
            Connection::open(served.address).await?.ask(&get(served.address, "/readyz")).await
        })?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        memory.push(served.memory()?);
    }
    report("rest", "start_to_ready", median(&mut times), "ms", Bar::floor_and_aim(40.0, 15.0), STARTS);
    report("rest", "memory_idle", median(&mut memory), "MB", Bar::floor_and_aim(40.0, 24.0), STARTS);
    Ok(())
}

fn calls(home: &Path, key: &str) -> Done {
    let runtime = asking()?;
    let body = json!({"tool": "app:say", "arguments": {"text": "the quick brown fox"}}).to_string();
    let bare = Served::ours("bare", home)?;
    let ours = Served::ours("serve", home)?;
    for (connections, n) in [(1, CALLS_OF_ONE), (32, CALLS)] {
        let mut seen = [Seen::default(), Seen::default()];
        for _ in 0..=ROUNDS {
            for (server, seen) in [&bare, &ours].into_iter().zip(&mut seen) {
                let request = post(server.address, "/v1/calls", key, &[], &body);
                seen.round(&runtime, server, std::slice::from_ref(&request), connections, n)?;
            }
        }
        let times_the_limit = seen[1].processor_time() / seen[0].processor_time();
        for (name, seen) in ["limit", "call"].into_iter().zip(&mut seen) {
            seen.report("rest", &format!("{name}_by_{connections}"), Bar::NONE);
        }
        let bar = Bar::floor_and_aim(5.0, 2.2);
        let case = format!("processor_time_by_{connections}_against_the_limit");
        report("rest", &case, times_the_limit, "times", bar, n * ROUNDS);
    }
    report("rest", "memory_after_calls", ours.memory()?, "MB", Bar::NONE, 1);
    Ok(())
}
