//! `toolroom export`: what was set, as one document without secrets.

use std::path::{Path, PathBuf};

use clap::Args;
use toolroom::scope::Scope;
use toolroom_host::text_file;

use super::console::exit::{Exit, Usage};
use super::console::output::{Output, visible};
use super::console::redaction;
use crate::app::App;
use crate::settings::{ProjectSettings, SettingsDocument, gather};

const EXAMPLES: &str = "\
Inside are projects, switches, standing answers, agents and servers of MCP. Secrets are named and nothing more. Keys,
memories, conversations and the journal are not inside: `toolroom backup create` takes everything.

Examples:
  toolroom export settings.json
  toolroom export - | jq .projects
  toolroom import settings.json --dry-run      on another machine";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// The file, which must not be there yet; `-` for standard output
    file: PathBuf,
}

pub(super) async fn run(app: &App, _owner: Scope, args: ExportArgs, output: &Output) -> anyhow::Result<Exit> {
    let document = gather(app).await?;
    let mut hidden = Vec::new();
    for project in &document.projects {
        hidden.extend(app.vault.hidden(&project.id).await?);
    }
    redaction::hide(hidden);
    if args.file == Path::new("-") {
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let text = serde_json::to_string_pretty(&document)?;
    // The values of secrets are in no field of it; where a person wrote one into a prompt, it does not leave.
    let text = redaction::logged(&text);
    text_file::write_new_private(&args.file, format!("{text}\n"))
        .map_err(|error| Usage(error.to_string()))?;
    if output.is_json() {
        output.document(&serde_json::json!({"file": args.file, "projects": document.projects.len()}))?;
        return Ok(Exit::Done);
    }
    output.data(&visible(&args.file.display().to_string()))?;
    output.talk(format_args!("inside: {}", contents(&document)));
    Ok(Exit::Done)
}

fn contents(document: &SettingsDocument) -> String {
    let projects = &document.projects;
    let count = |noun: &str, of: fn(&ProjectSettings) -> usize| {
        let number: usize = projects.iter().map(of).sum();
        format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
    };
    [
        count("project", |_| 1),
        count("switch", |project| project.tools.len() + project.features.len())
            .replace("switchs", "switches"),
        count("standing answer", |project| project.answers.len()),
        count("agent", |project| project.agents.len()),
        count("server", |project| project.servers.len()),
        count("name", |project| project.secrets.len()) + " of secrets",
    ]
    .join(", ")
}
