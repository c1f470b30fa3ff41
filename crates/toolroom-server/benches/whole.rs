//! End-to-end cost of a call: with a real database, concurrent callers, a new process, a server.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock and `/proc`, and starts processes"
)]

mod fixture;
#[path = "../../toolroom/benches/instant_model/mod.rs"]
mod instant_model;
mod mcp;
#[path = "../../toolroom/benches/measure/mod.rs"]
mod measure;
mod rest;
mod run_steps;
mod server_process;
#[path = "../../toolroom/benches/ticket/mod.rs"]
mod ticket;

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use fixture::{call, fill_journal, folder, open, room};
use instant_model::InstantModel;
use measure::{Bar, Measure, median, quantile, report};
use run_steps::RunSteps;
use ticket::{echo, many_tools, ticket};
use tokio::runtime::{Builder, Runtime};
use toolroom::Toolroom;
use toolroom::agent::{Agent, AgentRecord, Candidate, SendRequest};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::clock::{Clock, SystemClock};
use toolroom::ledger::{CallId, CallRecord, CallStatus, CloseCall, Ledger, ParkedQuestion, Switchboard};
use toolroom::scope::{ProjectId, Scope};
use toolroom::tool::{Arguments, Effect};
use toolroom_store::Store;

/// Makes this program behave as the command line: `call` prints a result; `memory` also prints `/proc/self/status` on stderr;
/// `serve` registers two more tools; `baseline…` are minimal servers without Toolroom.
const AS_CLI: &str = "TOOLROOM_BENCH_AS_CLI";

/// Rounds per rate; odd, so that there is a median round.
const ROUNDS: usize = 5;

/// Processes started per figure.
const STARTS: usize = 31;

/// Concurrent callers.
const CALLERS: usize = 32;

/// Measured conversations, and those before them that fill caches.
const IDLE: usize = 5_000;
const WARM_UP: usize = 2_000;

/// The page size on supported platforms.
const PAGE_BYTES: u64 = 4_096;

const SELF: &str = "/proc/self/stat";

/// `/proc/PID/stat` counts in hundredths of a second on every Linux.
const TICK_US: f64 = 10_000.0;

type Done = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    let result = match std::env::var(AS_CLI).as_deref() {
        Ok("baseline") => server_process::baseline::over_http(rest::echo_result),
        Ok("baseline_mcp") => server_process::baseline::over_http(mcp::echo_result),
        Ok("baseline_stdio") => server_process::baseline::over_stdio(mcp::echo_result),
        Ok("serve") => return toolroom_server::run(register_served),
        Ok(mode) => return run_command(mode),
        Err(_) => journal()
            .and_then(|()| idle_conversations())
            .and_then(|()| start())
            .and_then(|()| rest::figures())
            .and_then(|()| mcp::figures()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

fn run_command(mode: &str) -> ExitCode {
    let code = toolroom_server::run(register_many);
    if mode == "memory" {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        drop(writeln!(std::io::stderr(), "{status}"));
    }
    code
}

fn register_served(catalog: &Catalog) -> Result<(), RegisterError> {
    rest::register(catalog)?;
    mcp::register(catalog)?;
    register_many(catalog)
}

fn register_many(catalog: &Catalog) -> Result<(), RegisterError> {
    catalog.register_all(None, many_tools()?)
}

/// Calls over a real database.
fn journal() -> Done {
    let measure = Measure::from_arguments();
    let folder = folder()?;
    switch_threads(&measure);
    sync_to_disk(&measure, folder.path())?;

    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let store = runtime.block_on(open(&folder.path().join("journal.db")))?;
    let room = room(&store)?;
    let pure = Work::Call(room.clone(), "note");
    let write = Work::Call(room, "write");
    let bar = Bar::floor_and_aim(10_000.0, 20_000.0);
    measure_work(&measure, &runtime, "journaled_pure", &pure, CALLERS, 16_000, bar)?;
    measure_work(&measure, &runtime, "journaled_pure", &pure, 1, 2_000, Bar::NONE)?;
    measure_work(&measure, &runtime, "journaled_write", &write, CALLERS, 3_200, Bar::NONE)?;
    measure_work(&measure, &runtime, "journaled_write", &write, 1, 300, Bar::NONE)?;
    // The two parts of a pure call that use the database.
    measure_work(&measure, &runtime, "close_alone", &Work::Close(store.clone()), CALLERS, 16_000, Bar::NONE)?;
    measure_work(&measure, &runtime, "close_alone", &Work::Close(store.clone()), 1, 2_000, Bar::NONE)?;
    measure_work(
        &measure,
        &runtime,
        "switches_alone",
        &Work::Switches(store.clone()),
        CALLERS,
        32_000,
        Bar::NONE,
    )?;
    measure_work(&measure, &runtime, "switches_alone", &Work::Switches(store.clone()), 1, 2_000, Bar::NONE)?;
    let steps = Work::Step(Box::new(RunSteps::new(store.clone())));
    measure_work(&measure, &runtime, "run_step", &steps, CALLERS, 8_000, Bar::NONE)?;
    measure_work(&measure, &runtime, "run_step", &steps, 1, 1_000, Bar::NONE)?;
    runtime.block_on(store.shutdown())?;
    Ok(())
}

/// Memory and disk space of an idle conversation.
fn idle_conversations() -> Done {
    let measure = Measure::from_arguments();
    if !measure.selects("memory", "idle_conversation") {
        return Ok(());
    }
    let folder = folder()?;
    let database = folder.path().join("idle.db");
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let store = open(&database).await?;
        let room = room(&store)?;
        room.catalog().register(echo("app:echo", Effect::Pure)?)?;
        let model = Candidate::new(Arc::new(InstantModel::new(0, 0)));
        let agent = Agent::new(room, Arc::new(store.clone()), AgentRecord::default(), [model])?;
        start_conversations(&agent, WARM_UP).await?;
        let before = resident_bytes()?;
        start_conversations(&agent, IDLE).await?;
        let grown = resident_bytes()?.saturating_sub(before);
        store.shutdown().await?;
        let each = |bytes: u64| bytes as f64 / IDLE as f64;
        report("memory", "idle_conversation", each(grown), "bytes", Bar::NONE, IDLE);
        let size = fs::metadata(&database)?.len();
        let each = size as f64 / (IDLE + WARM_UP) as f64;
        report("memory", "idle_conversation_in_the_database", each, "bytes", Bar::NONE, IDLE);
        Ok(())
    })
}

async fn start_conversations(agent: &Agent, conversations: usize) -> Done {
    for _ in 0..conversations {
        agent.send(SendRequest::new("how is the weather in Bergen today?")).await?;
    }
    Ok(())
}

fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let resident: u64 =
        pages.split_whitespace().nth(1).ok_or("`/proc/self/statm` has no resident size")?.parse()?;
    Ok(resident * PAGE_BYTES)
}

/// What one caller repeats.
#[expect(clippy::large_enum_variant, reason = "created once per measurement")]
enum Work {
    Call(Toolroom, &'static str),
    Close(Store),
    Switches(Store),
    Step(Box<RunSteps>),
}

impl Work {
    fn for_another_caller(&self) -> Self {
        match self {
            Self::Call(room, tool) => Self::Call(room.clone(), tool),
            Self::Close(store) => Self::Close(store.clone()),
            Self::Switches(store) => Self::Switches(store.clone()),
            Self::Step(steps) => Self::Step(Box::new(steps.for_another_caller())),
        }
    }

    async fn once(&self, arguments: &Arguments) -> Result<(), String> {
        match self {
            Self::Call(room, tool) => call(room, tool, arguments).await,
            Self::Close(store) => {
                let close = CloseCall {
                    record: record(arguments),
                    artifacts: Vec::new(),
                    enqueue: Vec::new(),
                    question: ParkedQuestion::None,
                };
                store.close(close).await.map_err(|error| error.to_string())
            }
            Self::Switches(store) => {
                let standing = store.standing(&ProjectId::default()).await;
                standing.map(drop).map_err(|error| error.to_string())
            }
            Self::Step(steps) => steps.step().await,
        }
    }
}

/// The row of a finished pure call.
fn record(arguments: &Arguments) -> CallRecord {
    let now = SystemClock.now();
    CallRecord {
        effect: Some(Effect::Pure),
        status: CallStatus::Done,
        arguments: Arc::new(arguments.clone().into()),
        result: Some(Arc::new(arguments.clone().into())),
        begun_at: Some(now),
        ended_at: Some(now),
        ..CallRecord::arrived(CallId::fresh(&SystemClock), Scope::default(), "app:note", now)
    }
}

/// Reports rate, latency and processor time of `n` works by concurrent callers.
fn measure_work(
    measure: &Measure,
    runtime: &Runtime,
    case: &str,
    work: &Work,
    callers: usize,
    n: usize,
    bar: Bar,
) -> Done {
    let case = format!("{case}_by_{callers}");
    if !measure.selects("journal", &case) {
        return Ok(());
    }
    runtime.block_on(round(work, callers, n / 4))?;
    let (mut rates, mut latencies) = (Vec::new(), Vec::new());
    let before = processor_time(SELF)?;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        latencies.extend(runtime.block_on(round(work, callers, n))?);
        rates.push(n as f64 / start.elapsed().as_secs_f64());
    }
    let all = n * ROUNDS;
    let processor = (processor_time(SELF)? - before) / all as f64;
    report("journal", &case, median(&mut rates), "/s", bar, all);
    report("journal", &format!("{case}_p50"), quantile(&mut latencies, 0.5), "us", Bar::NONE, all);
    report("journal", &format!("{case}_p99"), quantile(&mut latencies, 0.99), "us", Bar::NONE, all);
    report("journal", &format!("{case}_processor_time"), processor, "us", Bar::NONE, all);
    Ok(())
}

async fn round(work: &Work, callers: usize, n: usize) -> Result<Vec<f64>, String> {
    let arguments: Arguments = ticket().as_object().cloned().unwrap_or_default();
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (work, arguments) = (work.for_another_caller(), arguments.clone());
            tokio::spawn(async move {
                let mut latencies = Vec::with_capacity(n / callers);
                for _ in 0..n / callers {
                    let start = Instant::now();
                    work.once(&arguments).await?;
                    latencies.push(start.elapsed().as_secs_f64() * 1e6);
                }
                Ok::<_, String>(latencies)
            })
        })
        .collect();
    let mut latencies = Vec::with_capacity(n);
    for task in tasks {
        latencies.extend(task.await.map_err(|error| error.to_string())??);
    }
    Ok(latencies)
}

/// Processor time of all threads of a process, in microseconds.
fn processor_time(stat: &str) -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string(stat)?;
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(ticks * TICK_US)
}

/// The baseline for the database thread: a message to another thread and back.
fn switch_threads(measure: &Measure) {
    let (requests, request) = mpsc::channel::<()>();
    let (responses, response) = mpsc::channel::<()>();
    let other = thread::spawn(move || while request.recv().is_ok() && responses.send(()).is_ok() {});
    measure.time("limit", "to_another_thread_and_back", Bar::NONE, || {
        requests.send(()).is_ok() && response.recv().is_ok()
    });
    drop(requests);
    drop(other.join());
}

/// The baseline for a commit that survives power loss.
fn sync_to_disk(measure: &Measure, folder: &Path) -> Done {
    let mut file = File::create(folder.join("synced"))?;
    measure.time("limit", "write_and_sync_4_kb", Bar::NONE, || {
        file.write_all(&[1; 4096]).and_then(|()| file.sync_data())
    });
    Ok(())
}

/// From start to exit of a process, with a filled database.
fn start() -> Done {
    let measure = Measure::from_arguments();
    if !measure.selects("start", "") && !measure.selects("memory", "") {
        return Ok(());
    }
    let home = folder()?;
    fill_journal(home.path())?;
    let toolroom = Path::new(env!("CARGO_BIN_EXE_toolroom"));
    let this_program = std::env::current_exe()?;
    let call = ["call", "calculator", "expression=2 + 2 * 3"];
    let bar = Bar::floor_and_aim(40.0, 15.0);
    let mut cases: Vec<(&str, Bar, Command)> = vec![
        ("call_among_1000_tools", bar, command(&this_program, &call, home.path())),
        ("call", bar, command(toolroom, &call, home.path())),
        ("help", Bar::NONE, command(toolroom, &["--help"], home.path())),
        ("bin_true", Bar::NONE, Command::new("/bin/true")),
    ];
    // Interleaved, so that all run under the same load.
    let mut times = vec![Vec::with_capacity(STARTS); cases.len()];
    for _ in 0..STARTS {
        for ((case, _, command), times) in cases.iter_mut().zip(&mut times) {
            let start = Instant::now();
            if !command.stdout(Stdio::null()).status()?.success() {
                return Err(format!("{case} failed").into());
            }
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    for ((case, bar, _), mut times) in cases.into_iter().zip(times) {
        report("start", case, median(&mut times), "ms", bar, STARTS);
    }
    let output = command(&this_program, &call, home.path()).env(AS_CLI, "memory").output()?;
    let status = String::from_utf8(output.stderr)?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB")?.trim().parse().ok());
    let peak: f64 = peak.ok_or("`/proc/self/status` has no peak memory")?;
    report("memory", "call_among_1000_tools", peak / 1024.0, "MB", Bar::aim(24.0), 1);
    Ok(())
}

fn command(program: &Path, arguments: &[&str], home: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env("TOOLROOM_HOME", home).env(AS_CLI, "call").stdin(Stdio::null());
    command
}
