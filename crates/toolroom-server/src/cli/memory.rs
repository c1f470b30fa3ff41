//! `toolroom memory`: stored memories, and those promoted into an agent's instructions.

use clap::{Args, Subcommand};
use serde_json::json;
use toolroom::conversation::AgentId;
use toolroom::memory::{Memories, Memory, Promotion};
use toolroom::nearest::nearest_one;
use toolroom::scope::{Scope, UserId};
use toolroom_host::environment;

use super::console::exit::{Exit, Missing, Usage};
use super::console::output::{BOLD, DIM, Output, one_line, table, visible};
use super::console::time::local_time;
use crate::agents;
use crate::app::App;
use crate::documents::memories_as_markdown;

/// Column width of a memory.
const SUMMARY_CHARS: usize = 60;

const MINUTES: &str = "%Y-%m-%d %H:%M";

const EXAMPLES: &str = "\
Examples:
  toolroom memory                                all memories, newest first
  toolroom memory export > MEMORY.md             export as Markdown; with --json as JSON
  toolroom memory undo prefers_euros             remove a memory from the agent's instructions";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MemoryArgs {
    #[command(subcommand)]
    command: Option<MemoryCommand>,
    /// User whose memories to use [default: your own]
    #[arg(long, global = true, value_name = "USER")]
    user: Option<String>,
}

#[derive(Subcommand)]
enum MemoryCommand {
    /// List memories
    List,
    /// Show one memory
    Show {
        /// Key of the memory
        key: String,
    },
    /// Forget memories
    #[command(visible_alias = "rm")]
    Forget {
        /// Keys of the memories
        #[arg(required = true)]
        keys: Vec<String>,
    },
    /// Print all memories as Markdown, or as JSON with --json
    Export,
    /// List memories that became part of an agent's instructions
    Promotions {
        /// Only those of this agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Remove a memory from an agent's instructions and store it as a memory again
    Undo {
        /// Key of the memory
        key: String,
        /// Agent to change, if several have it
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
}

pub(super) async fn run(app: &App, owner: Scope, args: MemoryArgs, output: &Output) -> anyhow::Result<Exit> {
    let scope = Scope { user: args.user.as_deref().map(UserId::new).or(owner.user), ..owner };
    let memories = app.memories();
    match args.command {
        None | Some(MemoryCommand::List) => list(&memories.memories(&scope).await?, *output),
        Some(MemoryCommand::Show { key }) => show(&known(memories, &scope, &key).await?, *output),
        Some(MemoryCommand::Forget { keys }) => forget(memories, &scope, &keys, *output).await,
        Some(MemoryCommand::Export) => export(&memories.memories(&scope).await?, *output),
        Some(MemoryCommand::Promotions { agent }) => {
            promotions(&promoted(app, &scope, agent.as_deref()).await?, *output)
        }
        Some(MemoryCommand::Undo { key, agent }) => undo(app, &scope, &key, agent.as_deref(), *output).await,
    }
}

fn list(memories: &[Memory], output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(&memories)?;
        return Ok(Exit::Done);
    }
    if memories.is_empty() {
        output.talk("No memories yet");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = memories
        .iter()
        .map(|memory| {
            vec![
                format!("{BOLD}{}{BOLD:#}", visible(&memory.key)),
                memory.category.to_string(),
                format!("{}×", memory.hits),
                one_line(&memory.content, SUMMARY_CHARS),
            ]
        })
        .collect();
    output.data(&table(&rows))?;
    Ok(Exit::Done)
}

/// Looks up a memory; fails with a suggestion if there is none.
async fn known(memories: &dyn Memories, scope: &Scope, key: &str) -> anyhow::Result<Memory> {
    match memories.memory(scope, key).await? {
        Some(memory) => Ok(memory),
        None => {
            let known = memories.memories(scope).await?;
            Err(missing(key, known.iter().map(|memory| memory.key.as_str())).into())
        }
    }
}

fn missing<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> Missing {
    let hint = match nearest_one(key, known) {
        Some(meant) => format!("did you mean `{}`?", visible(meant)),
        None => "see `toolroom memory`".to_owned(),
    };
    Missing(format!("no memory `{}`; {hint}", visible(key)))
}

fn show(memory: &Memory, output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(memory)?;
        return Ok(Exit::Done);
    }
    let zone = environment::time_zone();
    let mut text = String::new();
    let mut line =
        |name: &str, value: &str| text.push_str(&format!("{DIM}{name:<10}{DIM:#}{}\n", visible(value)));
    line("key", &memory.key);
    line("category", memory.category.as_str());
    line("count", &memory.hits.to_string());
    if let Some(source) = &memory.source {
        line("source", source);
    }
    line("created", &local_time(memory.created_at, &zone, MINUTES));
    line("changed", &local_time(memory.updated_at, &zone, MINUTES));
    line("content", &memory.content);
    output.data(text.trim_end())?;
    Ok(Exit::Done)
}

async fn forget(
    memories: &dyn Memories,
    scope: &Scope,
    keys: &[String],
    output: Output,
) -> anyhow::Result<Exit> {
    // Checks all keys first, so that a mistyped one deletes nothing.
    for key in keys {
        known(memories, scope, key).await?;
    }
    for key in keys {
        memories.forget(scope, key).await?;
        if !output.is_json() {
            output.talk(format_args!("Forgot `{}`", visible(key)));
        }
    }
    if output.is_json() {
        output.document(&json!({"forgotten": keys}))?;
    }
    Ok(Exit::Done)
}

fn export(memories: &[Memory], output: Output) -> anyhow::Result<Exit> {
    match output.is_json() {
        true => output.document(&json!({"memories": memories}))?,
        false => output.result(&memories_as_markdown(memories).into())?,
    }
    Ok(Exit::Done)
}

/// Promotions of one agent, or of all agents.
async fn promoted(app: &App, scope: &Scope, agent: Option<&str>) -> anyhow::Result<Vec<Promotion>> {
    let agents = match agent {
        Some(agent) => vec![AgentId::new(agent)],
        None => {
            let known = agents::records(app, scope).await?;
            known.into_iter().map(|known| known.record.id).collect()
        }
    };
    let mut promoted = Vec::new();
    for agent in &agents {
        promoted.extend(app.memories().promotions(scope, agent).await?);
    }
    Ok(promoted)
}

fn promotions(promoted: &[Promotion], output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(&promoted)?;
        return Ok(Exit::Done);
    }
    if promoted.is_empty() {
        output.talk("No memories are part of an agent's instructions");
        return Ok(Exit::Done);
    }
    let zone = environment::time_zone();
    let rows: Vec<Vec<String>> = promoted
        .iter()
        .map(|promotion| {
            vec![
                format!("{BOLD}{}{BOLD:#}", visible(&promotion.memory.key)),
                visible(promotion.agent.as_str()),
                local_time(promotion.at, &zone, MINUTES),
                one_line(&promotion.addition, SUMMARY_CHARS),
            ]
        })
        .collect();
    output.data(&table(&rows))?;
    Ok(Exit::Done)
}

async fn undo(
    app: &App,
    scope: &Scope,
    key: &str,
    agent: Option<&str>,
    output: Output,
) -> anyhow::Result<Exit> {
    let promoted = promoted(app, scope, agent).await?;
    let mut agents: Vec<&AgentId> = promoted
        .iter()
        .filter(|promotion| promotion.memory.key == key)
        .map(|promotion| &promotion.agent)
        .collect();
    agents.dedup();
    let agent = match agents.as_slice() {
        [agent] => *agent,
        [] => {
            let text = format!("memory `{}` is not part of an agent's instructions", visible(key));
            return Err(Missing(format!("{text}; see `toolroom memory promotions`")).into());
        }
        several => {
            let names: Vec<&str> = several.iter().map(|agent| agent.as_str()).collect();
            return Err(Usage(format!(
                "several agents have this memory; choose one with `--agent`: {}",
                names.join(", ")
            ))
            .into());
        }
    };
    let Some(undone) = app.memories().demote(scope, key, agent).await? else {
        return Err(Missing(format!("`{}` was already undone", visible(key))).into());
    };
    // A newer memory under the same key is kept.
    let restored = app.memories().memory(scope, key).await? == Some(undone.memory.clone());
    if output.is_json() {
        output.document(&json!({"undone": undone, "remembered_again": restored}))?;
    } else {
        let key = visible(key);
        output.talk(format_args!(
            "Removed from the instructions of `{}`: {}",
            undone.agent,
            one_line(&undone.addition, SUMMARY_CHARS)
        ));
        match restored {
            true => output.talk(format_args!("Memory `{key}` is stored again")),
            false => {
                output.talk(format_args!("Kept the newer memory `{key}`"));
            }
        }
    }
    Ok(Exit::Done)
}
