//! Speed of tool selection with synthetic tools, and its quality with MetaTool's requests.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock, its arguments and its data")]

#[expect(dead_code, reason = "messages are timed individually, for quantiles")]
mod measure;
mod metatool;

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use measure::{Bar, Measure, quantile, report};
use metatool::{MetaTool, Part, Quality};
use toolroom::selector::{Selector, ToolCard};

/// Environment variable with the folder of MetaTool's `tools.json` and `queries.csv`.
const METATOOL: &str = "TOOLROOM_METATOOL";

/// Words per tool and per message.
const TOOL_WORDS: usize = 60;
const MESSAGE_WORDS: usize = 8;

/// Size of the vocabulary.
const WORDS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let measure = Measure::from_arguments();
    speed(&measure);
    quality(&measure)
}

fn speed(measure: &Measure) {
    let bars = [
        (100, Bar::floor_and_aim(250.0, 5.0)),
        (1_000, Bar::floor_and_aim(250.0, 10.0)),
        (10_000, Bar::floor_and_aim(250.0, 30.0)),
    ];
    for (tools, bar) in bars {
        if !measure.selects("selector", &format!("tools_{tools}")) {
            continue;
        }
        let mut zipf = Zipf::new(WORDS);
        let cards: Vec<ToolCard> = (0..tools).map(|n| card(n, &mut zipf)).collect();
        let build = || {
            let cards = cards.clone();
            let start = Instant::now();
            let selector = Selector::new(cards);
            (start.elapsed().as_secs_f64() * 1e3, selector)
        };
        let mut times: Vec<f64> = (0..7).map(|_| build().0).collect();
        let aim = if tools == 10_000 { Bar::aim(100.0) } else { Bar::NONE };
        report("selector", &format!("tools_{tools}_build"), quantile(&mut times, 0.5), "ms", aim, 7);

        let (_, selector) = build();
        let vocabulary: Vec<&str> = cards.iter().flat_map(|card| card.description.split(' ')).collect();
        let mut word = || vocabulary.get(zipf.below(vocabulary.len())).copied().unwrap_or_default();
        let messages: Vec<String> =
            (0..2_000).map(|_| (0..MESSAGE_WORDS).map(|_| word()).collect::<Vec<_>>().join(" ")).collect();
        let rank = |message: &String| {
            let start = Instant::now();
            black_box(selector.rank(black_box(message), 5));
            start.elapsed().as_secs_f64() * 1e6
        };
        messages.iter().take(200).for_each(|message| {
            rank(message);
        });
        let mut times: Vec<f64> = messages.iter().map(rank).collect();
        report("selector", &format!("tools_{tools}_p50"), quantile(&mut times, 0.5), "us", bar, times.len());
        let p99 = quantile(&mut times, 0.99);
        report("selector", &format!("tools_{tools}_p99"), p99, "us", Bar::NONE, times.len());
        let misspelled: Vec<String> =
            messages.iter().map(|message| message.replacen(' ', "xq ", 2)).collect();
        let mut times: Vec<f64> = misspelled.iter().map(rank).collect();
        let p50 = quantile(&mut times, 0.5);
        report(
            "selector",
            &format!("tools_{tools}_two_unknown_words_p50"),
            p50,
            "us",
            Bar::NONE,
            times.len(),
        );
    }
}

fn card(n: usize, zipf: &mut Zipf) -> ToolCard {
    let name = zipf.text(2).replace(' ', "_");
    ToolCard {
        id: format!("app:{name}_{n}"),
        name,
        description: zipf.text(TOOL_WORDS - 2),
        ..ToolCard::default()
    }
}

fn quality(measure: &Measure) -> Result<(), Box<dyn Error>> {
    if !measure.selects("selector", "metatool") {
        return Ok(());
    }
    let Some(folder) = std::env::var_os(METATOOL) else {
        use std::io::Write;
        let why = format!("{METATOOL} is not set");
        let line = serde_json::json!({"bench": "selector", "case": "metatool", "not_measured": why});
        drop(writeln!(std::io::stdout(), "{line}"));
        return Ok(());
    };
    let data = MetaTool::read(Path::new(&folder))?;
    for (name, part) in [("", Part::All), ("_held_out", Part::HeldOut)] {
        report_quality(&format!("cold{name}"), data.evaluate_cold(part), (41.0, 45.0), (60.0, 65.0));
        report_quality(
            &format!("learned{name}"),
            data.evaluate_with_examples(part),
            (66.0, 70.0),
            (87.0, 90.0),
        );
    }
    abstention(data.evaluate_cold(Part::All), data.evaluate_small_talk(), data.evaluate_without_the_tool());
    Ok(())
}

/// Share of requests without a suggestion: with a fitting tool, in small talk, and with the right tool removed.
fn abstention(fitting: Quality, talk: Quality, missing: Quality) {
    let figure = |name: &str, value: f64, n: usize| {
        report("selector", &format!("metatool_abstention_{name}"), value, "%", Bar::NONE, n);
    };
    figure("where_a_tool_fits", fitting.percent(fitting.abstained), fitting.requests);
    figure("in_small_talk", talk.percent(talk.abstained), talk.requests);
    figure("where_the_tool_is_missing", missing.percent(missing.abstained), missing.requests);
    let right = (talk.abstained + missing.abstained) as f64;
    let precision = right / (right + fitting.abstained as f64).max(1.0);
    let recall = right / (talk.requests + missing.requests) as f64;
    figure("precision", 100.0 * precision, fitting.abstained + talk.abstained + missing.abstained);
    figure("recall", 100.0 * recall, talk.requests + missing.requests);
    figure(
        "f1",
        200.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE),
        talk.requests + missing.requests,
    );
}

fn report_quality(case: &str, quality: Quality, first: (f64, f64), five: (f64, f64)) {
    let figure = |name: &str, part: usize, (floor, aim): (f64, f64)| {
        let case = format!("metatool_{case}_{name}");
        report(
            "selector",
            &case,
            quality.percent(part),
            "%",
            Bar::floor_and_aim(floor, aim),
            quality.requests,
        );
    };
    figure("hit_at_1", quality.first, first);
    figure("recall_at_5", quality.among_five, five);
}

/// Generates made-up words with a Zipf distribution.
struct Zipf {
    words: Vec<String>,
    /// Cumulative weights.
    sums: Vec<f64>,
    state: u64,
}

impl Zipf {
    fn new(count: usize) -> Self {
        let mut sum = 0.0;
        let share = |n: usize| {
            sum += 1.0 / (n + 1) as f64;
            sum
        };
        Self { sums: (0..count).map(share).collect(), words: (0..count).map(word).collect(), state: 1 }
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.next()).collect::<Vec<_>>().join(" ")
    }

    fn next(&mut self) -> String {
        let share = self.random() * self.sums.last().copied().unwrap_or_default();
        let index = self.sums.partition_point(|sum| *sum < share);
        self.words.get(index).cloned().unwrap_or_default()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a slice")]
    fn below(&mut self, limit: usize) -> usize {
        (self.random() * limit as f64) as usize
    }

    /// A pseudo-random number from 0 to 1, with a fixed seed.
    fn random(&mut self) -> f64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A word whose syllables are the digits of `number`.
fn word(number: usize) -> String {
    const FIRST: &[char] = &['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 't', 'v'];
    const SECOND: &[char] = &['a', 'e', 'i', 'o', 'u'];
    let mut text = String::new();
    let mut rest = number + 60;
    while rest > 0 {
        text.extend(FIRST.get(rest % 12).into_iter().chain(SECOND.get(rest / 12 % 5)));
        rest /= 60;
    }
    text
}
