//! `toolroom policy check`: whether rules can be used, and what is odd about them.

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
use crate::config::{ConfigError, Loaded, Problem};

#[derive(Args)]
pub(super) struct CheckArgs {
    /// A toolroom.toml, a file with nothing but rules, or - for stdin; without one, what is configured here
    file: Option<PathBuf>,
    /// Take warnings for errors
    #[arg(long)]
    strict: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    ok: bool,
    /// How many there are, if so much could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<usize>,
    errors: Vec<Told>,
    warnings: Vec<Told>,
    /// Whether there are more errors than are told.
    more: bool,
}

#[derive(Serialize)]
struct Told {
    /// The name of a lint; none for what cannot be used at all.
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

impl Told {
    fn of(lint: Option<&'static str>, problem: Problem) -> Self {
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
        Err(error) => return tell_errors(error, output),
    };
    let (wrong, more) = unusable(&loaded);
    // What a tool takes is known without the data: checking a file must not open or change the database.
    let catalog = app::catalog(Arc::new(MemoryLedger::new()), Vec::new(), |catalog| register(catalog))?;
    let odd = lints(&in_order(&loaded), &catalog.list(&ProjectId::default()));
    let mut errors: Vec<Told> = wrong.into_iter().map(|problem| Told::of(None, problem)).collect();
    let mut warnings: Vec<Told> =
        odd.into_iter().map(|Lint { name, problem }| Told::of(Some(name), problem)).collect();
    if args.strict {
        errors.append(&mut warnings);
    }
    let rules = Some(loaded.config.rules.len());
    tell(&Document { ok: errors.is_empty(), rules, errors, warnings, more }, output)
}

/// Tells what is wrong with a configuration that cannot even be read.
pub(super) fn tell_errors(error: ConfigError, output: Output) -> anyhow::Result<Exit> {
    let errors = error.problems.into_iter().map(|problem| Told::of(None, problem)).collect();
    tell(&Document { ok: false, rules: None, errors, warnings: Vec::new(), more: error.cut }, output)
}

/// Everything for which the configuration would be refused at the start, and whether there is more.
fn unusable(loaded: &Loaded) -> (Vec<Problem>, bool) {
    let refused: Vec<ConfigError> = loaded.policy().err().into_iter().chain(loaded.limits().err()).collect();
    let more = refused.iter().any(|error| error.cut);
    (refused.into_iter().flat_map(|error| error.problems).collect(), more)
}

fn tell(document: &Document, output: Output) -> anyhow::Result<Exit> {
    let exit = if document.ok { Exit::Done } else { Exit::Usage };
    if output.is_json() {
        output.document(document)?;
        return Ok(exit);
    }
    for (kind, list) in [("error", &document.errors), ("warning", &document.warnings)] {
        for told in list {
            output.data(&format!("{BOLD}{kind}:{BOLD:#} {}", visible(&told.text)))?;
        }
    }
    if document.more {
        output.data("and more, told when these are mended")?;
    }
    let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let (errors, warnings) =
        (count(document.errors.len(), "error"), count(document.warnings.len(), "warning"));
    let found = match (document.errors.is_empty(), document.warnings.is_empty()) {
        (true, true) => "in order".to_owned(),
        (false, true) => errors,
        (true, false) => warnings,
        (false, false) => format!("{errors}, {warnings}"),
    };
    let rules = document.rules.map(|rules| format!("{}: ", count(rules, "rule"))).unwrap_or_default();
    output.data(&format!("{rules}{found}"))?;
    Ok(exit)
}
