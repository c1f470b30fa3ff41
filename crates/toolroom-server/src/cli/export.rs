//! `toolroom export`: writes all settings to one document, without secret values.

use std::path::{Path, PathBuf};

use clap::Args;
use toolroom::scope::Scope;
use toolroom_host::text_file;

use super::console::exit::{Exit, Usage};
use super::console::output::{Output, visible};
use super::console::redaction;
use crate::app::App;
use crate::settings::{ProjectSettings, SettingsDocument, export_settings};

const EXAMPLES: &str = "\
The file holds projects, switches, standing answers, agents, MCP servers and the names of secrets. API keys, secret
values, memories, conversations and the log are not included; `toolroom backup create` saves everything.

Examples:
  toolroom export settings.json
  toolroom export - | jq .projects
  toolroom import settings.json --dry-run      on another machine";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// File to create, or `-` for standard output
    file: PathBuf,
}

pub(super) async fn run(app: &App, _owner: Scope, args: ExportArgs, output: &Output) -> anyhow::Result<Exit> {
    let document = export_settings(app).await?;
    let mut hidden = Vec::new();
    for project in &document.projects {
        hidden.extend(app.vault.redacted_values(&project.id).await?);
    }
    redaction::hide(hidden);
    if args.file == Path::new("-") {
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let text = serde_json::to_string_pretty(&document)?;
    // No field holds secret values, but a prompt may contain one.
    let text = redaction::logged(&text);
    text_file::write_new_private(&args.file, format!("{text}\n"))
        .map_err(|error| Usage(error.to_string()))?;
    if output.is_json() {
        output.document(&serde_json::json!({"file": args.file, "projects": document.projects.len()}))?;
        return Ok(Exit::Done);
    }
    output.data(&visible(&args.file.display().to_string()))?;
    output.talk(format_args!("Exported {}", contents(&document)));
    Ok(Exit::Done)
}

fn contents(document: &SettingsDocument) -> String {
    let projects = &document.projects;
    let count = |noun: &str, size: fn(&ProjectSettings) -> usize| {
        let number: usize = projects.iter().map(size).sum();
        format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
    };
    [
        count("project", |_| 1),
        count("switch", |project| project.tools.len() + project.features.len())
            .replace("switchs", "switches"),
        count("standing answer", |project| project.answers.len()),
        count("agent", |project| project.agents.len()),
        count("server", |project| project.servers.len()),
        count("secret name", |project| project.secrets.len()),
    ]
    .join(", ")
}
