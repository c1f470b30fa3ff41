//! Shell completion of tools, features, argument names and enumerated values.

use std::ffi::OsStr;
use std::sync::{Arc, OnceLock};

use clap::{Args, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use serde_json::Value;
use toolroom::catalog::Catalog;
use toolroom::scope::ProjectId;
use toolroom::testing::MemoryLedger;
use toolroom_host::environment;

use super::console::exit::{Exit, Usage};
use super::console::output::Output;
use super::{Cli, Register};
use crate::app;
use toolroom::schema::choices;

/// The variable through which scripts request candidates.
const VARIABLE: &str = "TOOLROOM_COMPLETE";

/// Name of the binary in the scripts.
const PROGRAM: &str = "toolroom";

/// Flags of these commands that take a value.
const FLAGS_WITH_VALUE: [&str; 7] =
    ["--timeout", "--context", "--color", "--set", "--provenance", "--caller-user", "--caller-entrance"];

/// Commands that take a tool and its arguments.
const TOOL_COMMANDS: [&str; 2] = ["call", "explain"];

/// Completers have no context of their own, so the embedder's tools are stored here.
static REGISTER: OnceLock<Register> = OnceLock::new();

#[derive(Args)]
pub(super) struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

pub(super) fn print_script(args: &CompletionsArgs, output: &Output) -> anyhow::Result<Exit> {
    let script = match args.shell.as_str() {
        // Bash splits words at `=` and `:`, which are part of arguments here.
        "bash" => include_str!("complete.bash").to_owned(),
        name => {
            let shells = Shells::builtins();
            let shell = shells.completer(name).ok_or_else(|| Usage(format!("unknown shell `{name}`")))?;
            let mut script = Vec::new();
            shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
            String::from_utf8_lossy(&script).into_owned()
        }
    };
    if output.is_json() {
        output.document(&serde_json::json!({"shell": args.shell, "script": script}))?;
    } else {
        output.data(script.trim_end())?;
    }
    Ok(Exit::Done)
}

/// Prints candidates if a shell requests them. `false` for an ordinary start.
pub(super) fn complete(register: &Register) -> bool {
    if environment::variable(VARIABLE).is_none() {
        return false;
    }
    let _already_set = REGISTER.set(Arc::clone(register));
    let engine = CompleteEnv::with_factory(Cli::command).var(VARIABLE);
    // An error message would garble the line being edited.
    engine.try_complete(environment::arguments(), None).unwrap_or(true)
}

/// Tool names; full ids once the word contains a colon.
pub(super) fn tools() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let word = word.to_str().unwrap_or_default().to_owned();
        with_catalog(|catalog| {
            let entries = catalog.list(&ProjectId::default());
            let names = entries.iter().map(|entry| {
                let spec = entry.spec();
                let name = if word.contains(':') { spec.id.as_str() } else { spec.id.bare() };
                (name.to_owned(), spec.title.clone())
            });
            names
                .filter(|(name, _)| name.starts_with(&word))
                .map(|(name, title)| candidate(name, &title))
                .collect()
        })
    })
}

pub(super) fn features() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        with_catalog(|catalog| {
            let features = catalog.features().into_iter();
            features.map(|feature| candidate(feature.name.to_owned(), feature.description)).collect()
        })
    })
}

pub(super) fn arguments() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let word = word.to_str().unwrap_or_default();
        let words = environment::arguments();
        let typed: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        let tool = called_tool(&typed).unwrap_or_default();
        with_catalog(|catalog| match catalog.find(&ProjectId::default(), tool) {
            Ok(entry) => candidates(&entry.spec().parameters, word),
            Err(_) => Vec::new(),
        })
    })
}

/// Builds a catalog without the database: completion must not open or change it.
fn with_catalog(candidates: impl FnOnce(&Catalog) -> Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let register = |catalog: &Catalog| REGISTER.get().map_or(Ok(()), |register| register(catalog));
    // Errors yield no candidates.
    app::catalog(Arc::new(MemoryLedger::new()), Vec::new(), register)
        .map(|catalog| candidates(&catalog))
        .unwrap_or_default()
}

/// The tool after `call` or `policy explain`.
fn called_tool<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words.iter().skip_while(|word| !TOOL_COMMANDS.contains(word)).skip(1);
    while let Some(word) = words.next() {
        if FLAGS_WITH_VALUE.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// Argument names, or the enumerated values after `name=`.
fn candidates(schema: &Value, word: &str) -> Vec<CompletionCandidate> {
    if let Some((name, _)) = word.split_once('=') {
        let pairs = choices(schema, name).into_iter().map(|value| format!("{name}={value}"));
        return pairs.filter(|pair| pair.starts_with(word)).map(CompletionCandidate::new).collect();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flatten().filter(|(name, _)| name.starts_with(word));
    names
        .map(|(name, property)| {
            let help = property.get("description").and_then(Value::as_str).unwrap_or_default();
            candidate(format!("{name}="), help)
        })
        .collect()
}

fn candidate(value: String, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.to_owned().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_the_first_word_that_is_no_flag_or_its_value() {
        let check = |words: &[&str], tool: Option<&str>| assert_eq!(called_tool(words), tool, "{words:?}");
        check(&["toolroom", "call", "calculator", "ex"], Some("calculator"));
        check(
            &["toolroom", "--json", "call", "--timeout", "5s", "--explain", "calculator", ""],
            Some("calculator"),
        );
        check(&["toolroom", "policy", "explain", "--provenance", "private", "repeat", ""], Some("repeat"));
        check(&["toolroom", "call", "explain", ""], Some("explain"));
        check(&["toolroom", "call"], None);
        check(&["toolroom", "log"], None);
    }
}
