//! `toolroom init`: writes a first configuration file.

use std::path::PathBuf;

use clap::Args;
use toolroom::nearest::nearest_one;
use toolroom::policy::Preset;
use toolroom_host::folders::Folders;
use toolroom_host::sandbox::confirm;
use toolroom_host::terminal::Terminal;
use toolroom_host::text_file::{self, TextFileError};

use super::console::exit::{Exit, Usage};
use super::console::input::{Reply, ask};
use super::console::output::{BOLD, Output, visible};
use crate::config::{FILE_NAME, Sources, project_starter, starter};

const EXAMPLES: &str = "\
Examples:
  toolroom init                       ask for the preset (without a terminal: balanced)
  toolroom init --preset careful      do not ask
  toolroom init --project             write toolroom.toml to the current folder";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InitArgs {
    /// Write a project file in the current folder instead of your user file
    #[arg(long)]
    project: bool,
    /// What runs without approval: open, balanced or careful
    #[arg(long, value_parser = Preset::ALL.map(Preset::as_str))]
    preset: Option<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &InitArgs, output: &Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    let path = target_path(args, &folders)?;
    if text_file::is_there(&path) {
        return Err(already_exists(&path).into());
    }
    let preset = args.preset.as_deref().and_then(Preset::from_name);
    let text = match args.project {
        true => project_starter(preset),
        false => starter(match preset {
            Some(preset) => preset,
            None if args.yes => Preset::default(),
            None => ask_preset(*output)?,
        }),
    };
    if !args.project {
        folders.config_file(FILE_NAME)?;
    }
    let hidden = Sources::find(&folders).project.filter(|_| args.project);
    match text_file::write_new_private(&path, &text) {
        Err(TextFileError::Exists { path }) => return Err(already_exists(&path).into()),
        written => written?,
    }
    if !args.project {
        confirm(&path)?;
    }
    let next = match args.project {
        true => ["toolroom config check", "toolroom trust"],
        false => ["toolroom config show --origin", "toolroom call calculator expression='2 + 2 * 3'"],
    };
    if output.is_json() {
        output.document(&serde_json::json!({"path": path.to_string_lossy(), "next": next}))?;
        return Ok(Exit::Done);
    }
    output.data(&format!("Created {}", visible(&path.display().to_string())))?;
    if let Some(hidden) = hidden {
        output.hint(&format!("in this folder it takes precedence over `{}`", hidden.display()));
    }
    output.talk(format_args!("Next: {BOLD}{}{BOLD:#}", next.join(&format!("{BOLD:#}\n      {BOLD}"))));
    Ok(Exit::Done)
}

fn target_path(args: &InitArgs, folders: &Folders) -> anyhow::Result<PathBuf> {
    let user = folders.config.join(FILE_NAME);
    if !args.project {
        return Ok(user);
    }
    let here = text_file::current_folder()?;
    if text_file::is_same(&here, &folders.config) {
        let text = "this folder holds your user configuration; leave out `--project`";
        return Err(Usage(text.to_owned()).into());
    }
    Ok(here.join(FILE_NAME))
}

fn already_exists(path: &std::path::Path) -> Usage {
    let text = "already exists; edit it, or move it away first";
    Usage(format!("`{}` {text}", path.display()))
}

/// Asks for the preset. Every other key has a default that fits most users.
fn ask_preset(output: Output) -> anyhow::Result<Preset> {
    if Terminal::open().is_none() {
        return Ok(Preset::default());
    }
    output.talk("What may tools do without asking you?");
    for preset in Preset::ALL {
        let mark = if preset == Preset::default() { " (default)" } else { "" };
        output.talk(format_args!("  {BOLD}{:<9}{BOLD:#} {}{mark}", preset.as_str(), summary(preset)));
    }
    loop {
        let line = match ask(format_args!("Preset [{}]:", Preset::default()), output)? {
            Reply::Line(line) if !line.is_empty() => line.to_ascii_lowercase(),
            Reply::Line(_) | Reply::NoTerminal => return Ok(Preset::default()),
        };
        match Preset::from_name(&line) {
            Some(preset) => return Ok(preset),
            None => {
                let near = nearest_one(&line, Preset::ALL.map(Preset::as_str));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                output.talk(format_args!("Unknown preset `{}`{hint}", visible(&line)));
            }
        }
    }
}

const fn summary(preset: Preset) -> &'static str {
    match preset {
        Preset::Open => "Everything except destructive actions",
        Preset::Balanced => "Reading, and low-risk writing and sending; no programs",
        Preset::Careful => "Reading only; every write, program and outward call asks",
    }
}
