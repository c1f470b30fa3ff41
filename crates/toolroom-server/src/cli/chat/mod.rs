//! `toolroom chat`: one message, or an interactive chat.

mod canvas;
mod card;
mod history;
mod interrupt;
mod line_start;
mod markdown;
mod message;
mod renderer;
mod report;
mod session;
mod slash_command;
mod turn;

pub(super) use canvas::DisplayMode;
pub(super) use card::CallCard;
pub(super) use interrupt::RunInterrupt;
pub(super) use turn::{Turn, exit_of};

use std::path::PathBuf;

use clap::Args;
use message::{ignores_stdin, message, message_text};
use report::{ChatOutput, remedy};
use session::Session;
use toolroom::agent::RunReport;
use toolroom::conversation::{ConversationId, RunState};
use toolroom::scope::Scope;
use toolroom_host::terminal::Terminal;
use toolroom_models::vendor::ModelName;

use super::approvals::resolve::ApprovalMode;
use super::call::arguments::context;
use super::console::exit::{Exit, Missing, Usage, is_broken_pipe};
use super::console::output::{Output, escape_controls};
use super::conversations::{self, newest};
use crate::agents::{self, AgentChoice, OpenAgentError, OpenedAgent};
use crate::app::App;

const EXAMPLES: &str = "\
Examples:
  toolroom chat                                    start an interactive chat
  toolroom chat 'what is 17*23?'                   ask one question
  git diff | toolroom chat 'what changes here?' -  - adds standard input
  git log -5 | toolroom chat                       send standard input
  toolroom chat --continue 'and times 2?'          continue the last conversation
  toolroom chat --model ollama/qwen3 'hi' --json

Exit codes: 0 answered, 1 no answer, 2 wrong usage, 3 refused, 4 a call needs
approval, 5 not found, 130 interrupted or stopped at the prompt";

const NO_CONVERSATION: &str = "no conversation to continue yet; leave out `--continue` to start one";

#[derive(Args, Default)]
#[command(after_help = EXAMPLES)]
pub(super) struct ChatArgs {
    /// Message to send; - adds standard input [default: start an interactive chat, or send standard input]
    message: Vec<String>,
    /// Model to use, as vendor/model (repeatable: later ones are fallbacks)
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
    /// Agent to chat with
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Continue the last conversation, or the one with this id or id ending
    #[arg(long = "continue", value_name = "ID", num_args = 0..=1, require_equals = true)]
    continue_with: Option<Option<String>>,
    /// Runtime context for tools that need it (key=value or key:=JSON; repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    context: Vec<String>,
    /// Attach an image: PNG, JPEG, GIF or WebP (repeatable)
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    #[command(flatten)]
    output_args: OutputArgs,
}

#[derive(Args, Default, Clone, Copy)]
struct OutputArgs {
    /// Print events as JSON, one per line
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
    /// Print plain text, without colors and animation
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    approval: ApprovalArgs,
}

#[derive(Args, Default, Clone, Copy)]
struct ApprovalArgs {
    /// Approve once, as the caller, any call that needs approval
    #[arg(long)]
    yes: bool,
    /// Never prompt on the terminal
    #[arg(long)]
    no_input: bool,
}

impl ChatArgs {
    fn choice(&self) -> Result<AgentChoice, Usage> {
        let parse = |name: &String| {
            name.parse::<ModelName>()
                .map_err(|error| Usage(format!("--model: {error}; see `toolroom models`")))
        };
        let models = self.model.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(AgentChoice { agent: self.agent.clone(), models, by_owner: true, last_model: None })
    }
}

impl OutputArgs {
    fn approval_mode(self) -> ApprovalMode {
        match (self.approval.yes, self.approval.no_input || self.jsonl) {
            (true, _) => ApprovalMode::Yes,
            (false, true) => ApprovalMode::Silent,
            (false, false) => ApprovalMode::Ask,
        }
    }
}

pub(super) async fn run(app: &App, scope: Scope, args: ChatArgs, output: &Output) -> anyhow::Result<Exit> {
    let choice = args.choice()?;
    let output_args = args.output_args;
    let is_interactive = args.message.is_empty()
        && !output_args.jsonl
        && !output_args.approval.no_input
        && !output.is_json()
        && Terminal::open().is_some();
    let text = if is_interactive { None } else { Some(message_text(&args.message)?.ok_or_else(no_message)?) };
    if text.is_some() && ignores_stdin(&args.message) {
        output.hint("standard input was not read; add `-` after the message to include it");
    }
    let context = context(&args.context)?;
    let first = text.map(|text| message(text, &args.image)).transpose()?;
    let opened = open(app, &scope, &choice, *output).await?;
    let conversation = conversation(app, &scope, args.continue_with.as_ref()).await?;
    let interrupt = RunInterrupt::install()?;
    let mode = DisplayMode::new(output.is_json(), output_args.jsonl, output_args.plain);
    let turn = Turn {
        app,
        scope: &scope,
        mode,
        is_plain: output_args.plain,
        is_interactive,
        approval_mode: output_args.approval_mode(),
        context,
        interrupt: &interrupt,
        output: *output,
    };
    let Some(first) = first else {
        return Session::new(turn, choice, opened, conversation, args.image).await?.run().await;
    };
    if opened.models.is_empty() {
        return Err(Usage(no_model()).into());
    }
    let report = turn.send(&opened.agent, first, conversation).await;
    let report = match report {
        // The run finished, but its reader closed the pipe.
        Err(error) if is_broken_pipe(&error) => return Ok(Exit::Done),
        report => report?,
    };
    interrupt.end_on_next_signal();
    finish(app, &scope, &report, mode, *output).await
}

/// Prints what was not displayed during the run, and how the run ended.
pub(super) async fn finish(
    app: &App,
    scope: &Scope,
    report: &RunReport,
    mode: DisplayMode,
    output: Output,
) -> anyhow::Result<Exit> {
    match mode {
        DisplayMode::Document => {
            let events = agents::conversations(app).events(scope, &report.run.id, 0).await?;
            output.document(&ChatOutput::new(report, &events))?;
        }
        DisplayMode::Answer if !report.text.is_empty() => output.result(&report.text.as_str().into())?,
        DisplayMode::Answer | DisplayMode::Styled | DisplayMode::Plain | DisplayMode::Events => {}
    }
    print_end(report, mode, output);
    Ok(exit_of(report))
}

/// Prints why a run ended without an answer.
pub(super) fn print_end(report: &RunReport, mode: DisplayMode, output: Output) {
    if matches!(mode, DisplayMode::Document | DisplayMode::Events) {
        return;
    }
    let run = &report.run.id;
    match report.run.state {
        RunState::Failed => {
            let failure = report.run.failure.as_ref();
            let why = failure.map_or("no answer", |failure| &failure.message);
            output.failure(why, failure.and_then(remedy), None);
        }
        RunState::Waiting => {
            output.hint(&format!("after the approval, continue with `toolroom runs resume {run}`"));
        }
        RunState::Cancelled => output.talk("Stopped; the conversation is kept"),
        RunState::Done | RunState::Running => {}
    }
}

fn no_message() -> Usage {
    Usage("no message given; try `toolroom chat 'what is 17*23?'`, or pipe in a message".to_owned())
}

/// No model is configured, and how to connect one.
pub(super) fn no_model() -> String {
    format!("no model available: {}", how_to_connect())
}

pub(super) const fn how_to_connect() -> &'static str {
    "set a key such as OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or OLLAMA_HOST for a local model; \
     `toolroom models list --all` shows all vendors"
}

pub(super) async fn open(
    app: &App,
    scope: &Scope,
    choice: &AgentChoice,
    output: Output,
) -> anyhow::Result<OpenedAgent> {
    let opened = agents::open(app, scope, choice).await.map_err(|error| match error {
        OpenAgentError::NotFound { .. } => Missing(error.to_string()).into(),
        OpenAgentError::Model(_) | OpenAgentError::Name { .. } => {
            Usage(format!("{:#}", anyhow::Error::from(error))).into()
        }
        error => anyhow::Error::from(error),
    })?;
    for warning in &opened.skipped_models {
        output.warning(warning);
    }
    Ok(opened)
}

/// The conversation given by `--continue`.
async fn conversation(
    app: &App,
    scope: &Scope,
    requested: Option<&Option<String>>,
) -> anyhow::Result<Option<ConversationId>> {
    match requested {
        None => Ok(None),
        Some(Some(name)) => Ok(Some(conversations::find(app, scope, name).await?.id)),
        Some(None) => {
            let last = newest(app, scope).await?;
            let last = last.ok_or_else(|| Missing(NO_CONVERSATION.to_owned()))?;
            Ok(Some(last.id))
        }
    }
}

/// An untrusted title on one line.
pub(super) fn one_line_title(title: &str) -> String {
    escape_controls(title).replace('\n', " ")
}
