//! `toolroom policy test`: tests the examples of every rule, including rules that fail to load because of them.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use toolroom::policy::{Example, Rule, RuleText, TriedExample};

use super::check::print_errors;
use super::rules::{in_order, loaded};
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, one_line, table, visible};
use crate::config::ConfigRule;

#[derive(Args)]
pub(super) struct TestArgs {
    /// A file with rules, or - for stdin [default: the rules in effect here]
    file: Option<PathBuf>,
}

/// Valid ids are not longer.
const ID_CHARS: usize = 100;

/// Column width of an error; `policy check` shows all of it.
const ERROR_CHARS: usize = 120;

#[derive(Serialize)]
struct RuleTest<'a> {
    rule: &'a str,
    from: String,
    /// Why no example could be tested, apart from the examples themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    examples: Vec<ExampleResult<'a>>,
}

#[derive(Serialize)]
struct ExampleResult<'a> {
    list: &'static str,
    number: usize,
    example: Option<&'a Example>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleResult {
    Ok,
    Failed,
    Untested,
}

pub(super) async fn run(settings: &[String], args: &TestArgs, output: Output) -> anyhow::Result<Exit> {
    let loaded = match loaded(args.file.as_deref(), settings, output).await? {
        Ok(loaded) => loaded,
        Err(error) => return print_errors(error, output),
    };
    let tests: Vec<RuleTest<'_>> = in_order(&loaded).into_iter().map(RuleTest::new).collect();
    let count = |result: RuleResult| tests.iter().filter(|test| test.result() == result).count();
    let (ok, failed, untested) =
        (count(RuleResult::Ok), count(RuleResult::Failed), count(RuleResult::Untested));
    if output.is_json() {
        let document = serde_json::json!({
            "ok": failed == 0,
            "passed": ok, "failed": failed, "untested": untested,
            "rules": tests,
        });
        output.document(&document)?;
    } else if tests.is_empty() {
        output.talk("No rules");
    } else {
        print_tests(&tests, output)?;
        output.data(&format!("{ok} ok, {failed} failed, {untested} untested"))?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// Prints a line per rule, with its failed examples below.
fn print_tests(tests: &[RuleTest<'_>], output: Output) -> std::io::Result<()> {
    let lines = table(&tests.iter().map(RuleTest::cells).collect::<Vec<_>>());
    for (test, line) in tests.iter().zip(lines.lines()) {
        output.data(line)?;
        for tried in &test.examples {
            if let Some(problem) = &tried.problem {
                let example = tried.example.and_then(|example| serde_json::to_string(example).ok());
                let (number, example) = (tried.number, visible(&example.unwrap_or_default()));
                output.data(&format!("  {} {number} {example}: {}", tried.list, visible(problem)))?;
            }
        }
    }
    Ok(())
}

impl<'a> RuleTest<'a> {
    fn new(rule: &'a ConfigRule) -> Self {
        let tried = Rule::try_examples(rule.text.clone());
        let error = tried.as_ref().err().map(|error| format!("{:#}", anyhow::Error::new(error.clone())));
        let examples =
            tried.unwrap_or_default().into_iter().map(|tried| ExampleResult::new(&rule.text, tried));
        Self { rule: &rule.text.id, from: rule.origin.place(rule.line), error, examples: examples.collect() }
    }

    fn result(&self) -> RuleResult {
        let failed = self.error.is_some() || self.examples.iter().any(|example| example.problem.is_some());
        match (failed, self.examples.is_empty()) {
            (true, _) => RuleResult::Failed,
            (false, true) => RuleResult::Untested,
            (false, false) => RuleResult::Ok,
        }
    }

    fn cells(&self) -> Vec<String> {
        let count = self.examples.len();
        let (result, what) = match self.result() {
            RuleResult::Ok if count == 1 => ("ok", "1 example".to_owned()),
            RuleResult::Ok => ("ok", format!("{count} examples")),
            RuleResult::Untested => ("untested", "no examples".to_owned()),
            RuleResult::Failed => {
                let failed = self.examples.iter().filter(|example| example.problem.is_some()).count();
                let of_examples = || format!("{failed} of {count} examples");
                ("failed", self.error.as_ref().map_or_else(of_examples, |error| one_line(error, ERROR_CHARS)))
            }
        };
        vec![
            format!("{BOLD}{result}{BOLD:#}"),
            one_line(self.rule, ID_CHARS),
            what,
            format!("{DIM}{}{DIM:#}", visible(&self.from)),
        ]
    }
}

impl<'a> ExampleResult<'a> {
    fn new(text: &'a RuleText, TriedExample { list, number, result }: TriedExample) -> Self {
        let examples = if list == "match" { &text.matches } else { &text.not_matches };
        let problem = result.err().map(|error| format!("{:#}", anyhow::Error::new(error)));
        Self { list, number, example: examples.get(number.saturating_sub(1)), problem }
    }
}
