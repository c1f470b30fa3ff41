//! Measurements of one server.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::ServerProcess;
use super::load::send_all;
use crate::Done;
use crate::measure::{Bar, median, quantile, report};

/// Longer than any delayed write.
const IDLE_INTERVAL: Duration = Duration::from_millis(250);

/// Attempts to see the server idle.
const IDLE_CHECKS: usize = 100;

#[derive(Default)]
pub(crate) struct Samples {
    is_warm: bool,
    calls: usize,
    rates: Vec<f64>,
    latencies: Vec<f64>,
    processor: f64,
}

/// The processor time once the server is idle: it may write rows and log lines after its last response.
fn processor_time_when_idle(
    processor_time: impl Fn() -> Result<f64, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut spent = processor_time()?;
    for _ in 0..IDLE_CHECKS {
        thread::sleep(IDLE_INTERVAL);
        let now = processor_time()?;
        if now <= spent {
            return Ok(now);
        }
        spent = now;
    }
    Err("the server does not become idle".into())
}

impl Samples {
    /// Measures a round of `n` requests over HTTP.
    pub(crate) fn round(
        &mut self,
        runtime: &Runtime,
        server: &ServerProcess,
        requests: &[Vec<u8>],
        connections: usize,
        n: usize,
    ) -> Done {
        self.measure(
            || server.processor_time(),
            || Ok(send_all(runtime, server.address, requests, connections, n)?),
        )
    }

    /// Measures one round. The first fills caches and is discarded.
    pub(crate) fn measure(
        &mut self,
        processor_time: impl Fn() -> Result<f64, Box<dyn Error>>,
        round: impl FnOnce() -> Result<Vec<f64>, Box<dyn Error>>,
    ) -> Done {
        let before = processor_time()?;
        let start = Instant::now();
        let latencies = round()?;
        let spent = start.elapsed().as_secs_f64();
        let after = processor_time_when_idle(processor_time)?;
        if std::mem::replace(&mut self.is_warm, true) {
            self.calls += latencies.len();
            self.rates.push(latencies.len() as f64 / spent);
            self.latencies.extend(latencies);
            self.processor += after - before;
        }
        Ok(())
    }

    /// Mean processor time of a call, in microseconds.
    pub(crate) fn processor_time(&self) -> f64 {
        self.processor / self.calls as f64
    }

    /// Calls per second.
    pub(crate) fn rate(&mut self) -> f64 {
        median(&mut self.rates)
    }

    /// Prints all figures. The thresholds apply to the processor time.
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
