//! `toolroom policy test`: every example of every rule is tried, also of rules that do not load because of them.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use toolroom::policy::{Example, Rule, RuleText, TriedExample};

use super::check::tell_errors;
use super::rules::{in_order, loaded};
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, one_line, table, visible};
use crate::config::ConfigRule;

#[derive(Args)]
pub(super) struct TrialArgs {
    /// A file with rules, or - for stdin; without one, the rules that are configured here
    file: Option<PathBuf>,
}

/// No id that can be used is longer.
const ID_CHARS: usize = 100;

/// Room for an error beside the other columns; `policy check` tells all of it.
const ERROR_CHARS: usize = 120;

/// What `--json` prints of a rule.
#[derive(Serialize)]
struct Trial<'a> {
    rule: &'a str,
    from: String,
    /// What is wrong with it apart from its examples, so that none of them could be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    examples: Vec<Tried<'a>>,
}

#[derive(Serialize)]
struct Tried<'a> {
    list: &'static str,
    number: usize,
    example: Option<&'a Example>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// How a rule did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Ok,
    Failed,
    Untested,
}

pub(super) async fn run(settings: &[String], args: &TrialArgs, output: Output) -> anyhow::Result<Exit> {
    let loaded = match loaded(args.file.as_deref(), settings, output).await? {
        Ok(loaded) => loaded,
        Err(error) => return tell_errors(error, output),
    };
    let trials: Vec<Trial<'_>> = in_order(&loaded).into_iter().map(Trial::of).collect();
    let count = |mark: Mark| trials.iter().filter(|trial| trial.mark() == mark).count();
    let (ok, failed, untested) = (count(Mark::Ok), count(Mark::Failed), count(Mark::Untested));
    if output.is_json() {
        let document = serde_json::json!({
            "ok": failed == 0,
            "passed": ok, "failed": failed, "untested": untested,
            "rules": trials,
        });
        output.document(&document)?;
    } else if trials.is_empty() {
        output.talk("there are no rules");
    } else {
        tell(&trials, output)?;
        output.data(&format!("{ok} ok, {failed} failed, {untested} untested"))?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// A line for each rule, and below it one for each example that fails.
fn tell(trials: &[Trial<'_>], output: Output) -> std::io::Result<()> {
    let lines = table(&trials.iter().map(Trial::cells).collect::<Vec<_>>());
    for (trial, line) in trials.iter().zip(lines.lines()) {
        output.data(line)?;
        for tried in &trial.examples {
            if let Some(problem) = &tried.problem {
                let example = tried.example.and_then(|example| serde_json::to_string(example).ok());
                let (number, example) = (tried.number, visible(&example.unwrap_or_default()));
                output.data(&format!("  {} {number} {example}: {}", tried.list, visible(problem)))?;
            }
        }
    }
    Ok(())
}

impl<'a> Trial<'a> {
    fn of(rule: &'a ConfigRule) -> Self {
        let tried = Rule::try_examples(rule.text.clone());
        let error = tried.as_ref().err().map(|error| format!("{:#}", anyhow::Error::new(error.clone())));
        let examples = tried.unwrap_or_default().into_iter().map(|tried| Tried::of(&rule.text, tried));
        Self { rule: &rule.text.id, from: rule.origin.place(rule.line), error, examples: examples.collect() }
    }

    fn mark(&self) -> Mark {
        let failed = self.error.is_some() || self.examples.iter().any(|example| example.problem.is_some());
        match (failed, self.examples.is_empty()) {
            (true, _) => Mark::Failed,
            (false, true) => Mark::Untested,
            (false, false) => Mark::Ok,
        }
    }

    fn cells(&self) -> Vec<String> {
        let count = self.examples.len();
        let (mark, what) = match self.mark() {
            Mark::Ok if count == 1 => ("ok", "1 example".to_owned()),
            Mark::Ok => ("ok", format!("{count} examples")),
            Mark::Untested => ("untested", "no examples".to_owned()),
            Mark::Failed => {
                let failed = self.examples.iter().filter(|example| example.problem.is_some()).count();
                let of_examples = || format!("{failed} of {count} examples");
                ("failed", self.error.as_ref().map_or_else(of_examples, |error| one_line(error, ERROR_CHARS)))
            }
        };
        vec![
            format!("{BOLD}{mark}{BOLD:#}"),
            one_line(self.rule, ID_CHARS),
            what,
            format!("{DIM}{}{DIM:#}", visible(&self.from)),
        ]
    }
}

impl<'a> Tried<'a> {
    fn of(text: &'a RuleText, TriedExample { list, number, result }: TriedExample) -> Self {
        let examples = if list == "match" { &text.matches } else { &text.not_matches };
        let problem = result.err().map(|error| format!("{:#}", anyhow::Error::new(error)));
        Self { list, number, example: examples.get(number.saturating_sub(1)), problem }
    }
}
