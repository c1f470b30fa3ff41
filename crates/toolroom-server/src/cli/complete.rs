//! Completion in the shell: tools, features, argument names and the values a schema allows.

use std::ffi::OsStr;
use std::sync::OnceLock;

use clap::{Args, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use serde_json::Value;
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::scope::ProjectId;
use toolroom_host::environment;

use super::exit::{Exit, Usage};
use super::output::Output;
use super::{Cli, runtime, words};
use crate::app::App;

/// The variable by which the scripts ask for candidates.
const VARIABLE: &str = "TOOLROOM_COMPLETE";

/// How the binary is called in the scripts.
const PROGRAM: &str = "toolroom";

type Register = fn(&Catalog) -> Result<(), RegisterError>;

/// The completers are made before the command line is known, so what they need is put down here.
static REGISTER: OnceLock<Register> = OnceLock::new();

#[derive(Args)]
pub(super) struct CompletionsArgs {
    /// Shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

/// Prints the script that makes a shell ask us.
pub(super) fn print_script(args: &CompletionsArgs, output: &Output) -> anyhow::Result<Exit> {
    let shells = Shells::builtins();
    let shell =
        shells.completer(&args.shell).ok_or_else(|| Usage(format!("unknown shell `{}`", args.shell)))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    let script = String::from_utf8_lossy(&script);
    if output.is_json() {
        output.document(&serde_json::json!({"shell": args.shell, "script": script}))?;
    } else {
        output.data(script.trim_end())?;
    }
    Ok(Exit::Done)
}

/// Answers a shell that asks for candidates. `false` for an ordinary start.
pub(super) fn answer(register: Register) -> bool {
    if environment::variable(VARIABLE).is_none() {
        return false;
    }
    let _first = REGISTER.set(register);
    let engine = CompleteEnv::with_factory(Cli::command).var(VARIABLE);
    // A shell in the middle of a line has no use for an error message.
    engine.try_complete(environment::arguments(), None).unwrap_or(true)
}

pub(super) fn tools() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        with_app(|app| {
            let describe = |entry: &toolroom::catalog::Entry| {
                let spec = entry.spec();
                // A colon ends a word in bash, so the bare name is what completes well.
                CompletionCandidate::new(spec.id.bare()).help(Some(spec.title.clone().into()))
            };
            app.room.catalog().list(&ProjectId::default()).iter().map(|entry| describe(entry)).collect()
        })
    })
}

pub(super) fn features() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        with_app(|app| {
            let features = app.room.catalog().features().into_iter();
            features.map(|f| CompletionCandidate::new(f.name).help(Some(f.description.into()))).collect()
        })
    })
}

pub(super) fn arguments() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let word = word.to_str().unwrap_or_default();
        let words = environment::arguments();
        let typed: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        with_app(|app| match called_tool(&typed) {
            Some(tool) => match app.room.catalog().find(&ProjectId::default(), tool) {
                Ok(entry) => candidates(&entry.spec().parameters, word),
                Err(_) => Vec::new(),
            },
            None => Vec::new(),
        })
    })
}

/// Candidates are worth nothing without the tools, and a broken toolroom must not break the prompt.
fn with_app(candidates: impl FnOnce(&App) -> Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let register = REGISTER.get().copied().unwrap_or(|_| Ok(()));
    runtime()
        .ok()
        .and_then(|runtime| runtime.block_on(App::open(register)).ok().map(|app| candidates(&app)))
        .unwrap_or_default()
}

/// The tool named behind `call`, in what was typed so far.
fn called_tool<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words.iter().skip_while(|word| **word != "call").skip(1);
    words.find(|word| !word.starts_with('-')).copied()
}

/// Names of arguments, and behind `name=` the values its schema lists.
fn candidates(schema: &Value, word: &str) -> Vec<CompletionCandidate> {
    if let Some((name, _)) = word.split_once('=') {
        let pairs = words::choices(schema, name).into_iter().map(|value| format!("{name}={value}"));
        return pairs.filter(|pair| pair.starts_with(word)).map(CompletionCandidate::new).collect();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flatten().filter(|(name, _)| name.starts_with(word));
    names
        .map(|(name, property)| {
            let help = property.get("description").and_then(Value::as_str);
            CompletionCandidate::new(format!("{name}=")).help(help.map(|help| help.to_owned().into()))
        })
        .collect()
}
