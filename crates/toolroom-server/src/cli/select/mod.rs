//! `toolroom select`: ranks the tools that fit a message.

mod tool_file;

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::Map;
use toolroom::catalog::Unavailable;
use toolroom::ledger::LedgerError;
use toolroom::scope::Scope;
use toolroom::selector::{REQUESTS, Ranked, Ranking, Selector, ToolCard, cards};
use toolroom::tool::ToolSpec;

use super::console::exit::{Exit, Usage};
use super::console::input::file_text;
use super::console::output::{DIM, GREEN, Output, table, visible};
use super::{Register, close, open, owner};
use crate::agents;
use crate::app::{App, ProcessLifetime};

/// Limit of input files.
const MAX_FILE_BYTES: usize = 64 * 1_024 * 1_024;

/// Longer lines of standard input are cut.
const MAX_LINE_BYTES: usize = 1_024 * 1_024;

/// Length of the bar of the best tool.
const BAR_CHARS: u8 = 20;

const EXAMPLES: &str = "\
Examples:
  toolroom select 'what time is it in Tokyo?'
  toolroom select 'book a table' --tools tools.json --json
  toolroom select --batch messages.txt --tools tools.json > ranked.jsonl

The file for --tools is an object {\"name\": \"description\"}, or an array of
{\"name\", \"description\", \"when_to_use\"?, \"tags\"?, \"usage_examples\"?}.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SelectArgs {
    /// Message to rank tools for
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    message: Option<String>,
    /// Rank the tools in this JSON file instead of the installed ones; - for stdin
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Rank tools for each line of this file, printing one line of JSON each; - for stdin
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Maximum number of tools to list
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    limit: u16,
}

pub(super) async fn run(
    settings: &[String],
    args: SelectArgs,
    output: &Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let is_stdin = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    if is_stdin(&args.tools) && is_stdin(&args.batch) {
        return Err(
            Usage("standard input can be used for the tools or the messages, not both".to_owned()).into()
        );
    }
    let cards = match &args.tools {
        Some(file) => tool_file::parse(&read(file)?).map_err(|error| invalid_tools(file, &error))?,
        None => own_tools(settings, *output, register).await?,
    };
    let selector = Selector::new(cards);
    let limit = usize::from(args.limit);
    match (args.batch, args.message) {
        (Some(file), _) if file == Path::new("-") => each_line_of_stdin(&selector, limit, *output)?,
        (Some(file), _) => {
            for message in read(&file)?.lines() {
                output.line_of_json(&RankingDocument::new(&selector.rank(message, limit)))?;
            }
        }
        (None, message) => {
            let ranking = selector.rank(&message.unwrap_or_default(), limit);
            if output.is_json() {
                output.document(&RankingDocument::new(&ranking))?;
            } else {
                show(&ranking, selector.len(), *output)?;
            }
        }
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct RankingDocument<'a> {
    tools: Vec<RankedTool<'a>>,
    abstained: bool,
}

#[derive(Serialize)]
struct RankedTool<'a> {
    id: &'a str,
    score: f64,
}

impl<'a> RankingDocument<'a> {
    fn new(ranking: &'a Ranking) -> Self {
        // More digits would suggest false precision.
        let rounded = |score: f32| (f64::from(score) * 1e4).round() / 1e4;
        let rank = |tool: &'a Ranked| RankedTool { id: &tool.id, score: rounded(tool.score) };
        Self { tools: ranking.tools.iter().map(rank).collect(), abstained: ranking.abstained }
    }
}

fn show(ranking: &Ranking, among: usize, output: Output) -> anyhow::Result<()> {
    let Some(best) = ranking.tools.first() else {
        output
            .talk(format_args!("None of {among} tools fits; rephrase the message, or see `toolroom tools`"));
        return Ok(());
    };
    let rows: Vec<Vec<String>> = (ranking.tools.iter())
        .map(|tool| {
            let bar = bar(f64::from(tool.score / best.score));
            vec![visible(&tool.id), format!("{:.2}", tool.score), format!("{GREEN}{bar}{GREEN:#}")]
        })
        .collect();
    output.data(&table(&rows))?;
    output.talk(format_args!("{DIM}{} of {among} tools, best first{DIM:#}", rows.len()));
    Ok(())
}

/// A bar for a score relative to the best one.
fn bar(share: f64) -> String {
    let whole =
        (1..=BAR_CHARS).take_while(|block| f64::from(*block) <= share * f64::from(BAR_CHARS) + 0.5).count();
    "█".repeat(whole.max(1))
}

/// The installed tools.
async fn own_tools(
    settings: &[String],
    output: Output,
    register: &Register,
) -> anyhow::Result<Vec<ToolCard>> {
    let app = open(settings, ProcessLifetime::OneCommand, output, register).await?;
    let cards = known_tools(&app, &owner()).await;
    close(&app).await;
    Ok(cards?)
}

/// Tools that are switched on, with the past requests that used them.
async fn known_tools(app: &App, scope: &Scope) -> Result<Vec<ToolCard>, LedgerError> {
    let standing = app.room.switchboard().standing(&scope.project).await?;
    let most = u32::try_from(REQUESTS).unwrap_or(u32::MAX);
    let past = agents::conversations(app).past_requests(scope, most).await?;
    let catalog = app.room.catalog();
    let is_on = |spec: &ToolSpec| match catalog.check_enabled(spec, &standing.switches, &Map::new()) {
        Ok(()) | Err(Unavailable::Context { .. }) => true,
        Err(Unavailable::Tool { .. } | Unavailable::Feature { .. }) => false,
    };
    let tools = catalog.list(&scope.project);
    Ok(cards(tools.iter().map(|entry| entry.spec()).filter(|spec| is_on(spec)), past))
}

/// Prints a ranking for each line of stdin as it arrives.
fn each_line_of_stdin(selector: &Selector, limit: usize, output: Output) -> anyhow::Result<()> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        input.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        if !line.ends_with(b"\n") && line.len() >= MAX_LINE_BYTES {
            input.skip_until(b'\n')?;
        }
        // A cut line may end within a character.
        let text = match str::from_utf8(&line) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && line.len() >= MAX_LINE_BYTES => {
                str::from_utf8(line.get(..error.valid_up_to()).unwrap_or_default())?
            }
            Err(_) => return Err(Usage(format!("line {number} of standard input is not UTF-8")).into()),
        };
        output.line_of_json(&RankingDocument::new(&selector.rank(text, limit)))?;
    }
    Ok(())
}

/// Reads a file or standard input.
fn read(file: &Path) -> anyhow::Result<String> {
    if file != Path::new("-") {
        return file_text(file);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(Usage(format!("standard input is longer than {MAX_FILE_BYTES} bytes")).into());
    }
    let not_utf8 = |error: std::string::FromUtf8Error| {
        Usage(format!(
            "standard input is not UTF-8 from byte {} on; send it as UTF-8",
            error.utf8_error().valid_up_to() + 1
        ))
    };
    Ok(String::from_utf8(bytes).map_err(not_utf8)?)
}

fn invalid_tools(file: &Path, error: &serde_json::Error) -> Usage {
    let name =
        if file == Path::new("-") { "standard input".to_owned() } else { format!("`{}`", file.display()) };
    Usage(format!(
        "{name} is not a list of tools: {error}; expected an object {{\"name\": \"description\"}} or an array of objects with \
         `name` and `description`"
    ))
}
