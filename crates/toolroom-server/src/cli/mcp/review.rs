//! `toolroom mcp review`: shows changed and new definitions of foreign tools, and accepts them.

use clap::Args;
use serde_json::json;
use toolroom::foreign::{DefinitionChange, DefinitionRecord, ForeignServers, ServerRecord};
use toolroom_tools::mcp::lock::{LockState, accepted, state_of};

use super::diff::diff;
use super::{find_server, project};
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::input::{Reply, ask, is_yes};
use crate::cli::console::output::{BOLD, Output, visible};

#[derive(Args)]
pub(super) struct ReviewArgs {
    /// The server [default: all servers]
    name: Option<String>,
    /// A single tool of the server
    #[arg(long, requires = "name")]
    tool: Option<String>,
    /// Accept without asking
    #[arg(long)]
    yes: bool,
}

/// A tool whose current definition is not accepted.
struct UnreviewedTool {
    server: ServerRecord,
    definition: DefinitionRecord,
}

pub(super) async fn run(app: &App, args: ReviewArgs, output: Output) -> anyhow::Result<Exit> {
    let unreviewed = unreviewed(app, &args).await?;
    if output.is_json() && !args.yes {
        output.document(&unreviewed.iter().map(document).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if unreviewed.is_empty() && !output.is_json() {
        output.talk("nothing to review: all definitions are accepted");
    }
    let mut reviewed = Vec::new();
    for tool in &unreviewed {
        let is_wanted = decide(tool, args.yes, output)?;
        let is_accepted = is_wanted && accept(app, tool).await?;
        if is_wanted && !is_accepted {
            let id = id(tool);
            output.warning(&format!("`{}` has changed again in the meantime; review it again", visible(&id)));
        }
        if is_accepted {
            hint_outdated_declaration(app, tool, output).await?;
        }
        reviewed.push(json!({"id": id(tool), "accepted": is_accepted}));
    }
    if output.is_json() {
        output.document(&reviewed)?;
    }
    Ok(Exit::Done)
}

async fn unreviewed(app: &App, args: &ReviewArgs) -> anyhow::Result<Vec<UnreviewedTool>> {
    let servers = match &args.name {
        Some(name) => vec![find_server(app, name).await?],
        None => app.store.servers(&project()).await?,
    };
    let mut unreviewed = Vec::new();
    for server in servers {
        let definitions = app.store.definitions(&project(), &server.name).await?;
        let of_tool = |record: &DefinitionRecord| args.tool.as_ref().is_none_or(|tool| *tool == record.tool);
        let open = definitions
            .into_iter()
            .filter(|record| state_of(record) != LockState::Accepted && of_tool(record));
        unreviewed.extend(open.map(|definition| UnreviewedTool { server: server.clone(), definition }));
    }
    Ok(unreviewed)
}

fn id(tool: &UnreviewedTool) -> String {
    format!("mcp:{}:{}", tool.server.name, tool.definition.tool)
}

fn document(tool: &UnreviewedTool) -> serde_json::Value {
    let DefinitionRecord { accepted, offered, .. } = &tool.definition;
    json!({"id": id(tool), "accepted": accepted, "offered": offered})
}

fn decide(tool: &UnreviewedTool, yes: bool, output: Output) -> anyhow::Result<bool> {
    let DefinitionRecord { accepted, offered, .. } = &tool.definition;
    if !output.is_json() {
        let what = if accepted.is_some() { "has changed" } else { "is new" };
        output.talk(format_args!("{BOLD}{}{BOLD:#} {what}:", visible(&id(tool))));
        output.talk(diff(accepted.as_ref(), offered.as_ref()));
    }
    if yes {
        return Ok(true);
    }
    match ask("accept it? [y/N]", output)? {
        Reply::Line(line) => Ok(is_yes(&line)),
        Reply::NoTerminal => {
            let text = "no terminal to ask on; `toolroom mcp review --yes` accepts what is shown";
            Err(Usage(text.to_owned()).into())
        }
    }
}

/// Accepts the definition that was shown. Returns whether it was still the offered one.
async fn accept(app: &App, tool: &UnreviewedTool) -> anyhow::Result<bool> {
    let (before, after) = (tool.definition.clone(), accepted(&tool.definition));
    let change = [DefinitionChange { before: Some(before), after: Some(after) }];
    Ok(app.store.change_definitions(&project(), &tool.server, &change).await? > 0)
}

/// Hints that the tool's own declaration was for its previous definition. It is kept, so that the declaration for all
/// tools does not apply.
async fn hint_outdated_declaration(app: &App, tool: &UnreviewedTool, output: Output) -> anyhow::Result<()> {
    let (server, name) = (visible(&tool.server.name), visible(&tool.definition.tool));
    if find_server(app, &tool.server.name).await?.traits.tools.contains_key(&tool.definition.tool) {
        output.hint(&format!(
            "your declaration of `{name}` was for the previous definition; renew it with `toolroom mcp declare {server} --tool {name}`"
        ));
    }
    Ok(())
}
