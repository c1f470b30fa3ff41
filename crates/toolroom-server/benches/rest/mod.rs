//! What a call over HTTP costs, against a server that does nothing but read and write JSON; and how long a server takes
//! to be ready, and what it holds while nobody asks.
//!
//! Both servers are processes of their own on the first processor, whoever asks is on the second; they take turns.

mod load;

use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use load::{Connection, get, post, storm};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::tool::{Effect, Risk, ToolSpec};

use crate::lived_in::{folder, grow_old};
use crate::measure::{Bar, Measure, median, quantile, report};
use crate::ticket::{Echo, many_tools};
use crate::{AS_CLI, Done, processor_time};

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

/// One trivial tool, among a thousand.
pub(crate) fn register(catalog: &Catalog) -> Result<(), RegisterError> {
    let spec = ToolSpec::new("app:say", "Say it again")?;
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 1000}},
        "required": ["text"],
        "additionalProperties": false
    });
    let spec = spec.parameters(schema).effect(Effect::Pure).capabilities(&[]).risk(Risk::Low);
    catalog.register(Echo(spec))?;
    catalog.register_all(None, many_tools()?)
}

/// The limit: hyper reads a request, serde_json its body, and what it says is said again.
pub(crate) fn serve_bare() -> Done {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(std::io::stdout(), "{}", json!({"url": format!("http://{}", listener.local_addr()?)}))?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(say_again)));
        }
    })
}

async fn say_again(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(Collected::to_bytes);
    let said: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let answer = json!({"outcome": "done", "result": said.get("arguments")});
    let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A server in a process of its own; it ends with this value.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start(mode: &str, home: &Path) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new("taskset")
            .args(["-c", "0"])
            .arg(std::env::current_exe()?)
            .args(["serve", "--listen", "127.0.0.1:0", "--json"])
            .args(["--set", "server.key_rate=100000000", "--set", "server.ip_rate=100000000"])
            .env(AS_CLI, mode)
            .env("TOOLROOM_HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("it says nothing")?).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line)?;
        let address = told.get("url").and_then(Value::as_str).and_then(|url| url.strip_prefix("http://"));
        Ok(Self { address: address.ok_or("it does not say where it listens")?.parse()?, child })
    }

    /// Of all its threads so far, in microseconds.
    fn processor_time(&self) -> Result<f64, Box<dyn Error>> {
        processor_time(&format!("/proc/{}/stat", self.child.id()))
    }

    /// In MB.
    fn memory(&self) -> Result<f64, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let held = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse::<f64>().ok());
        Ok(held.ok_or("the system does not say how much memory is used")? / 1024.0)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Where there is only one processor, all share it.
fn pin(process: u32, processor: usize) {
    let pinned = Command::new("taskset")
        .args(["-c", "-p", &processor.to_string(), &process.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    drop(pinned);
}

fn key(home: &Path) -> Result<String, Box<dyn Error>> {
    let made = Command::new(env!("CARGO_BIN_EXE_toolroom"))
        .args(["keys", "create", "--name", "bench", "--scope", "call", "--json"])
        .env("TOOLROOM_HOME", home)
        .output()?;
    let made: Value = serde_json::from_slice(&made.stdout)?;
    Ok(made.get("key").and_then(Value::as_str).ok_or_else(|| format!("no key was made: {made}"))?.to_owned())
}

/// From starting the process until it says that it is ready.
fn ready(home: &Path) -> Done {
    let runtime = asking()?;
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let start = Instant::now();
        let served = Served::start("serve", home)?;
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

/// One thread: it has one processor.
fn asking() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

fn calls(home: &Path, key: &str) -> Done {
    let runtime = asking()?;
    let body = json!({"tool": "app:say", "arguments": {"text": "the quick brown fox"}}).to_string();
    let bare = Served::start("bare", home)?;
    let ours = Served::start("serve", home)?;
    for (connections, n) in [(1, CALLS_OF_ONE), (32, CALLS)] {
        let mut seen = [Seen::default(), Seen::default()];
        for round in 0..=ROUNDS {
            for (server, seen) in [&bare, &ours].into_iter().zip(&mut seen) {
                let request = post(server.address, "/v1/calls", key, &body);
                let before = server.processor_time()?;
                let start = Instant::now();
                let latencies = storm(&runtime, server.address, &request, connections, n)?;
                let spent = start.elapsed().as_secs_f64();
                // The first one fills caches.
                if round > 0 {
                    seen.rates.push(n as f64 / spent);
                    seen.latencies.extend(latencies);
                    seen.processor += server.processor_time()? - before;
                }
            }
        }
        let each = |seen: &Seen| seen.processor / (n * ROUNDS) as f64;
        let times_the_limit = each(&seen[1]) / each(&seen[0]);
        for (name, seen) in ["limit", "call"].into_iter().zip(&mut seen) {
            let case = format!("{name}_by_{connections}");
            let all = n * ROUNDS;
            report("rest", &case, median(&mut seen.rates), "/s", Bar::NONE, all);
            report("rest", &format!("{case}_p50"), quantile(&mut seen.latencies, 0.5), "us", Bar::NONE, all);
            report("rest", &format!("{case}_p99"), quantile(&mut seen.latencies, 0.99), "us", Bar::NONE, all);
            let processor = seen.processor / all as f64;
            report("rest", &format!("{case}_processor_time"), processor, "us", Bar::NONE, all);
        }
        let bar = Bar::floor_and_aim(5.0, 2.2);
        let case = format!("processor_time_by_{connections}_against_the_limit");
        report("rest", &case, times_the_limit, "times", bar, n * ROUNDS);
    }
    report("rest", "memory_after_calls", ours.memory()?, "MB", Bar::NONE, 1);
    Ok(())
}

/// What came of the rounds with one server.
#[derive(Default)]
struct Seen {
    rates: Vec<f64>,
    latencies: Vec<f64>,
    processor: f64,
}
