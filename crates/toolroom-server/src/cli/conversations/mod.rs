//! `toolroom conversations`: lists, shows, exports and deletes conversations.

mod transcript;

use clap::{Args, Subcommand, ValueEnum};
use jiff::tz::TimeZone;
use serde_json::json;
use toolroom::conversation::{
    Conversation, ConversationEntry, ConversationFilter, ConversationId, StepError,
};
use toolroom::scope::Scope;
use toolroom_host::environment;

use super::console::exit::{Exit, Missing, Refused, Usage};
use super::console::input::{Reply, ask, is_yes};
use super::console::output::{BOLD, DIM, Output, one_line, short_id, table};
use super::console::time::local_time;
use crate::agents;
use crate::app::App;
use transcript::{as_markdown, as_text};

/// Fits on one screen.
const DEFAULT_LINES: u32 = 20;

/// Column width of a title.
const TITLE_CHARS: usize = 60;

const EXAMPLES: &str = "\
Examples:
  toolroom conversations                                 all conversations, most recent first
  toolroom conversations show last                       read the last one
  toolroom conversations export last > conversation.md   export as Markdown; with --json as JSON
  toolroom chat --continue                               continue the last one";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConversationsArgs {
    #[command(subcommand)]
    command: Option<ConversationsCommand>,
}

#[derive(Subcommand)]
enum ConversationsCommand {
    /// List conversations, most recent first
    List {
        /// Only conversations whose title contains this text
        #[arg(long, value_name = "TEXT")]
        title: Option<String>,
        /// Maximum number to list
        #[arg(long, value_name = "N", default_value_t = DEFAULT_LINES)]
        limit: u32,
    },
    /// Show a conversation
    Show {
        /// Conversation id, its ending, or `last`
        id: String,
    },
    /// Export a conversation to stdout
    Export {
        /// Conversation id, its ending, or `last`
        id: String,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Delete a conversation with its runs and the knowledge learned from it
    Delete {
        /// Conversation id, its ending, or `last`
        id: String,
        /// Delete without asking
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Markdown,
    Json,
}

pub(super) async fn run(
    app: &App,
    scope: Scope,
    args: ConversationsArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let zone = environment::time_zone();
    match args.command.unwrap_or(ConversationsCommand::List { title: None, limit: DEFAULT_LINES }) {
        ConversationsCommand::List { title, limit } => {
            let filter = ConversationFilter { title, limit: Some(limit), ..ConversationFilter::default() };
            list(app, &scope, filter, &zone, *output).await
        }
        ConversationsCommand::Show { id } => {
            let (conversation, entries) = read(app, &scope, &id).await?;
            match output.is_json() {
                true => output.document(&json!({"conversation": conversation, "entries": entries}))?,
                false => output.data(as_text(&conversation, &entries, &zone).trim_end())?,
            }
            Ok(Exit::Done)
        }
        ConversationsCommand::Export { id, format } => {
            let (conversation, entries) = read(app, &scope, &id).await?;
            match (format, output.is_json()) {
                (Format::Json, _) | (_, true) => {
                    output.document(&json!({"conversation": conversation, "entries": entries}))?;
                }
                (Format::Markdown, false) => {
                    output.result(&as_markdown(&conversation, &entries, &zone).into())?;
                }
            }
            Ok(Exit::Done)
        }
        ConversationsCommand::Delete { id, yes } => delete(app, &scope, &id, yes, *output).await,
    }
}

async fn list(
    app: &App,
    scope: &Scope,
    filter: ConversationFilter,
    zone: &TimeZone,
    output: Output,
) -> anyhow::Result<Exit> {
    let filtered = filter.title.is_some() || filter.limit == Some(0);
    let found = agents::conversations(app).conversations(scope, filter).await?;
    if output.is_json() {
        output.document(&found)?;
    } else if found.is_empty() {
        output.talk(match filtered {
            true => "No matching conversations",
            false => "No conversations yet; try: toolroom chat 'what is 17*23?'",
        });
    } else {
        let rows: Vec<Vec<String>> = found.iter().map(|conversation| line(conversation, zone)).collect();
        output.data(&table(&rows))?;
    }
    Ok(Exit::Done)
}

fn line(conversation: &Conversation, zone: &TimeZone) -> Vec<String> {
    vec![
        format!("{DIM}{}{DIM:#}", local_time(conversation.updated_at, zone, "%m-%d %H:%M")),
        short_id(&conversation.id),
        format!("{BOLD}{}{BOLD:#}", one_line(&conversation.title, TITLE_CHARS)),
        format!("{DIM}{}{DIM:#}", one_line(conversation.agent.as_str(), TITLE_CHARS)),
    ]
}

/// The most recent conversation.
pub(super) async fn newest(app: &App, scope: &Scope) -> anyhow::Result<Option<Conversation>> {
    let filter = ConversationFilter { limit: Some(1), ..ConversationFilter::default() };
    Ok(agents::conversations(app).conversations(scope, filter).await?.into_iter().next())
}

/// Finds a conversation by id, by the ending of its id, or as the `last` one.
pub(super) async fn find(app: &App, scope: &Scope, name: &str) -> anyhow::Result<Conversation> {
    // An empty name, likely an unset shell variable, would match every id.
    if name.is_empty() {
        return Err(
            Usage("the conversation id is empty; give an id, its ending, or `last`".to_owned()).into()
        );
    }
    let port = agents::conversations(app);
    if let Some(conversation) = port.conversation(scope, &ConversationId::new(name)).await? {
        return Ok(conversation);
    }
    let mut found = match name {
        "last" => newest(app, scope).await?.into_iter().collect(),
        _ => {
            let suffix = Some(name.to_owned());
            let filter =
                ConversationFilter { id_suffix: suffix, limit: Some(2), ..ConversationFilter::default() };
            port.conversations(scope, filter).await?
        }
    };
    match (found.pop(), found.pop()) {
        (Some(_), Some(_)) => {
            Err(Usage(format!("several conversation ids end in `{name}`; give more of the id")).into())
        }
        (Some(only), None) => Ok(only),
        (None, _) => Err(Missing(format!("no conversation `{name}`; see `toolroom conversations`")).into()),
    }
}

async fn read(
    app: &App,
    scope: &Scope,
    name: &str,
) -> anyhow::Result<(Conversation, Vec<ConversationEntry>)> {
    let conversation = find(app, scope, name).await?;
    let entries = agents::conversations(app).entries(scope, &conversation.id, 0).await?;
    Ok((conversation, entries))
}

async fn delete(app: &App, scope: &Scope, name: &str, yes: bool, output: Output) -> anyhow::Result<Exit> {
    let conversation = find(app, scope, name).await?;
    let title = one_line(&conversation.title, TITLE_CHARS);
    if !yes {
        match ask(format_args!("Delete `{title}` ({}) permanently? [y/N]", conversation.id), output)? {
            Reply::Line(line) if is_yes(&line) => {}
            Reply::Line(_) => {
                output.talk("Nothing was deleted");
                return Ok(Exit::Denied);
            }
            Reply::NoTerminal => {
                return Err(Usage("no terminal to ask on; delete with `--yes`".to_owned()).into());
            }
        }
    }
    match app.delete_conversation(scope, &conversation.id).await {
        Ok(_) => {}
        Err(error @ StepError::Busy { .. }) => return Err(Refused(error.to_string()).into()),
        Err(error) => return Err(error.into()),
    }
    match output.is_json() {
        true => output.document(&json!({"deleted": conversation.id}))?,
        false => output.talk(format_args!("Deleted `{title}`; its calls stay in the log")),
    }
    Ok(Exit::Done)
}
