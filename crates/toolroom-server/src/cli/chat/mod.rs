//! `toolroom chat`: a message and its answer, or a conversation at the terminal.

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

pub(super) use canvas::Look;
pub(super) use card::Card;
pub(super) use interrupt::Hand;
pub(super) use turn::{Turn, exit_of};

use std::path::PathBuf;

use clap::Args;
use message::{is_unread, message, words};
use report::{Document, remedy};
use session::Session;
use toolroom::agent::RunReport;
use toolroom::conversation::{ConversationId, RunState};
use toolroom::scope::Scope;
use toolroom_host::terminal::Terminal;
use toolroom_models::vendor::ModelName;

use super::approvals::resolve::Beforehand;
use super::call::arguments::context;
use super::console::exit::{Exit, Missing, Usage, is_broken_pipe};
use super::console::output::{Output, harmless};
use super::conversations;
use super::conversations::newest;
use crate::agents::{self, Choice, OpenAgentError, Opened};
use crate::app::App;

const EXAMPLES: &str = "\
Examples:
  toolroom chat                                    talk; /help says more
  toolroom chat 'what is 17*23?'                   one answer
  git diff | toolroom chat 'what changes here?' -  the dash adds what is piped
  git log -5 | toolroom chat                       what is piped is the message
  toolroom chat --continue 'and times 2?'          go on in the last one
  toolroom chat --model ollama/qwen3 'hi' --json

Exit codes: 0 answered, 1 no answer, 2 wrong usage, 3 refused, 4 a call needs
approval, 5 not found, 130 stopped, by a signal or by the answer \"stop\"";

const NOTHING_SAID: &str = "there is no conversation to go on with yet; leave out `--continue` to begin one";

#[derive(Args, Default)]
#[command(after_help = EXAMPLES)]
pub(super) struct ChatArgs {
    /// What to say; - adds standard input. Without it, a conversation at the terminal, or all of standard input
    message: Vec<String>,
    /// The model to ask, as vendor/model (repeatable: the next one is asked when one fails)
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
    /// The agent that answers
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Go on in the last conversation, or in this one: its id or the end of it
    #[arg(long = "continue", value_name = "ID", num_args = 0..=1, require_equals = true)]
    go_on: Option<Option<String>>,
    /// Facts about you for tools that need them (key=value or key:=JSON; repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    context: Vec<String>,
    /// Show a picture: PNG, JPEG, GIF or WebP (repeatable)
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    #[command(flatten)]
    watching: Watching,
}

/// How it is watched, and who is asked.
#[derive(Args, Default, Clone, Copy)]
struct Watching {
    /// Print what happens as JSON, one event a line
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
    /// Text as it is, without colours and without anything that moves
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    asked: AskedArgs,
}

/// What to do if a call has to be approved.
#[derive(Args, Default, Clone, Copy)]
struct AskedArgs {
    /// If a call has to be approved, answer "once" for its caller
    #[arg(long)]
    yes: bool,
    /// Never ask on the terminal
    #[arg(long)]
    no_input: bool,
}

impl ChatArgs {
    fn choice(&self) -> Result<Choice, Usage> {
        let parse = |name: &String| {
            name.parse::<ModelName>()
                .map_err(|error| Usage(format!("--model: {error}; see `toolroom models`")))
        };
        let models = self.model.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Choice { agent: self.agent.clone(), models, by_owner: true, so_far: None })
    }
}

impl Watching {
    fn beforehand(self) -> Beforehand {
        match (self.asked.yes, self.asked.no_input || self.jsonl) {
            (true, _) => Beforehand::Yes,
            (false, true) => Beforehand::Silent,
            (false, false) => Beforehand::Ask,
        }
    }
}

pub(super) async fn run(app: &App, scope: Scope, args: ChatArgs, output: &Output) -> anyhow::Result<Exit> {
    let choice = args.choice()?;
    let watching = args.watching;
    let is_talk = args.message.is_empty()
        && !watching.jsonl
        && !watching.asked.no_input
        && !output.is_json()
        && Terminal::open().is_some();
    let said = if is_talk { None } else { Some(words(&args.message)?.ok_or_else(nothing_said)?) };
    if said.is_some() && is_unread(&args.message) {
        output.hint("standard input was not read; a dash behind the message adds it");
    }
    let context = context(&args.context)?;
    let first = said.map(|said| message(said, &args.image)).transpose()?;
    let opened = open(app, &scope, &choice, *output).await?;
    let conversation = conversation(app, &scope, args.go_on.as_ref()).await?;
    let hand = Hand::take()?;
    let look = Look::of(output.is_json(), watching.jsonl, watching.plain);
    let turn = Turn {
        app,
        scope: &scope,
        look,
        is_plain: watching.plain,
        is_talk,
        beforehand: watching.beforehand(),
        context,
        hand: &hand,
        output: *output,
    };
    let Some(first) = first else {
        return Session::new(turn, choice, opened, conversation, args.image).await?.run().await;
    };
    if opened.models.is_empty() {
        return Err(Usage(no_model()).into());
    }
    let report = turn.say(&opened.agent, first, conversation).await;
    let report = match report {
        // Nobody reads any more; what was begun has come to its end all the same.
        Err(error) if is_broken_pipe(&error) => return Ok(Exit::Done),
        report => report?,
    };
    hand.put_down();
    finish(app, &scope, &report, look, *output).await
}

/// Prints what a watcher has not seen yet, and how it ended.
pub(super) async fn finish(
    app: &App,
    scope: &Scope,
    report: &RunReport,
    look: Look,
    output: Output,
) -> anyhow::Result<Exit> {
    match look {
        Look::Document => {
            let events = agents::conversations(app).events(scope, &report.run.id, 0).await?;
            output.document(&Document::of(report, &events))?;
        }
        Look::Answer if !report.text.is_empty() => output.result(&report.text.as_str().into())?,
        Look::Answer | Look::Styled | Look::Plain | Look::Events => {}
    }
    tell_end(report, look, output);
    Ok(exit_of(report))
}

/// Says why there is no answer, where that is not clear already.
pub(super) fn tell_end(report: &RunReport, look: Look, output: Output) {
    if matches!(look, Look::Document | Look::Events) {
        return;
    }
    let run = &report.run.id;
    match report.run.state {
        RunState::Failed => {
            let failure = report.run.failure.as_ref();
            let why = failure.map_or("there is no answer", |failure| &failure.message);
            output.failure(why, failure.and_then(remedy), None);
        }
        RunState::Waiting => {
            output.hint(&format!("once that is answered, `toolroom runs resume {run}` goes on"));
        }
        RunState::Cancelled => output.talk("stopped; the conversation is kept"),
        RunState::Done | RunState::Running => {}
    }
}

fn nothing_said() -> Usage {
    Usage("say something: `toolroom chat 'what is 17*23?'`, or pipe it in".to_owned())
}

/// What to do about having nobody to ask.
pub(super) fn no_model() -> String {
    format!("no model can be asked: {}", how_to_connect())
}

/// How a model is connected.
pub(super) const fn how_to_connect() -> &'static str {
    "set a key such as OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or OLLAMA_HOST for one on this machine; \
     `toolroom models list --all` says what else there is"
}

pub(super) async fn open(
    app: &App,
    scope: &Scope,
    choice: &Choice,
    output: Output,
) -> anyhow::Result<Opened> {
    let opened = agents::open(app, scope, choice).await.map_err(|error| match error {
        OpenAgentError::NotFound { .. } => Missing(error.to_string()).into(),
        OpenAgentError::Model(_) | OpenAgentError::Name { .. } => {
            Usage(format!("{:#}", anyhow::Error::from(error))).into()
        }
        error => anyhow::Error::from(error),
    })?;
    for told in &opened.passed_over {
        output.warning(told);
    }
    Ok(opened)
}

/// Where to go on; nowhere, if nobody asks for that.
async fn conversation(
    app: &App,
    scope: &Scope,
    wanted: Option<&Option<String>>,
) -> anyhow::Result<Option<ConversationId>> {
    match wanted {
        None => Ok(None),
        Some(Some(name)) => Ok(Some(conversations::find(app, scope, name).await?.id)),
        Some(None) => {
            let last = newest(app, scope).await?;
            let last = last.ok_or_else(|| Missing(NOTHING_SAID.to_owned()))?;
            Ok(Some(last.id))
        }
    }
}

/// A title as it is shown in a line of ours.
pub(super) fn titled(title: &str) -> String {
    harmless(title).replace('\n', " ")
}
