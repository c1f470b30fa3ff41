//! `toolroom mcp declare`: declares what foreign tools do.

use clap::Args;
use clap::builder::PossibleValue;
use toolroom::foreign::{ForeignServers, PinnedTraits, ServerRecord, ServerTraits, ToolTraits};
use toolroom::nearest::nearest_one;
use toolroom::tool::{Capabilities, Capability, Effect};
use toolroom_tools::mcp::Definition;
use toolroom_tools::mcp::lock::{LockState, state_of};

use super::document::{ForeignToolDocument, ServerDocument};
use super::entry::change;
use super::{find_server, project};
use crate::app::App;
use crate::cli::console::exit::{Exit, Missing, Usage};
use crate::cli::console::output::{Output, visible};

/// The value for tools without capabilities.
const NOTHING: &str = "nothing";

const EXPLAINED: &str = "\
A foreign tool asks for approval before each call until both its effect (--effect) and its capabilities (--can) are \
declared. Hints of its server can only make the classification stricter. Regardless of the declaration, results of \
foreign tools are untrusted (reads-untrusted), and a tool that is reached over the network, or whose sandbox allows \
network access, can send data out (egress). A declaration for a single tool holds until you accept another definition of it.

Effects:
  pure              computes from its arguments alone
    read              reads and changes nothing
    idempotent_write  changes something; repeating it has no further effect
    once_only_write   changes something each time (also: write)
    destructive       may destroy data that cannot be restored

Capabilities:
  reads-private     reads private data
  reads-untrusted   returns text from outside
  writes            changes something
  egress            sends data out
  exec              starts programs
  destructive       may destroy data
  nothing           none of these

Examples:
  toolroom mcp declare search --effect read --can nothing
  toolroom mcp declare files --effect read --can reads-private
  toolroom mcp declare files --tool write_file --effect write --can reads-private,writes
  toolroom mcp declare files --forget";

#[derive(Args)]
#[command(after_help = EXPLAINED)]
pub(super) struct DeclareArgs {
    /// The server
    name: String,
    /// A single tool, by its name at the server [default: all tools without a declaration of their own]
    #[arg(long)]
    tool: Option<String>,
    #[command(flatten)]
    declaration: DeclarationArgs,
    /// Remove the declaration of the tool, or of the server and all its tools
    #[arg(long, conflicts_with_all = ["effect", "can"])]
    forget: bool,
}

/// A declaration on the command line.
#[derive(Args)]
pub(super) struct DeclarationArgs {
    /// Effect of its tools; see `toolroom mcp declare --help`
    #[arg(long, value_parser = effects())]
    effect: Option<String>,
    /// Capabilities of its tools, separated by commas
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', value_parser = capabilities())]
    can: Vec<String>,
}

fn effects() -> Vec<PossibleValue> {
    let value = |effect: Effect| match effect {
        Effect::OnceOnlyWrite => PossibleValue::new(effect.as_str()).alias("write"),
        _ => PossibleValue::new(effect.as_str()),
    };
    Effect::ALL.into_iter().map(value).collect()
}

fn capabilities() -> Vec<PossibleValue> {
    let names = Capability::ALL.into_iter().map(Capability::as_str).chain([NOTHING]);
    names.map(PossibleValue::new).collect()
}

impl DeclarationArgs {
    /// These values, or else those declared before.
    pub(super) fn declared(&self, before: ToolTraits) -> Result<ToolTraits, Usage> {
        let effect = self.effect.as_deref();
        let effect = effect.map(|name| Effect::from_name(name).unwrap_or(Effect::OnceOnlyWrite));
        let is_nothing = self.can.iter().any(|name| name == NOTHING);
        if is_nothing && self.can.len() > 1 {
            return Err(Usage("`--can nothing` cannot be combined with other capabilities".to_owned()));
        }
        let able: Vec<Capability> = Capability::ALL
            .into_iter()
            .filter(|capability| self.can.iter().any(|name| name == capability.as_str()))
            .collect();
        let capabilities = (!self.can.is_empty()).then(|| Capabilities::of(&able));
        Ok(ToolTraits {
            effect: effect.or(before.effect),
            capabilities: capabilities.or(before.capabilities),
        })
    }

    const fn is_empty(&self) -> bool {
        self.effect.is_none() && self.can.is_empty()
    }
}

pub(super) async fn run(app: &App, args: DeclareArgs, output: Output) -> anyhow::Result<Exit> {
    find_server(app, &args.name).await?;
    if args.declaration.is_empty() && !args.forget {
        let text = "nothing to declare; use `--effect` and `--can`, or `--forget`; see `toolroom mcp declare \
                    --help`";
        return Err(Usage(text.to_owned()).into());
    }
    let declared = async |mut record: ServerRecord| {
        match &args.tool {
            Some(tool) => declare_tool(app, &mut record, tool, &args).await?,
            None if args.forget => record.traits = ServerTraits::default(),
            None => record.traits.all = args.declaration.declared(record.traits.all)?,
        }
        Ok(record)
    };
    let record = change(app, &args.name, declared).await?;
    let document = ServerDocument::load(app, record).await?;
    show_declared(&document, args.tool.as_deref(), output)?;
    Ok(Exit::Done)
}

async fn declare_tool(
    app: &App,
    record: &mut ServerRecord,
    tool: &str,
    args: &DeclareArgs,
) -> anyhow::Result<()> {
    let tools = &mut record.traits.tools;
    if args.forget {
        if tools.remove(tool).is_none() {
            let text = format!("the tool `{}` has no declaration of its own", visible(tool));
            return Err(Missing(text).into());
        }
        return Ok(());
    }
    let hash = accepted_hash(app, &record.name, tool).await?;
    // A declaration for an earlier definition does not apply.
    let before = tools.get(tool).filter(|before| before.definition == hash);
    let declared = args.declaration.declared(before.map(|before| before.traits).unwrap_or_default())?;
    tools.insert(tool.to_owned(), PinnedTraits { definition: hash, traits: declared });
    Ok(())
}

/// The hash of a tool's accepted definition. Only accepted tools can be declared.
async fn accepted_hash(app: &App, server: &str, tool: &str) -> anyhow::Result<String> {
    let definitions = app.store.definitions(&project(), server).await?;
    let shown = visible(tool);
    let Some(found) = definitions.iter().find(|definition| definition.tool == tool) else {
        let names = definitions.iter().map(|definition| definition.tool.as_str());
        let hint = match nearest_one(tool, names) {
            Some(meant) => format!("did you mean `{}`?", visible(meant)),
            None => format!("see `toolroom mcp show {server}`"),
        };
        return Err(Missing(format!("the server `{server}` has no tool `{shown}`; {hint}")).into());
    };
    let accepted = found.accepted.as_ref().filter(|_| state_of(found) == LockState::Accepted);
    let accepted = accepted.ok_or_else(|| {
        let text = format!("the current definition of `{shown}` is not accepted yet");
        Usage(format!("{text}; review it with `toolroom mcp review {server}` first"))
    })?;
    Ok(Definition::parse(accepted)?.hash())
}

/// Shows the resulting classification.
fn show_declared(document: &ServerDocument, tool: Option<&str>, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.document(document);
    }
    let id = tool.map(|tool| format!("mcp:{}:{tool}", document.record.name));
    let is_meant = |tool: &&ForeignToolDocument| id.as_ref().is_none_or(|id| *id == tool.id);
    let classified = document.tools.iter().filter(is_meant);
    let classified = classified.filter_map(|tool| Some((tool, tool.classification.as_ref()?)));
    let (mut is_any, mut still_asks) = (false, false);
    for (tool, classification) in classified {
        (is_any, still_asks) = (true, still_asks || classification.is_undeclared);
        output.data(&format!("{}  {}", visible(&tool.id), visible(&classification.summary())))?;
    }
    if !is_any {
        let name = visible(&document.record.name);
        output
            .talk(format_args!("no tools of `{name}` are known yet; the declaration applies to future ones"));
    }
    if still_asks {
        output
            .hint("a tool asks for approval before each call until both `--effect` and `--can` are declared");
    }
    Ok(())
}
