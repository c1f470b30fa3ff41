//! `toolroom mcp review`: what has changed about foreign tools since somebody accepted them.

use clap::Args;
use serde_json::json;
use toolroom::foreign::{DefinitionRecord, ForeignServers};
use toolroom_tools::mcp::lock::{LockState, accepted, state_of};

use super::super::exit::{Exit, Usage};
use super::super::output::{BOLD, Output, visible};
use super::super::question::{Reply, ask, is_yes};
use super::diff::diff;
use super::{known, project};
use crate::app::App;

#[derive(Args)]
pub(super) struct ReviewArgs {
    /// The server; without one, all of them
    name: Option<String>,
    /// This tool of the server alone
    #[arg(long, requires = "name")]
    tool: Option<String>,
    /// Accept what is shown without being asked
    #[arg(long)]
    yes: bool,
}

/// A tool that waits.
struct Waiting {
    server: String,
    definition: DefinitionRecord,
}

pub(super) async fn run(app: &App, args: ReviewArgs, output: Output) -> anyhow::Result<Exit> {
    let waiting = waiting(app, &args).await?;
    if output.is_json() && !args.yes {
        output.document(&waiting.iter().map(document).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if waiting.is_empty() && !output.is_json() {
        output.talk("nothing waits: every tool is what was accepted");
    }
    let mut reviewed = Vec::new();
    for waiting in &waiting {
        let is_accepted = decide(waiting, args.yes, output)?;
        if is_accepted {
            accept(app, waiting).await?;
        }
        reviewed.push(json!({"id": id(waiting), "accepted": is_accepted}));
    }
    if output.is_json() {
        output.document(&reviewed)?;
    }
    Ok(Exit::Done)
}

async fn waiting(app: &App, args: &ReviewArgs) -> anyhow::Result<Vec<Waiting>> {
    let servers = match &args.name {
        Some(name) => vec![known(app, name).await?],
        None => app.store.servers(&project()).await?,
    };
    let mut waiting = Vec::new();
    for server in servers {
        let definitions = app.store.definitions(&project(), &server.name).await?;
        let of_tool = |record: &DefinitionRecord| args.tool.as_ref().is_none_or(|tool| *tool == record.tool);
        let open = definitions
            .into_iter()
            .filter(|record| state_of(record) != LockState::Accepted && of_tool(record));
        waiting.extend(open.map(|definition| Waiting { server: server.name.clone(), definition }));
    }
    Ok(waiting)
}

fn id(waiting: &Waiting) -> String {
    format!("mcp:{}:{}", waiting.server, waiting.definition.tool)
}

fn document(waiting: &Waiting) -> serde_json::Value {
    let DefinitionRecord { accepted, offered, .. } = &waiting.definition;
    json!({"id": id(waiting), "accepted": accepted, "offered": offered})
}

fn decide(waiting: &Waiting, yes: bool, output: Output) -> anyhow::Result<bool> {
    let DefinitionRecord { accepted, offered, .. } = &waiting.definition;
    if !output.is_json() {
        let what = if accepted.is_some() { "has changed" } else { "is new" };
        output.talk(format_args!("{BOLD}{}{BOLD:#} {what}:", visible(&id(waiting))));
        output.talk(diff(accepted.as_ref(), offered.as_ref()));
    }
    if yes {
        return Ok(true);
    }
    match ask("accept it? [y/N]", output)? {
        Reply::Line(line) => Ok(is_yes(&line)),
        Reply::Nobody => {
            let text = "nobody can be asked here; `toolroom mcp review --yes` accepts what is shown";
            Err(Usage(text.to_owned()).into())
        }
    }
}

/// Accepts what was shown, if the server has not changed it once more meanwhile.
async fn accept(app: &App, waiting: &Waiting) -> anyhow::Result<()> {
    let mut definitions = app.store.definitions(&project(), &waiting.server).await?;
    for definition in definitions.iter_mut().filter(|definition| **definition == waiting.definition) {
        *definition = accepted(definition);
    }
    Ok(app.store.set_definitions(&project(), &waiting.server, &definitions).await?)
}
