//! `toolroom log`: past calls and their results.

use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallFilter, CallId, CallRecord, CallStatus, Journal};
use toolroom::scope::Scope;
use toolroom_host::environment;

use super::completions;
use super::console::exit::{Exit, Missing, Usage};
use super::console::output::{BOLD, DIM, Output, one_line, short_id, style_of, table, visible};
use super::console::time::{elapsed, local_time, parse_since, parse_span};
use crate::app::App;
use crate::documents::offer_told;
use crate::retention::counted_by_rates;
use toolroom::schema::plain;

/// Fits on one screen.
const DEFAULT_LINES: u32 = 20;

/// Column width of arguments and results.
const SUMMARY_CHARS: usize = 48;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct LogArgs {
    #[command(subcommand)]
    command: Option<LogCommand>,
    /// Show one call: its id, the ending of the id, or `last`
    call: Option<String>,
    /// Only calls of this tool
    #[arg(long, add = completions::tools())]
    tool: Option<String>,
    /// Only calls with this status
    #[arg(long, value_parser = status_names())]
    status: Option<String>,
    /// Only calls of this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Only calls since: 2h, 7d, 2026-11-15 or 2026-11-15T12:00
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Maximum number to list
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LINES)]
    limit: u32,
}

#[derive(Subcommand)]
enum LogCommand {
    /// Delete old calls and their results
    Prune {
        /// Delete closed calls older than this, e.g. 30d
        #[arg(long, value_name = "SPAN", value_parser = parse_span)]
        older_than: Duration,
        /// Only show what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
}

fn status_names() -> clap::builder::PossibleValuesParser {
    CallStatus::ALL.map(CallStatus::as_str).into()
}

pub(super) async fn run(app: &App, scope: Scope, args: LogArgs, output: &Output) -> anyhow::Result<Exit> {
    let zone = environment::time_zone();
    if let Some(LogCommand::Prune { older_than, dry_run }) = args.command {
        let now = app.room.clock().now();
        return prune(app, &scope, now, older_than, dry_run, output).await;
    }
    let since = args
        .since
        .map(|text| parse_since(&text, app.room.clock().now(), &zone))
        .transpose()
        .map_err(Usage)?;
    // A tool that no longer exists may still have calls; its name is then matched literally.
    let tool = args.tool.map(|name| match app.room.catalog().find(&scope.project, &name) {
        Ok(entry) => entry.spec().id.to_string(),
        Err(_) => name,
    });
    let status = args.status.as_deref().and_then(CallStatus::from_name);
    let (run, limit) = (args.run, Some(args.limit));
    let filter = CallFilter { tool, status, since, run, limit, ..CallFilter::default() };
    if let Some(call) = &args.call {
        let record = find(app, &scope, call, filter).await?;
        return show(&record, &zone, output);
    }
    let filtered = filter != CallFilter { limit: filter.limit, ..CallFilter::default() } || args.limit == 0;
    let records = app.store.calls(&scope, filter).await?;
    if output.is_json() {
        output.document(&records)?;
    } else if records.is_empty() {
        output.talk(match filtered {
            true => "No matching calls",
            false => "No calls yet; try: toolroom call calculator expression='2 + 2 * 3'",
        });
    } else {
        let rows: Vec<Vec<String>> = records.iter().map(|record| line(record, &zone)).collect();
        output.data(&table(&rows))?;
    }
    Ok(Exit::Done)
}

async fn find(app: &App, scope: &Scope, name: &str, filter: CallFilter) -> anyhow::Result<CallRecord> {
    let found = named(app, scope, name, filter).await?;
    Ok(found.ok_or_else(|| Missing(format!("no call `{name}`; see `toolroom log`")))?)
}

/// Finds a call by id, by the ending of its id, or as the `last` one that matches `filter`.
pub(super) async fn named(
    app: &App,
    scope: &Scope,
    name: &str,
    filter: CallFilter,
) -> anyhow::Result<Option<CallRecord>> {
    // An empty name, likely an unset shell variable, would match every id.
    if name.is_empty() {
        return Err(Usage("the call id is empty; give an id, its ending, or `last`".to_owned()).into());
    }
    if let Some(record) = app.store.call(scope, &CallId::new(name)).await? {
        return Ok(Some(record));
    }
    let filter = match name {
        "last" => CallFilter { limit: Some(1), ..filter },
        _ => CallFilter { id_suffix: Some(name.to_owned()), limit: Some(2), ..filter },
    };
    let mut found = app.store.calls(scope, filter).await?;
    match (found.pop(), found.pop()) {
        (Some(_), Some(_)) => {
            Err(Usage(format!("several call ids end in `{name}`; give more of the id")).into())
        }
        (only, _) => Ok(only),
    }
}

fn line(record: &CallRecord, zone: &TimeZone) -> Vec<String> {
    let style = style_of(record.status);
    let summary = match (&record.error, &record.result) {
        (Some(error), _) => error.clone(),
        (None, Some(result)) => plain(result),
        (None, None) => String::new(),
    };
    vec![
        format!("{DIM}{}{DIM:#}", local_time(record.asked_at, zone, "%m-%d %H:%M:%S")),
        short_id(&record.id),
        format!("{style}{}{style:#}", record.status),
        format!("{BOLD}{}{BOLD:#}", one_line(&record.tool, SUMMARY_CHARS)),
        took(record),
        one_line(&plain(&record.arguments), SUMMARY_CHARS),
        one_line(&summary, SUMMARY_CHARS),
    ]
}

fn took(record: &CallRecord) -> String {
    match record.ended_at {
        None => String::new(),
        Some(_) => elapsed(record.duration_us),
    }
}

fn show(record: &CallRecord, zone: &TimeZone, output: &Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(record)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    let mut line =
        |name: &str, value: &str| text.push_str(&format!("{DIM}{name:<11}{DIM:#}{}\n", visible(value)));
    line("call", record.id.as_str());
    line("tool", &record.tool);
    line(
        "status",
        &format!("{}{}", record.status, record.kind.map(|kind| format!(" ({kind})")).unwrap_or_default()),
    );
    line("requested", &local_time(record.asked_at, zone, "%Y-%m-%d %H:%M:%S%.3f %Z"));
    line("took", &took(record));
    line("entrance", &record.entrance);
    for (name, value) in [
        ("rule", record.rule.as_deref()),
        ("run", record.run.as_deref()),
        ("thread", record.thread.as_deref()),
        ("message", record.message.as_deref()),
        ("error", record.error.as_deref()),
        ("cause", record.detail.as_deref()),
    ] {
        if let Some(value) = value {
            line(name, value);
        }
    }
    line("arguments", &serde_json::to_string_pretty(&record.arguments)?);
    if let Some(result) = &record.result {
        let result = result
            .as_str()
            .map_or_else(|| serde_json::to_string_pretty(result), |text| Ok(text.to_owned()))?;
        line("result", &result);
    }
    for offer in &record.offers {
        let save =
            offer.file().map(|file| format!(" (save with: toolroom artifacts save {})", file.artifact));
        line("offers", &format!("{}{}", offer_told(offer), save.unwrap_or_default()));
    }
    if let Some(artifact) = &record.artifact {
        line("artifact", &format!("{artifact} (full result: toolroom call result_read artifact={artifact})"));
    }
    output.data(text.trim_end())?;
    Ok(Exit::Done)
}

async fn prune(
    app: &App,
    scope: &Scope,
    now: Timestamp,
    older_than: Duration,
    dry_run: bool,
    output: &Output,
) -> anyhow::Result<Exit> {
    let (project, before) = (&scope.project, now.before(older_than));
    let counted = counted_by_rates(app.room.catalog(), project, now);
    let report = match dry_run {
        true => app.store.prune_preview(project, before, &counted, Timestamp::from_micros(0)).await?,
        false => app.store.prune(project, before, &counted).await?,
    };
    if output.is_json() {
        let (calls, artifacts, bytes) = (report.calls, report.artifacts, report.bytes);
        let document =
            serde_json::json!({"dry_run": dry_run, "calls": calls, "artifacts": artifacts, "bytes": bytes});
        output.document(&document)?;
    } else {
        let verb = if dry_run { "Would delete" } else { "Deleted" };
        let count =
            |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let (calls, results) = (count(report.calls, "call"), count(report.artifacts, "stored result"));
        output.talk(format_args!("{verb} {calls} and {results}"));
    }
    Ok(Exit::Done)
}
