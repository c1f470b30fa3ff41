//! `toolroom prune`: applies the retention periods to all projects.

use clap::Args;
use serde_json::json;
use toolroom::scope::Scope;

use super::console::exit::{Exit, Usage};
use super::console::output::{BOLD, Output, table, visible};
use crate::app::App;
use crate::config::{RetentionKeys, Span};
use crate::retention::{PruneMode, PrunedProject, apply};

const EXAMPLES: &str = "\
Nothing is deleted unless a retention period is set, here or in `[retention]` of the configuration; `toolroom serve` then
deletes once a day. Pending calls are kept, and so are calls of the last 30 days that count against a rate limit.

Examples:
  toolroom prune --dry-run                         preview what the configuration deletes
  toolroom prune
  toolroom prune --journal 90d --artifacts 30d     override the configuration once";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PruneArgs {
    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Delete ended calls older than this, e.g. 90d, instead of `retention.journal`
    #[arg(long, value_name = "SPAN", value_parser = |text: &str| RetentionKeys::span("journal", text))]
    journal: Option<Span>,
    /// Delete stored results older than this, instead of `retention.artifacts`
    #[arg(long, value_name = "SPAN", value_parser = |text: &str| RetentionKeys::span("artifacts", text))]
    artifacts: Option<Span>,
    /// Delete conversations without messages for this long, instead of `retention.conversations`
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
        let text = "no retention period is set; give one, e.g. `toolroom prune --journal 90d`, or set `[retention]` in \
                    the configuration";
        return Err(Usage(text.to_owned()).into());
    }
    let mode = if args.dry_run { PruneMode::Preview } else { PruneMode::Apply };
    let deleted = apply(app, keys, mode).await?;
    if output.is_json() {
        output.document(&json!({"dry_run": args.dry_run, "retention": keys, "projects": deleted}))?;
    } else {
        print_deleted(&deleted, args.dry_run, *output)?;
    }
    Ok(Exit::Done)
}

fn print_deleted(deleted: &[PrunedProject], dry_run: bool, output: Output) -> anyhow::Result<()> {
    let nonempty: Vec<&PrunedProject> = deleted.iter().filter(|deleted| !deleted.is_nothing()).collect();
    if nonempty.is_empty() {
        output.talk("Nothing is old enough to delete");
        return Ok(());
    }
    output.talk(if dry_run { "Would delete" } else { "Deleted" });
    let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let row = |deleted: &&PrunedProject| {
        vec![
            format!("{BOLD}{}{BOLD:#}", visible(deleted.project.as_str())),
            count(deleted.calls, "call"),
            count(deleted.artifacts, "stored result"),
            count(deleted.conversations, "conversation"),
            count(deleted.bytes, "byte"),
        ]
    };
    output.data(&table(&nonempty.iter().map(row).collect::<Vec<_>>()))?;
    Ok(())
}
