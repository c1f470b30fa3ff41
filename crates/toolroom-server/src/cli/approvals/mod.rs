//! `toolroom approvals`: what waits for a person, and the answers. It records answers and runs nothing.

mod answer;
mod prompt;
pub(super) mod question_view;
pub(super) mod resolve;
pub(super) mod standing_answer;
mod watch;

use answer::{Said, edit, give};
use clap::{Args, Subcommand};
use question_view::who;
use serde_json::Value;
use toolroom::approval::QuestionDetails;
use toolroom::clock::Timestamp;
use toolroom::ledger::{Answer, CallFilter, CallStatus, OpenQuestions, Question, QuestionState};
use toolroom::schema::plain;
use toolroom::scope::Scope;
use toolroom_host::environment;
use watch::Watching;

use super::console::exit::{Exit, Missing};
use super::console::output::{BOLD, DIM, Output, one_line, short_id, single_line, table, visible};
use super::console::time::{local_time, remaining};
use super::log::named;
use crate::app::App;
use crate::documents::{ListedQuestion, QuestionDocument, state, why_unreadable};

const EXAMPLES: &str = "\
Examples:
  toolroom approvals                                 what waits
  toolroom approvals show last                       the exact arguments
  toolroom approvals approve 1f3a9c2e                then: toolroom call --resume 1f3a9c2e
  toolroom approvals approve 1f3a9c2e --always --when \"args.path == '/tmp/notes.txt'\"
  toolroom approvals approve 1f3a9c2e --edit '{\"path\": \"/tmp/notes.txt\", \"text\": \"hello\"}'
  toolroom approvals deny 1f3a9c2e --never";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ApprovalsArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// List what waits for an answer
    List,
    /// Show one question with the exact arguments
    Show {
        /// The call's id, the end of it, or `last`
        id: String,
    },
    /// Say yes
    Approve {
        /// The call's id, the end of it, or `last`
        id: String,
        #[command(flatten)]
        yes: Yes,
    },
    /// Say no
    Deny {
        /// The call's id, the end of it, or `last`
        id: String,
        #[command(flatten)]
        no: No,
    },
    /// Show questions and answers as they come, until interrupted
    Watch {
        /// Ask about each of them here, on the terminal
        #[arg(long)]
        answer: bool,
    },
}

#[derive(Args)]
struct Yes {
    /// Also for the rest of this conversation
    #[arg(long, conflicts_with_all = ["always", "edit"])]
    session: bool,
    /// Also for every later call of this tool
    #[arg(long, conflicts_with = "edit")]
    always: bool,
    /// Which later calls: a condition such as "args.path == '/tmp/x'"
    #[arg(long, value_name = "CONDITION", conflicts_with = "edit")]
    when: Option<String>,
    /// Run it with these arguments instead: a JSON object, or - for stdin
    #[arg(long, value_name = "JSON")]
    edit: Option<String>,
}

#[derive(Args)]
struct No {
    /// Also for every later call of this tool
    #[arg(long)]
    never: bool,
    /// Which later calls: a condition such as "args.path == '/tmp/x'"
    #[arg(long, value_name = "CONDITION", requires = "never")]
    when: Option<String>,
    /// End the run the call belongs to
    #[arg(long, conflicts_with = "never")]
    stop: bool,
}

pub(super) async fn run(
    app: &App,
    scope: Scope,
    args: ApprovalsArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    match args.action {
        None | Some(Action::List) => list(app, &scope, *output).await,
        Some(Action::Show { id }) => show(app, &scope, &id, *output).await,
        Some(Action::Approve { id, yes: Yes { edit: Some(json), .. } }) => {
            edit(app, &scope, &id, &json, *output).await
        }
        Some(Action::Approve { id, yes }) => {
            let answer = match (yes.session, yes.always) {
                (true, _) => Answer::Session,
                (_, true) => Answer::Always,
                (false, false) => Answer::Once,
            };
            give(app, &scope, &id, Said { answer, when: yes.when }, *output).await
        }
        Some(Action::Deny { id, no }) => {
            let answer = match (no.never, no.stop) {
                (true, _) => Answer::Never,
                (_, true) => Answer::Stop,
                (false, false) => Answer::No,
            };
            give(app, &scope, &id, Said { answer, when: no.when }, *output).await
        }
        Some(Action::Watch { answer }) => {
            let watching = if answer { Watching::Ask } else { Watching::Tell };
            watch::run(app, &scope, watching, *output).await
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
        output.talk("nothing waits for an answer");
    } else if !open.is_empty() {
        let rows: Vec<Vec<String>> = open.iter().map(|question| question_columns(question, now)).collect();
        output.data(&table(&rows))?;
        let any = |wanted| open.iter().any(|question| question.state == wanted);
        if any(QuestionState::Waiting) {
            output.talk("answer with `toolroom approvals approve ID` or `toolroom approvals deny ID`");
        }
        if any(QuestionState::Granted) {
            output.talk("run what is granted with `toolroom call --resume ID`");
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
        return Err(Missing(format!("`{name}` is gone")).into());
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
        line("edited", &format!("{by} takes its place"));
    }
    line("why asked", &question.approval.reason);
    line("rule", question.record.rule.as_deref().unwrap_or_default());
    line("may answer", who(question.approval.by));
    line("asked by", &question.record.entrance);
    line("expires", &local_time(question.approval.expires_at, &zone, "%Y-%m-%d %H:%M:%S %Z"));
    let (arguments, note) = match arguments {
        Some(arguments) => (serde_json::to_string_pretty(&arguments)?, ""),
        None => {
            let kept = serde_json::to_string_pretty(&question.record.arguments)?;
            (kept, "\n(as the journal keeps them; the exact ones are gone)")
        }
    };
    text.push_str(&format!("{DIM}{:<11}{DIM:#}{}{note}", "arguments", visible(&arguments)));
    output.data(&text)?;
    Ok(Exit::Done)
}

/// Room for arguments beside the other columns.
const SUMMARY_CHARS: usize = 48;

/// A question by its call's id, by the end of it, or that of the newest call which is still parked.
pub(crate) async fn find_question(app: &App, scope: &Scope, name: &str) -> anyhow::Result<Question> {
    let status = (name == "last").then_some(CallStatus::Pending);
    let question = match named(app, scope, name, CallFilter { status, ..CallFilter::default() }).await? {
        Some(call) => app.room.approvals().question(scope, &call.id).await?,
        None => None,
    };
    let missing = || match name {
        "last" => Missing("no call is parked; what became of earlier ones is in `toolroom log`".to_owned()),
        _ => Missing(format!("no call was parked under `{name}`; see `toolroom approvals`")),
    };
    Ok(question.ok_or_else(missing)?)
}

/// The columns of a listing.
pub(crate) fn question_columns(question: &Question, now: Timestamp) -> Vec<String> {
    let record = &question.record;
    let (state, by) = (state(question, now), question.approval.by.as_str());
    let who = match state {
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
        format!("{DIM}{who}{DIM:#}"),
        one_line(&plain(&record.arguments), SUMMARY_CHARS),
        one_line(&question.approval.reason, SUMMARY_CHARS),
    ]
}
