//! `toolroom approvals`: lists and answers calls that wait for approval. Records answers and runs nothing.

mod answer;
mod prompt;
pub(super) mod question_view;
pub(super) mod resolve;
pub(super) mod standing_answer;
mod watch;

use answer::{OperatorAnswer, edit, record};
use clap::{Args, Subcommand};
use question_view::approver;
use serde_json::Value;
use toolroom::approval::QuestionDetails;
use toolroom::clock::Timestamp;
use toolroom::ledger::{Answer, CallFilter, CallStatus, OpenQuestions, Question, QuestionState};
use toolroom::schema::plain;
use toolroom::scope::Scope;
use toolroom_host::environment;
use watch::WatchMode;

use super::console::exit::{Exit, Missing};
use super::console::output::{BOLD, DIM, Output, one_line, short_id, single_line, table, visible};
use super::console::time::{local_time, remaining};
use super::log::named;
use crate::app::App;
use crate::documents::{ListedQuestion, QuestionDocument, state, why_unreadable};

const EXAMPLES: &str = "\
Examples:
  toolroom approvals                                 list waiting calls
  toolroom approvals show last                       show the exact arguments
  toolroom approvals approve 1f3a9c2e                then: toolroom call --resume 1f3a9c2e
  toolroom approvals approve 1f3a9c2e --always --when \"args.path == '/tmp/notes.txt'\"
  toolroom approvals approve 1f3a9c2e --edit '{\"path\": \"/tmp/notes.txt\", \"text\": \"hello\"}'
  toolroom approvals deny 1f3a9c2e --never";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ApprovalsArgs {
    #[command(subcommand)]
    command: Option<ApprovalsCommand>,
}

#[derive(Subcommand)]
enum ApprovalsCommand {
    /// List calls that wait for approval
    List,
    /// Show a waiting call with its exact arguments
    Show {
        /// Call id, its ending, or `last`
        id: String,
    },
    /// Approve a call
    Approve {
        /// Call id, its ending, or `last`
        id: String,
        #[command(flatten)]
        yes: ApproveArgs,
    },
    /// Deny a call
    Deny {
        /// Call id, its ending, or `last`
        id: String,
        #[command(flatten)]
        no: DenyArgs,
    },
    /// Show new requests and answers until interrupted
    Watch {
        /// Answer each request on this terminal
        #[arg(long)]
        answer: bool,
    },
}

#[derive(Args)]
struct ApproveArgs {
    /// Also approve later calls of this tool in this conversation
    #[arg(long, conflicts_with_all = ["always", "edit"])]
    session: bool,
    /// Also approve every later call of this tool
    #[arg(long, conflicts_with = "edit")]
    always: bool,
    /// Limit to later calls that match a condition, e.g. "args.path == '/tmp/x'"
    #[arg(long, value_name = "CONDITION", conflicts_with = "edit")]
    when: Option<String>,
    /// Run the call with these arguments instead: a JSON object, or - for stdin
    #[arg(long, value_name = "JSON")]
    edit: Option<String>,
}

#[derive(Args)]
struct DenyArgs {
    /// Also deny every later call of this tool
    #[arg(long)]
    never: bool,
    /// Limit to later calls that match a condition, e.g. "args.path == '/tmp/x'"
    #[arg(long, value_name = "CONDITION", requires = "never")]
    when: Option<String>,
    /// Also cancel the run the call belongs to
    #[arg(long, conflicts_with = "never")]
    stop: bool,
}

pub(super) async fn run(
    app: &App,
    scope: Scope,
    args: ApprovalsArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    match args.command {
        None | Some(ApprovalsCommand::List) => list(app, &scope, *output).await,
        Some(ApprovalsCommand::Show { id }) => show(app, &scope, &id, *output).await,
        Some(ApprovalsCommand::Approve { id, yes: ApproveArgs { edit: Some(json), .. } }) => {
            edit(app, &scope, &id, &json, *output).await
        }
        Some(ApprovalsCommand::Approve { id, yes }) => {
            let answer = match (yes.session, yes.always) {
                (true, _) => Answer::Session,
                (_, true) => Answer::Always,
                (false, false) => Answer::Once,
            };
            record(app, &scope, &id, OperatorAnswer { answer, when: yes.when }, *output).await
        }
        Some(ApprovalsCommand::Deny { id, no }) => {
            let answer = match (no.never, no.stop) {
                (true, _) => Answer::Never,
                (_, true) => Answer::Stop,
                (false, false) => Answer::No,
            };
            record(app, &scope, &id, OperatorAnswer { answer, when: no.when }, *output).await
        }
        Some(ApprovalsCommand::Watch { answer }) => {
            let mode = if answer { WatchMode::Answer } else { WatchMode::Show };
            watch::run(app, &scope, mode, *output).await
        }
    }
}

async fn list(app: &App, scope: &Scope, output: Output) -> anyhow::Result<Exit> {
    let now = app.room.clock().now();
    let OpenQuestions { questions, unreadable } = app.room.approvals().questions(scope).await?;
    let open: Vec<Question> = questions.into_iter().filter(|question| !question.is_late(now)).collect();
    if output.is_json() {
        let readable = open.iter().map(|question| ListedQuestion::of(question, now));
        let documents: Vec<ListedQuestion> =
            readable.chain(unreadable.iter().map(ListedQuestion::unreadable)).collect();
        output.document(&documents)?;
        return Ok(Exit::Done);
    }
    if open.is_empty() && unreadable.is_empty() {
        output.talk("No calls are waiting for approval");
    } else if !open.is_empty() {
        let rows: Vec<Vec<String>> = open.iter().map(|question| question_columns(question, now)).collect();
        output.data(&table(&rows))?;
        let any = |state| open.iter().any(|question| question.state == state);
        if any(QuestionState::Waiting) {
            output.talk("Answer with `toolroom approvals approve ID` or `toolroom approvals deny ID`");
        }
        if any(QuestionState::Granted) {
            output.talk("Run approved calls with `toolroom call --resume ID`");
        }
    }
    for unreadable in &unreadable {
        output.error(&why_unreadable(unreadable));
    }
    Ok(Exit::Done)
}

async fn show(app: &App, scope: &Scope, name: &str, output: Output) -> anyhow::Result<Exit> {
    let question = find_question(app, scope, name).await?;
    let now = app.room.clock().now();
    let Some(QuestionDetails { question, arguments, .. }) =
        app.room.question_details(scope, &question.record.id).await?
    else {
        return Err(Missing(format!("`{name}` no longer exists")).into());
    };
    if output.is_json() {
        let mut document = QuestionDocument::of(&question, now);
        if let Some(arguments) = arguments {
            document.arguments = Value::Object(arguments);
        }
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let zone = environment::time_zone();
    let mut text = String::new();
    let mut line =
        |name: &str, value: &str| text.push_str(&format!("{DIM}{name:<11}{DIM:#}{}\n", single_line(value)));
    line("call", question.record.id.as_str());
    line("tool", &question.record.tool);
    line("state", state(&question, now).as_str());
    if let (Some(answer), Some(by)) = (question.answer, question.answered_by) {
        line("answer", &format!("{} by the {}", answer.as_str(), by.as_str()));
    }
    if let Some(by) = &question.replaced_by {
        line("edited", &format!("replaced by {by}"));
    }
    line("reason", &question.approval.reason);
    line("rule", question.record.rule.as_deref().unwrap_or_default());
    line("approver", approver(question.approval.by));
    line("entrance", &question.record.entrance);
    line("expires", &local_time(question.approval.expires_at, &zone, "%Y-%m-%d %H:%M:%S %Z"));
    let (arguments, note) = match arguments {
        Some(arguments) => (serde_json::to_string_pretty(&arguments)?, ""),
        None => {
            let kept = serde_json::to_string_pretty(&question.record.arguments)?;
            (kept, "\n(redacted; the exact arguments are no longer stored)")
        }
    };
    text.push_str(&format!("{DIM}{:<11}{DIM:#}{}{note}", "arguments", visible(&arguments)));
    output.data(&text)?;
    Ok(Exit::Done)
}

/// Column width of arguments.
const SUMMARY_CHARS: usize = 48;

/// Finds a question by call id, by the ending of the id, or as the `last` one that is still waiting.
pub(crate) async fn find_question(app: &App, scope: &Scope, name: &str) -> anyhow::Result<Question> {
    let status = (name == "last").then_some(CallStatus::Pending);
    let question = match named(app, scope, name, CallFilter { status, ..CallFilter::default() }).await? {
        Some(call) => app.room.approvals().question(scope, &call.id).await?,
        None => None,
    };
    let missing = || match name {
        "last" => {
            Missing("no calls are waiting for approval; see `toolroom log` for earlier ones".to_owned())
        }
        _ => Missing(format!("no waiting call `{name}`; see `toolroom approvals`")),
    };
    Ok(question.ok_or_else(missing)?)
}

/// The row of a question in a list.
pub(crate) fn question_columns(question: &Question, now: Timestamp) -> Vec<String> {
    let record = &question.record;
    let (state, by) = (state(question, now), question.approval.by.as_str());
    let status = match state {
        QuestionState::Waiting | QuestionState::Granted => {
            format!("{} left, {by}", remaining(question.approval.expires_at.since(now)))
        }
        QuestionState::Used | QuestionState::Refused | QuestionState::Expired | QuestionState::Void => {
            by.to_owned()
        }
    };
    vec![
        short_id(&record.id),
        format!("{BOLD}{}{BOLD:#}", one_line(&record.tool, SUMMARY_CHARS)),
        state.as_str().to_owned(),
        format!("{DIM}{status}{DIM:#}"),
        one_line(&plain(&record.arguments), SUMMARY_CHARS),
        one_line(&question.approval.reason, SUMMARY_CHARS),
    ]
}
