//! What came of the rounds with one server.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::Served;
use super::load::storm;
use crate::Done;
use crate::measure::{Bar, median, quantile, report};

/// Longer than anything waits to be written.
const QUIET: Duration = Duration::from_millis(250);

/// How often that is looked for.
const LOOKS: usize = 100;

#[derive(Default)]
pub(crate) struct Seen {
    is_warm: bool,
    calls: usize,
    rates: Vec<f64>,
    latencies: Vec<f64>,
    processor: f64,
}

/// What was spent once nothing more is done: rows and lines of log may be written when everybody has been answered.
fn at_rest(processor_time: impl Fn() -> Result<f64, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut spent = processor_time()?;
    for _ in 0..LOOKS {
        thread::sleep(QUIET);
        let now = processor_time()?;
        if now <= spent {
            return Ok(now);
        }
        spent = now;
    }
    Err("the server does not come to rest".into())
}

impl Seen {
    /// Asks `n` times over HTTP.
    pub(crate) fn round(
        &mut self,
        runtime: &Runtime,
        server: &Served,
        requests: &[Vec<u8>],
        connections: usize,
        n: usize,
    ) -> Done {
        self.watch(
            || server.processor_time(),
            || Ok(storm(runtime, server.address, requests, connections, n)?),
        )
    }

    /// Watches one round; the first one fills caches, and does not count.
    pub(crate) fn watch(
        &mut self,
        processor_time: impl Fn() -> Result<f64, Box<dyn Error>>,
        round: impl FnOnce() -> Result<Vec<f64>, Box<dyn Error>>,
    ) -> Done {
        let before = processor_time()?;
        let start = Instant::now();
        let latencies = round()?;
        let spent = start.elapsed().as_secs_f64();
        let after = at_rest(processor_time)?;
        if std::mem::replace(&mut self.is_warm, true) {
            self.calls += latencies.len();
            self.rates.push(latencies.len() as f64 / spent);
            self.latencies.extend(latencies);
            self.processor += after - before;
        }
        Ok(())
    }

    /// Of one call, in microseconds.
    pub(crate) fn processor_time(&self) -> f64 {
        self.processor / self.calls as f64
    }

    /// Calls per second.
    pub(crate) fn rate(&mut self) -> f64 {
        median(&mut self.rates)
    }

    /// Prints all of it; the bar is that of the processor time.
    pub(crate) fn report(&mut self, bench: &str, case: &str, bar: Bar) {
        let all = self.calls;
        report(bench, case, self.rate(), "/s", Bar::NONE, all);
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let latency = quantile(&mut self.latencies, share);
            report(bench, &format!("{case}_{name}"), latency, "us", Bar::NONE, all);
        }
        report(bench, &format!("{case}_processor_time"), self.processor_time(), "us", bar, all);
    }
}
