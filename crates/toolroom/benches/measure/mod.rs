//! A small benchmark harness: warms up, runs several rounds and prints the median as one JSON object per figure.
//!
//! Lower times and higher rates (`/s`) are better. `floor` is the worst value acceptable for a release, `aim` the goal;
//! figures that only explain another one have neither. Compare figures of one run only, because machines differ; the
//! bench `limit` is the baseline.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Rounds per figure; odd, so that there is a median round.
const ROUNDS: usize = 7;

/// Duration of a round: long enough to hide the cost of reading the clock.
const ROUND: Duration = Duration::from_millis(60);

/// Inputs prepared in advance, for one reading of the clock.
const BATCH: usize = 64;

/// Work that takes longer is timed without batches: its inputs may be large.
const LONG: Duration = Duration::from_micros(100);

/// Trial runs that decide whether the work is long.
const TRIALS: usize = 5;

/// The thresholds of a figure.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bar {
    floor: Option<f64>,
    aim: Option<f64>,
}

impl Bar {
    /// No thresholds.
    pub(crate) const NONE: Self = Self { floor: None, aim: None };

    pub(crate) const fn aim(aim: f64) -> Self {
        Self { floor: None, aim: Some(aim) }
    }

    pub(crate) const fn floor_and_aim(floor: f64, aim: f64) -> Self {
        Self { floor: Some(floor), aim: Some(aim) }
    }
}

/// Selects figures whose `bench/case` contains one of the arguments of `cargo bench -- `, or all without arguments.
pub(crate) struct Measure {
    filters: Vec<String>,
}

impl Measure {
    pub(crate) fn from_arguments() -> Self {
        Self { filters: std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect() }
    }

    pub(crate) fn selects(&self, bench: &str, case: &str) -> bool {
        let name = format!("{bench}/{case}");
        self.filters.is_empty() || self.filters.iter().any(|word| name.contains(word))
    }

    /// Reports the time of one `work` in microseconds.
    pub(crate) fn time<T>(&self, bench: &str, case: &str, bar: Bar, mut work: impl FnMut() -> T) {
        self.time_each(bench, case, bar, || (), |()| work());
    }

    /// Reports the time of one `work` in microseconds, without that of its `input`.
    pub(crate) fn time_each<I, T>(
        &self,
        bench: &str,
        case: &str,
        bar: Bar,
        mut input: impl FnMut() -> I,
        mut work: impl FnMut(I) -> T,
    ) {
        if !self.selects(bench, case) {
            return;
        }
        let mut inputs = Vec::with_capacity(BATCH);
        let mut batch = |size: usize| {
            inputs.extend(std::iter::repeat_with(&mut input).take(size));
            let start = Instant::now();
            for input in inputs.drain(..) {
                std::hint::black_box(work(std::hint::black_box(input)));
            }
            start.elapsed()
        };
        let is_long = (0..TRIALS).map(|_| batch(1)).min().is_some_and(|shortest| shortest > LONG);
        let size = if is_long { 1 } else { BATCH };
        let mut round = |until: Duration| {
            let (mut spent, mut done) = (Duration::ZERO, 0_u32);
            while spent < until {
                spent += batch(size);
                done += 1;
            }
            (spent.as_secs_f64() * 1e6 / (f64::from(done) * size as f64), done)
        };
        round(ROUND / 2);
        let rounds: Vec<(f64, u32)> = (0..ROUNDS).map(|_| round(ROUND)).collect();
        let n = rounds.iter().map(|(_, batches)| *batches as usize * size).sum();
        let mut times: Vec<f64> = rounds.iter().map(|(time, _)| *time).collect();
        report(bench, case, median(&mut times), "us", bar, n);
    }
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which `share` of the values lie; 0 if there are none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of the slice")]
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let index = (values.len().saturating_sub(1) as f64 * share).round() as usize;
    values.get(index).copied().unwrap_or_default()
}

/// Prints one figure.
pub(crate) fn report(bench: &str, case: &str, value: f64, unit: &str, bar: Bar, n: usize) {
    let mut figure = json!({"bench": bench, "case": case, "value": rounded(value), "unit": unit});
    if let Some(figure) = figure.as_object_mut() {
        let bars = [("floor", bar.floor), ("aim", bar.aim)];
        figure.extend(bars.into_iter().filter_map(|(name, bar)| Some((name.to_owned(), rounded(bar?)))));
        figure.insert("n".to_owned(), n.into());
    }
    // Ignores a closed pipe.
    drop(writeln!(std::io::stdout(), "{figure}"));
}

/// Three significant digits: more would be noise.
fn rounded(value: f64) -> Value {
    format!("{value:.2e}").parse().map_or(Value::Null, |value: f64| json!(value))
}
