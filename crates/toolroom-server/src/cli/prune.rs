//! `toolroom prune`: deletes what is older than the configuration says, in all projects.

use clap::Args;
use serde_json::json;
use toolroom::scope::Scope;

use super::console::exit::{Exit, Usage};
use super::console::output::{BOLD, Output, table, visible};
use crate::app::App;
use crate::config::{RetentionKeys, Span};
use crate::retention::{Deleted, Mode, apply};

const EXAMPLES: &str = "\
Toolroom keeps everything until you say how long, here or as `[retention]` in the configuration; `toolroom serve` then
deletes once a day. What somebody waits for stays, and calls that ended in the last 30 days do: they are still counted.

Examples:
  toolroom prune --dry-run                         what the configuration would delete
  toolroom prune
  toolroom prune --journal 90d --artifacts 30d     for this once";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PruneArgs {
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Delete ended calls older than this, e.g. 90d, in place of `retention.journal`
    #[arg(long, value_name = "SPAN", value_parser = |text: &str| RetentionKeys::span("journal", text))]
    journal: Option<Span>,
    /// Delete whole results older than this, in place of `retention.artifacts`
    #[arg(long, value_name = "SPAN", value_parser = |text: &str| RetentionKeys::span("artifacts", text))]
    artifacts: Option<Span>,
    /// Delete conversations in which nothing was said for this long, in place of `retention.conversations`
    #[arg(long, value_name = "SPAN", value_parser = |text: &str| RetentionKeys::span("conversations", text))]
    conversations: Option<Span>,
}

pub(super) async fn run(app: &App, _owner: Scope, args: PruneArgs, output: &Output) -> anyhow::Result<Exit> {
    let configured = app.config.config.retention;
    let keys = RetentionKeys {
        journal: args.journal.or(configured.journal),
        artifacts: args.artifacts.or(configured.artifacts),
        conversations: args.conversations.or(configured.conversations),
    };
    if keys == RetentionKeys::default() {
        let text = "nothing says how long to keep what; say it here, e.g. `toolroom prune --journal 90d`, or in the \
                    configuration as `[retention]`";
        return Err(Usage(text.to_owned()).into());
    }
    let mode = if args.dry_run { Mode::Preview } else { Mode::Do };
    let deleted = apply(app, keys, mode).await?;
    if output.is_json() {
        output.document(&json!({"dry_run": args.dry_run, "retention": keys, "projects": deleted}))?;
    } else {
        tell(&deleted, args.dry_run, *output)?;
    }
    Ok(Exit::Done)
}

fn tell(deleted: &[Deleted], dry_run: bool, output: Output) -> anyhow::Result<()> {
    let some: Vec<&Deleted> = deleted.iter().filter(|deleted| !deleted.is_nothing()).collect();
    if some.is_empty() {
        output.talk("nothing is old enough");
        return Ok(());
    }
    output.talk(if dry_run { "would delete" } else { "deleted" });
    let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let row = |deleted: &&Deleted| {
        vec![
            format!("{BOLD}{}{BOLD:#}", visible(deleted.project.as_str())),
            count(deleted.calls, "call"),
            count(deleted.artifacts, "whole result"),
            count(deleted.conversations, "conversation"),
            count(deleted.bytes, "byte"),
        ]
    };
    output.data(&table(&some.iter().map(row).collect::<Vec<_>>()))?;
    Ok(())
}
