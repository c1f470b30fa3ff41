//! `toolroom mcp declare`: a person says what foreign tools do, which nobody else can.

use clap::Args;
use clap::builder::PossibleValue;
use toolroom::foreign::{ForeignServers, PinnedTraits, ServerRecord, ServerTraits, ToolTraits};
use toolroom::nearest::nearest_one;
use toolroom::tool::{Capabilities, Capability, Effect};
use toolroom_tools::mcp::Definition;
use toolroom_tools::mcp::lock::{LockState, state_of};

use super::document::{ServerDocument, ToolDocument};
use super::entry::change;
use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::{Exit, Missing, Usage};
use crate::cli::console::output::{Output, visible};

/// What is written for a tool that is able to do nothing beyond answering.
const NOTHING: &str = "nothing";

const EXPLAINED: &str = "\
A foreign tool asks before each call as long as nobody has said both what it does (--effect) and what it is able to do \
(--can). What its server says of it counts only where that makes it worse. Whatever you say, a foreign tool brings in what \
somebody else wrote (reads-untrusted), and one that is reached over the network, or whose sandbox leads there, can send \
(egress). What you say of one tool holds until you accept another definition of it.

Effects:
  pure              computes from its arguments alone
  read              looks at something and leaves it as it was
  idempotent_write  changes something; twice is the same as once
  once_only_write   changes something, again each time (also: write)
  destructive       may destroy what cannot be brought back

What tools can do:
  reads-private     sees data of yours that others must not see
  reads-untrusted   brings in what somebody else wrote
  writes            changes something
  egress            sends something outward
  exec              starts programs
  destructive       may destroy something
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
    /// One tool of it, by its name there; without it, all tools about which nothing else is said
    #[arg(long)]
    tool: Option<String>,
    #[command(flatten)]
    said: SaidArgs,
    /// Take back what was said: of the tool, or of the server and all its tools
    #[arg(long, conflicts_with_all = ["effect", "can"])]
    forget: bool,
}

/// What a person says of tools.
#[derive(Args)]
pub(super) struct SaidArgs {
    /// What its tools do to the world; `toolroom mcp declare --help` explains the words
    #[arg(long, value_parser = effects())]
    effect: Option<String>,
    /// What its tools are able to do, several with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = abilities())]
    can: Vec<String>,
}

fn effects() -> Vec<PossibleValue> {
    let value = |effect: Effect| match effect {
        Effect::OnceOnlyWrite => PossibleValue::new(effect.as_str()).alias("write"),
        _ => PossibleValue::new(effect.as_str()),
    };
    Effect::ALL.into_iter().map(value).collect()
}

fn abilities() -> Vec<PossibleValue> {
    let names = Capability::ALL.into_iter().map(Capability::as_str).chain([NOTHING]);
    names.map(PossibleValue::new).collect()
}

impl SaidArgs {
    /// What was said, over what was said before.
    pub(super) fn declared(&self, before: ToolTraits) -> Result<ToolTraits, Usage> {
        let effect = self.effect.as_deref();
        let effect = effect.map(|name| Effect::from_name(name).unwrap_or(Effect::OnceOnlyWrite));
        let is_nothing = self.can.iter().any(|name| name == NOTHING);
        if is_nothing && self.can.len() > 1 {
            return Err(Usage("what can do `nothing` can do nothing else; leave one of them out".to_owned()));
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
    known(app, &args.name).await?;
    if args.said.is_empty() && !args.forget {
        let text = "say what its tools do with `--effect` and `--can`, or take it back with `--forget`; \
                    `toolroom mcp declare --help` explains the words";
        return Err(Usage(text.to_owned()).into());
    }
    let declared = async |mut record: ServerRecord| {
        match &args.tool {
            Some(tool) => declare_tool(app, &mut record, tool, &args).await?,
            None if args.forget => record.traits = ServerTraits::default(),
            None => record.traits.all = args.said.declared(record.traits.all)?,
        }
        Ok(record)
    };
    let record = change(app, &args.name, declared).await?;
    let document = ServerDocument::of(app, record).await?;
    tell(&document, args.tool.as_deref(), output)?;
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
            let text = format!("nothing was declared of `{}` alone", visible(tool));
            return Err(Missing(text).into());
        }
        return Ok(());
    }
    let hash = accepted_hash(app, &record.name, tool).await?;
    // What was said of an earlier definition is not taken over.
    let before = tools.get(tool).filter(|before| before.definition == hash);
    let declared = args.said.declared(before.map(|before| before.traits).unwrap_or_default())?;
    tools.insert(tool.to_owned(), PinnedTraits { definition: hash, traits: declared });
    Ok(())
}

/// The hash of what was accepted of a tool. Nothing can be said of what nobody has seen.
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
        let text = format!("`{shown}` has not been accepted as it is now");
        Usage(format!("{text}; look at it with `toolroom mcp review {server}` first"))
    })?;
    Ok(Definition::read(accepted)?.hash())
}

/// What holds now.
fn tell(document: &ServerDocument, tool: Option<&str>, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.document(document);
    }
    let id = tool.map(|tool| format!("mcp:{}:{tool}", document.record.name));
    let is_meant = |tool: &&ToolDocument| id.as_ref().is_none_or(|id| *id == tool.id);
    let worths = document.tools.iter().filter(is_meant).filter_map(|tool| Some((tool, tool.worth.as_ref()?)));
    let (mut is_told, mut still_asks) = (false, false);
    for (tool, worth) in worths {
        (is_told, still_asks) = (true, still_asks || worth.is_silent);
        output.data(&format!("{}  {}", visible(&tool.id), visible(&worth.words())))?;
    }
    if !is_told {
        let name = visible(&document.record.name);
        output.talk(format_args!("no tool of `{name}` is known yet; it counts for those that come"));
    }
    if still_asks {
        output.hint("a tool asks before each call until both `--effect` and `--can` are declared");
    }
    Ok(())
}
