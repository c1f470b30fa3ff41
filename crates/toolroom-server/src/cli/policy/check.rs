//! `toolroom policy check`: errors and lints of rules.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use toolroom::scope::ProjectId;
use toolroom::testing::MemoryLedger;

use super::lint::{Lint, lints};
use super::rules::{file, in_order, loaded};
use crate::app;
use crate::cli::Register;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, Output, visible};
use crate::config::{ConfigError, LoadedConfig, Problem};

#[derive(Args)]
pub(super) struct CheckArgs {
    /// A toolroom.toml, a file with only rules, or - for stdin [default: the configuration in effect here]
    file: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

#[derive(Serialize)]
struct CheckReport {
    ok: bool,
    /// Number of rules, if the file could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<usize>,
    errors: Vec<CheckFinding>,
    warnings: Vec<CheckFinding>,
    /// Whether there are more errors than listed.
    more: bool,
}

#[derive(Serialize)]
struct CheckFinding {
    /// Name of the lint; `None` for errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    lint: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    key: String,
    message: String,
    #[serde(skip)]
    text: String,
}

impl CheckFinding {
    fn new(lint: Option<&'static str>, problem: Problem) -> Self {
        let text = problem.to_string();
        let Problem { origin, line, key, message } = problem;
        Self { lint, file: file(&origin).cloned(), line, key, message, text }
    }
}

pub(super) async fn run(
    settings: &[String],
    args: &CheckArgs,
    output: Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let loaded = match loaded(args.file.as_deref(), settings, output).await? {
        Ok(loaded) => loaded,
        Err(error) => return print_errors(error, output),
    };
    let (wrong, more) = unusable(&loaded);
    // Lints need only the registered tools: checking a file must not open or change the database.
    let catalog = app::catalog(Arc::new(MemoryLedger::new()), Vec::new(), |catalog| register(catalog))?;
    let odd = lints(&in_order(&loaded), &catalog.list(&ProjectId::default()));
    let mut errors: Vec<CheckFinding> =
        wrong.into_iter().map(|problem| CheckFinding::new(None, problem)).collect();
    let mut warnings: Vec<CheckFinding> =
        odd.into_iter().map(|Lint { name, problem }| CheckFinding::new(Some(name), problem)).collect();
    if args.strict {
        errors.append(&mut warnings);
    }
    let rules = Some(loaded.config.rules.len());
    print_report(&CheckReport { ok: errors.is_empty(), rules, errors, warnings, more }, output)
}

/// Prints the errors of a configuration that cannot be parsed.
pub(super) fn print_errors(error: ConfigError, output: Output) -> anyhow::Result<Exit> {
    let errors = error.problems.into_iter().map(|problem| CheckFinding::new(None, problem)).collect();
    print_report(
        &CheckReport { ok: false, rules: None, errors, warnings: Vec::new(), more: error.cut },
        output,
    )
}

/// Errors for which the configuration would be refused at startup, and whether there are more.
fn unusable(loaded: &LoadedConfig) -> (Vec<Problem>, bool) {
    let refused: Vec<ConfigError> = loaded.policy().err().into_iter().chain(loaded.limits().err()).collect();
    let more = refused.iter().any(|error| error.cut);
    (refused.into_iter().flat_map(|error| error.problems).collect(), more)
}

fn print_report(document: &CheckReport, output: Output) -> anyhow::Result<Exit> {
    let exit = if document.ok { Exit::Done } else { Exit::Usage };
    if output.is_json() {
        output.document(document)?;
        return Ok(exit);
    }
    for (kind, list) in [("error", &document.errors), ("warning", &document.warnings)] {
        for finding in list {
            output.data(&format!("{BOLD}{kind}:{BOLD:#} {}", visible(&finding.text)))?;
        }
    }
    if document.more {
        output.data("there are more problems; fix these first")?;
    }
    let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let (errors, warnings) =
        (count(document.errors.len(), "error"), count(document.warnings.len(), "warning"));
    let found = match (document.errors.is_empty(), document.warnings.is_empty()) {
        (true, true) => "no problems".to_owned(),
        (false, true) => errors,
        (true, false) => warnings,
        (false, false) => format!("{errors}, {warnings}"),
    };
    let rules = document.rules.map(|rules| format!("{}: ", count(rules, "rule"))).unwrap_or_default();
    output.data(&format!("{rules}{found}"))?;
    Ok(exit)
}
