//! `toolroom config`: shows and checks the configuration.
//!
//! Works with an invalid configuration and without a database. If trust cannot be looked up, a project file counts as
//! not trusted.

mod paths;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolroom::nearest::nearest_one;
use toolroom::scope::ProjectId;
use toolroom::testing::MemoryLedger;
use toolroom::tool::ToolSpec;
use toolroom_host::folders::Folders;
use toolroom_host::text_file;

use super::Register;
use super::console::exit::{Exit, Missing};
use super::console::input::no_file;
use super::console::output::{DIM, Output, visible};
use crate::app::catalog;
use crate::config::{
    CompiledConfig, Config, ConfigError, Layer, LoadedConfig, Origin, Problem, ProjectFile, Setting, Sources,
    Trust, file_layer, is_key, lint,
};
use crate::database::{DATABASE, open_store};

const EXAMPLES: &str = "\
Examples:
  toolroom config show --origin        values in effect and where each one comes from
  toolroom config show policy          one key or table
  toolroom config check                list problems with file and line
  toolroom config schema > schema.json for completion and checks in editors";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Show the paths of configuration and data
    Path,
    /// Show every key with its value in effect
    Show {
        /// Also show where each value comes from
        #[arg(long)]
        origin: bool,
        /// Only this key, or the keys below it
        key: Option<String>,
    },
    /// Check the configuration in effect here, or one file
    Check {
        /// Configuration file
        file: Option<PathBuf>,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

pub(super) async fn run(
    settings: &[String],
    args: ConfigArgs,
    output: &Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    match args.command {
        ConfigCommand::Path => paths::run(*output).await,
        ConfigCommand::Show { origin, key } => show(settings, origin, key.as_deref(), *output).await,
        ConfigCommand::Check { file } => check(settings, file.as_deref(), *output, register).await,
        ConfigCommand::Schema => {
            output.document(&Config::schema())?;
            Ok(Exit::Done)
        }
    }
}

/// Looks up whether a project file is trusted. Creates no database.
pub(super) async fn trust(file: &ProjectFile, folders: &Folders, output: Output) -> Trust {
    if !text_file::is_there(&folders.data.join(DATABASE)) {
        return Trust::Missing;
    }
    let looked_up = async {
        let store = open_store(folders).await?;
        let trust = file.trust(&store).await;
        // Read only: a failed shutdown loses nothing.
        drop(store.shutdown().await);
        anyhow::Ok(trust?)
    };
    looked_up.await.unwrap_or_else(|error| {
        let path = file.path.display();
        output
            .hint(&format!("`{path}` counts as not trusted, because the database cannot be read: {error:#}"));
        Trust::Missing
    })
}

/// All layers in effect here.
pub(super) async fn layers(settings: &[String], output: Output) -> anyhow::Result<Vec<Layer>> {
    let folders = Folders::from_environment()?;
    let files = Sources::find(&folders).read()?;
    let trust = match &files.project {
        Some(file) => trust(file, &folders, output).await,
        None => Trust::Missing,
    };
    Ok(files.layers(trust, settings))
}

async fn show(
    settings: &[String],
    with_origin: bool,
    key: Option<&str>,
    output: Output,
) -> anyhow::Result<Exit> {
    let CompiledConfig { loaded, .. } = CompiledConfig::of(&layers(settings, output).await?)?;
    let mut effective = loaded.effective();
    if let Some(key) = key {
        let all = std::mem::take(&mut effective);
        let known: Vec<String> = all.iter().map(|setting| setting.key.clone()).collect();
        let below = |setting: &Setting| {
            let rest = setting.key.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        effective = all.into_iter().filter(below).collect();
        if effective.is_empty() {
            return Err(unset(key, &known).into());
        }
    }
    print_warnings(&loaded, output);
    if output.is_json() {
        output.document(&json!({"settings": effective, "ignored": loaded.ignored}))?;
        return Ok(Exit::Done);
    }
    output.data(&as_toml(&effective, with_origin))?;
    Ok(Exit::Done)
}

fn unset(key: &str, known: &[String]) -> Missing {
    if is_key(key) {
        return Missing(format!("`{key}` is not set"));
    }
    let near = nearest_one(key, known.iter().map(String::as_str));
    let hint = near.map_or("see `toolroom config show`".to_owned(), |near| format!("did you mean `{near}`?"));
    Missing(format!("unknown configuration key `{key}`; {hint}"))
}

/// Settings as TOML. A second limit for the same key becomes a comment.
fn as_toml(settings: &[Setting], with_origin: bool) -> String {
    let mut lines = Vec::new();
    for (position, setting) in settings.iter().enumerate() {
        let before = settings.get(..position).unwrap_or_default();
        let is_repeated = before.iter().any(|other| other.key == setting.key);
        for (number, line) in setting.lines().into_iter().enumerate() {
            let mut line = visible(&line);
            if is_repeated {
                line = format!("{DIM}# and{DIM:#} {line}");
            }
            if with_origin && number == 0 {
                line.push_str(&format!("  {DIM}# {}{DIM:#}", visible(&setting.origin.to_string())));
            }
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Prints warnings, and the settings of an untrusted project file that are ignored.
fn print_warnings(loaded: &LoadedConfig, output: Output) {
    loaded.warnings.iter().for_each(|warning| output.warning(&warning.to_string()));
    loaded.ignored.iter().for_each(|ignored| output.warning(&ignored.to_string()));
    if !loaded.ignored.is_empty() {
        output.hint("run `toolroom trust` to allow the ignored settings of the project file");
    }
}

async fn check(
    settings: &[String],
    file: Option<&Path>,
    output: Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let layers = match file {
        None => layers(settings, output).await,
        Some(path) => match file_layer(path) {
            Ok(Some(layer)) => Ok(vec![layer]),
            Ok(None) => return Err(no_file(path).into()),
            Err(error) => Err(error.into()),
        },
    };
    let compiled = layers.and_then(|layers| Ok(CompiledConfig::of(&layers)?));
    match compiled {
        Ok(compiled) => {
            let warnings = lint(&compiled.loaded, &known_tools(register)?);
            print_valid(&compiled.loaded, &warnings, output)
        }
        Err(error) => print_invalid(&error.downcast::<ConfigError>()?, output),
    }
}

/// The registered tools, without opening the database.
fn known_tools(register: &Register) -> anyhow::Result<Vec<ToolSpec>> {
    let catalog = catalog(Arc::new(MemoryLedger::new()), Vec::new(), |catalog| register(catalog))?;
    Ok(catalog.list(&ProjectId::default()).iter().map(|entry| entry.spec().clone()).collect())
}

fn print_valid(loaded: &LoadedConfig, warnings: &[Problem], output: Output) -> anyhow::Result<Exit> {
    let effective = loaded.effective();
    let below = |table: &str| effective.iter().filter(|setting| setting.key.starts_with(table)).count();
    let set = effective.iter().filter(|setting| setting.origin != Origin::Default).count();
    let (limits, rules) = (below("tool."), below("rule."));
    let keys = set.saturating_sub(limits + rules);
    if output.is_json() {
        let warnings: Vec<&Problem> = loaded.warnings.iter().chain(warnings).collect();
        output.document(&json!({
            "ok": true, "keys": keys, "rules": rules, "limits": limits, "problems": [],
            "warnings": warnings, "ignored": loaded.ignored,
        }))?;
        return Ok(Exit::Done);
    }
    warnings.iter().for_each(|warning| output.warning(&warning.to_string()));
    print_warnings(loaded, output);
    let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let (keys, rules, limits) = (count(keys, "key"), count(rules, "rule"), count(limits, "limit"));
    output.data(&format!("ok: {keys}, {rules}, {limits}"))?;
    Ok(Exit::Done)
}

fn print_invalid(error: &ConfigError, output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        let none: [Value; 0] = [];
        output
            .document(&json!({"ok": false, "problems": error.problems, "warnings": none, "ignored": none}))?;
        return Ok(Exit::Usage);
    }
    error.problems.iter().for_each(|problem| output.error(&problem.to_string()));
    if error.cut {
        output.talk("there are more problems; fix these first");
    }
    Ok(Exit::Usage)
}
