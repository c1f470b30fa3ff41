//! `toolroom mcp review`: what has changed about foreign tools since somebody accepted them.

use clap::Args;
use serde_json::json;
use toolroom::foreign::{DefinitionChange, DefinitionRecord, ForeignServers, ServerRecord};
use toolroom_tools::mcp::lock::{LockState, accepted, state_of};

use super::diff::diff;
use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::input::{Reply, ask, is_yes};
use crate::cli::console::output::{BOLD, Output, visible};

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
    server: ServerRecord,
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
        let is_wanted = decide(waiting, args.yes, output)?;
        let is_accepted = is_wanted && accept(app, waiting).await?;
        if is_wanted && !is_accepted {
            let id = id(waiting);
            output.warning(&format!("`{}` has changed once more meanwhile; look at it again", visible(&id)));
        }
        if is_accepted {
            tell_outdated(app, waiting, output).await?;
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
        waiting.extend(open.map(|definition| Waiting { server: server.clone(), definition }));
    }
    Ok(waiting)
}

fn id(waiting: &Waiting) -> String {
    format!("mcp:{}:{}", waiting.server.name, waiting.definition.tool)
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
        Reply::NoTerminal => {
            let text = "nobody can be asked here; `toolroom mcp review --yes` accepts what is shown";
            Err(Usage(text.to_owned()).into())
        }
    }
}

/// Accepts what was shown, if that is still what waits; says whether it is.
async fn accept(app: &App, waiting: &Waiting) -> anyhow::Result<bool> {
    let (before, after) = (waiting.definition.clone(), accepted(&waiting.definition));
    let change = [DefinitionChange { before: Some(before), after: Some(after) }];
    Ok(app.store.change_definitions(&project(), &waiting.server, &change).await? > 0)
}

/// What was said of the tool was said of what it was before, and holds no longer. It stays, so that the tool does not fall
/// under what is said of all tools.
async fn tell_outdated(app: &App, waiting: &Waiting, output: Output) -> anyhow::Result<()> {
    let (server, tool) = (visible(&waiting.server.name), visible(&waiting.definition.tool));
    if known(app, &waiting.server.name).await?.traits.tools.contains_key(&waiting.definition.tool) {
        output.hint(&format!(
            "what you declared of `{tool}` does not count any more; `toolroom mcp declare {server} --tool {tool}` says it anew"
        ));
    }
    Ok(())
}
