//! Cost of a call over HTTP, compared with a server that only reads and writes JSON; start-up time and idle memory.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::tool::{Effect, Risk, ToolSpec};

use crate::Done;
use crate::fixture::{fill_journal, folder};
use crate::measure::{Bar, Measure, median, report};
use crate::server_process::load::{Connection, get, post};
use crate::server_process::samples::Samples;
use crate::server_process::{ServerProcess, client_runtime, create_key, pin};
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
    if !measure.selects("rest", "") {
        return Ok(());
    }
    // Server processes inherit it until they are pinned themselves.
    pin(std::process::id(), 1);
    let home = folder()?;
    fill_journal(home.path())?;
    let key = create_key(home.path())?;
    ready(home.path())?;
    calls(home.path(), &key)
}

/// One trivial tool.
pub(crate) fn register(catalog: &Catalog) -> Result<(), RegisterError> {
    let spec = ToolSpec::new("app:say", "Return the text")?;
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 1000}},
        "required": ["text"],
        "additionalProperties": false
    });
    let spec = spec.parameters(schema).effect(Effect::Pure).capabilities(&[]).risk(Risk::Low);
    catalog.register(Echo(spec))
}

/// The baseline's response: returns the text.
pub(crate) fn echo_result(request: &Value) -> Value {
    json!({"outcome": "done", "result": request.get("arguments")})
}

/// From starting the process until `/readyz` succeeds.
fn ready(home: &Path) -> Done {
    let runtime = client_runtime()?;
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let start = Instant::now();
        let server = ServerProcess::toolroom("serve", home)?;
        runtime.block_on(async {
            Connection::open(server.address).await?.send(&get(server.address, "/readyz")).await
        })?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        memory.push(server.memory()?);
    }
    report("rest", "start_to_ready", median(&mut times), "ms", Bar::floor_and_aim(40.0, 15.0), STARTS);
    report("rest", "memory_idle", median(&mut memory), "MB", Bar::floor_and_aim(40.0, 24.0), STARTS);
    Ok(())
}

fn calls(home: &Path, key: &str) -> Done {
    let runtime = client_runtime()?;
    let body = json!({"tool": "app:say", "arguments": {"text": "the quick brown fox"}}).to_string();
    let baseline = ServerProcess::toolroom("baseline", home)?;
    let toolroom = ServerProcess::toolroom("serve", home)?;
    for (connections, n) in [(1, CALLS_OF_ONE), (32, CALLS)] {
        let mut samples = [Samples::default(), Samples::default()];
        for _ in 0..=ROUNDS {
            for (server, samples) in [&baseline, &toolroom].into_iter().zip(&mut samples) {
                let request = post(server.address, "/v1/calls", key, &[], &body);
                samples.round(&runtime, server, std::slice::from_ref(&request), connections, n)?;
            }
        }
        let ratio = samples[1].processor_time() / samples[0].processor_time();
        for (name, samples) in ["limit", "call"].into_iter().zip(&mut samples) {
            samples.report("rest", &format!("{name}_by_{connections}"), Bar::NONE);
        }
        let bar = Bar::floor_and_aim(5.0, 2.2);
        let case = format!("processor_time_by_{connections}_against_the_limit");
        report("rest", &case, ratio, "times", bar, n * ROUNDS);
    }
    report("rest", "memory_after_calls", toolroom.memory()?, "MB", Bar::NONE, 1);
    Ok(())
}
