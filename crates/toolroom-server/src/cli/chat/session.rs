//! The interactive chat.

use std::path::PathBuf;

use toolroom::agent::RunReport;
use toolroom::catalog::Audience;
use toolroom::conversation::{ConversationId, NumberedEvent, RunEvent, RunFilter, RunId, RunState};
use toolroom::ledger::CallId;
use toolroom::model::Dollars;
use toolroom::redact::Redactions;
use toolroom::scope::Scope;
use toolroom_host::environment;
use toolroom_host::terminal::{Editor, EditorOutcome, Terminal};
use toolroom_models::offline;

use super::card::CallCard;
use super::history::History;
use super::message::message;
use super::slash_command::{self, COMMANDS, SlashCommand};
use super::turn::Turn;
use super::{how_to_connect, no_model, one_line_title, open, print_end};
use crate::agents::{self, AgentChoice, OpenedAgent};
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage, is_broken_pipe};
use crate::cli::console::output::{BOLD, DIM, Output, table, visible};
use crate::cli::conversations;

const PROMPT: &str = "› ";

pub(super) struct Session<'a> {
    turn: Turn<'a>,
    choice: AgentChoice,
    opened: OpenedAgent,
    conversation: Option<ConversationId>,
    /// Images for the first message.
    images: Vec<PathBuf>,
    history: History,
    editor: Editor,
    /// The last run.
    last: Option<RunId>,
    /// A run that waits for approval, and its pending calls.
    waiting: Option<(RunId, Vec<CallId>)>,
}

enum SessionFlow {
    Continue,
    Exit,
}

impl<'a> Session<'a> {
    pub(super) async fn new(
        turn: Turn<'a>,
        choice: AgentChoice,
        opened: OpenedAgent,
        conversation: Option<ConversationId>,
        images: Vec<PathBuf>,
    ) -> anyhow::Result<Self> {
        let project = &turn.scope.project;
        let revision = turn.app.room.switchboard().standing(project).await?.revision;
        let redactor = turn.app.vault.redactor(project, revision).await?;
        let history = History::new(turn.app.folders.clone(), redactor);
        let editor = Editor::new(history.read());
        let waiting = match &conversation {
            Some(conversation) => waiting(turn.app, turn.scope, conversation).await?,
            None => None,
        };
        Ok(Self { turn, choice, opened, conversation, images, history, editor, last: None, waiting })
    }

    /// Runs the chat until the user leaves.
    pub(super) async fn run(mut self) -> anyhow::Result<Exit> {
        self.greet().await?;
        let mut is_warned = false;
        loop {
            match self.read_input().await? {
                EditorOutcome::Text(text) if text.trim().is_empty() => {}
                EditorOutcome::Text(text) => {
                    is_warned = false;
                    match self.handle(&text).await {
                        Ok(SessionFlow::Continue) => {}
                        Ok(SessionFlow::Exit) => return Ok(Exit::Done),
                        Err(error) if is_broken_pipe(&error) => return Err(error),
                        // A failed message does not end the chat.
                        Err(error) => self.output().error(&format!("{error:#}")),
                    }
                }
                EditorOutcome::Interrupted(true) => {}
                EditorOutcome::Interrupted(false) if is_warned => return Ok(Exit::Interrupted),
                EditorOutcome::Interrupted(false) => {
                    is_warned = true;
                    self.output().talk(format_args!("{DIM}Press Ctrl-C again, or Ctrl-D, to leave{DIM:#}"));
                }
                EditorOutcome::End => return Ok(Exit::Done),
                EditorOutcome::Stopped => return Ok(Exit::Interrupted),
            }
            if self.turn.interrupt.is_end_requested() {
                return Ok(Exit::Interrupted);
            }
        }
    }

    const fn output(&self) -> Output {
        self.turn.output
    }

    async fn greet(&self) -> anyhow::Result<()> {
        let output = self.output();
        match self.opened.models.first() {
            Some((model, _)) if model == offline::NAME => {
                output.talk(format_args!(
                    "{BOLD}Toolroom{BOLD:#} · No model connected: using the built-in offline mode"
                ));
                output.talk(format_args!("{DIM}To connect one, {}{DIM:#}", how_to_connect()));
            }
            Some((model, _)) => {
                output.talk(format_args!("{BOLD}Toolroom{BOLD:#} · model {}", visible(model)));
            }
            None => {
                output.talk(format_args!("{BOLD}Toolroom{BOLD:#}"));
                output.hint(&no_model());
            }
        }
        match &self.conversation {
            Some(id) => {
                let conversation = conversations::find(self.turn.app, self.turn.scope, id.as_str()).await?;
                output.talk(format_args!("{DIM}Continuing: {}{DIM:#}", one_line_title(&conversation.title)));
            }
            None => {
                output.talk(format_args!("{DIM}Try: what is 17*23?   or: what time is it in Tokyo?{DIM:#}"));
            }
        }
        output.talk(format_args!(
            "{DIM}/tools lists the tools, /help all commands; end a line with \\ to continue it on the next; Ctrl-C stops an answer{DIM:#}"
        ));
        Ok(())
    }

    /// Reads the next input on a blocking thread.
    async fn read_input(&mut self) -> anyhow::Result<EditorOutcome> {
        let stop = self.turn.interrupt.next_token();
        let Some(mut terminal) = Terminal::open() else { return Ok(EditorOutcome::End) };
        let mut editor = std::mem::take(&mut self.editor);
        let is_line_mode =
            self.turn.is_plain || environment::variable("TERM").is_none_or(|term| term == "dumb");
        if is_line_mode {
            self.output().ask(PROMPT.trim_end());
        }
        let (editor, written) = tokio::task::spawn_blocking(move || {
            let written = match is_line_mode {
                true => editor.read_lines(&mut terminal, || stop.is_cancelled()),
                false => editor.read(&mut terminal, PROMPT, || stop.is_cancelled()),
            };
            (editor, written)
        })
        .await?;
        self.editor = editor;
        Ok(written?)
    }

    async fn handle(&mut self, text: &str) -> anyhow::Result<SessionFlow> {
        self.history.add(text);
        self.editor.remember(text);
        let project = self.turn.scope.project.clone();
        let catalog = self.turn.app.room.catalog();
        match slash_command::parse(text, |name| catalog.find(&project, name).is_ok()) {
            Some(Ok(command)) => self.run_command(command).await,
            Some(Err(problem)) => Err(Usage(problem).into()),
            None => self.send(text).await.map(|()| SessionFlow::Continue),
        }
    }

    async fn send(&mut self, text: &str) -> anyhow::Result<()> {
        if self.opened.models.is_empty() {
            return Err(Usage(no_model()).into());
        }
        if !self.finish_waiting_run().await? {
            return Ok(());
        }
        let message = message(text.to_owned(), &std::mem::take(&mut self.images))?;
        let conversation = self.conversation.clone();
        let report = self.turn.send(&self.opened.agent, message, conversation).await?;
        self.note(&report);
        Ok(())
    }

    /// Resumes a waiting run first. Returns whether a new message can be sent.
    async fn finish_waiting_run(&mut self) -> anyhow::Result<bool> {
        let Some((run, calls)) = self.waiting.clone() else { return Ok(true) };
        if !self.turn.can_resume(&calls).await? {
            let calls = calls.iter().map(CallId::as_str).collect::<Vec<_>>().join(", ");
            self.output().hint(&format!(
                "the last answer is still waiting for {calls}: approve it with `toolroom approvals`, cancel it with /stop, or start \
                 a new conversation with /new"
            ));
            return Ok(false);
        }
        let report = self.turn.resume(&self.opened.agent, run).await?;
        self.note(&report);
        Ok(self.waiting.is_none())
    }

    /// Stores and prints how a run ended.
    fn note(&mut self, report: &RunReport) {
        self.conversation = Some(report.run.conversation.clone());
        self.last = Some(report.run.id.clone());
        self.waiting =
            (report.run.state == RunState::Waiting).then(|| (report.run.id.clone(), report.waiting.clone()));
        if report.run.state == RunState::Waiting {
            self.output().talk("Send any message after the approval to continue; /stop cancels it");
        } else {
            print_end(report, self.turn.mode, self.output());
        }
        if !self.turn.mode.is_live() && !report.text.is_empty() {
            drop(self.output().result(&report.text.as_str().into()));
        }
    }

    async fn run_command(&mut self, command: SlashCommand) -> anyhow::Result<SessionFlow> {
        match command {
            SlashCommand::Exit => return Ok(SessionFlow::Exit),
            SlashCommand::Help => {
                let rows =
                    COMMANDS.map(|(name, what)| vec![format!("{BOLD}{name}{BOLD:#}"), what.to_owned()]);
                self.output().talk(table(&rows));
                self.output().talk(format_args!(
                    "{DIM}/name key=value asks the model to use that tool; Alt-Enter starts a new line, the arrow keys recall messages, Ctrl-R searches them{DIM:#}"
                ));
            }
            SlashCommand::Tools => self.list_tools().await?,
            SlashCommand::Model(None) => {
                let names: Vec<String> = self.opened.models.iter().map(|(name, _)| visible(name)).collect();
                self.output().talk(match names.is_empty() {
                    true => no_model(),
                    false => names.join(", then "),
                });
            }
            SlashCommand::Model(Some(name)) => {
                let name = name.parse().map_err(|error| Usage(format!("{error}; see `toolroom models`")))?;
                let choice = AgentChoice { models: vec![name], ..self.choice.clone() };
                self.opened = open(self.turn.app, self.turn.scope, &choice, self.output()).await?;
                self.choice = choice;
                self.output().talk(format_args!(
                    "Model changed to {}",
                    visible(self.opened.models.first().map_or("", |(name, _)| name))
                ));
            }
            SlashCommand::New => {
                (self.conversation, self.last, self.waiting) = (None, None, None);
                self.output().talk("New conversation; `toolroom conversations` lists the others");
            }
            SlashCommand::Status => self.print_status().await?,
            SlashCommand::Calls => self.print_calls().await?,
            SlashCommand::Stop => match self.waiting.take() {
                None => self.output().talk("Nothing is waiting"),
                Some((run, _)) => {
                    let report = self.turn.cancel(&self.opened.agent, run).await?;
                    self.note(&report);
                }
            },
        }
        Ok(SessionFlow::Continue)
    }

    async fn list_tools(&self) -> anyhow::Result<()> {
        let (app, project) = (self.turn.app, &self.turn.scope.project);
        let standing = app.room.switchboard().standing(project).await?;
        let choice = self.opened.agent.choice();
        let context = &self.turn.context;
        let offer = app.room.catalog().offer(project, &standing.switches, context, Audience::Full, choice);
        let rows: Vec<Vec<String>> = (offer.tools.iter())
            .map(|entry| {
                let spec = entry.spec();
                vec![format!("{BOLD}{}{BOLD:#}", visible(spec.id.bare())), visible(&spec.title)]
            })
            .collect();
        self.output().talk(table(&rows));
        Ok(())
    }

    async fn events(&self) -> anyhow::Result<Vec<NumberedEvent>> {
        let Some(run) = &self.last else { return Ok(Vec::new()) };
        Ok(agents::conversations(self.turn.app).events(self.turn.scope, run, 0).await?)
    }

    async fn print_calls(&self) -> anyhow::Result<()> {
        let cards = CallCard::all(&self.events().await?);
        if cards.is_empty() {
            self.output().talk("The last answer made no calls");
        }
        for card in cards {
            self.output().talk(card.details());
        }
        Ok(())
    }

    async fn print_status(&self) -> anyhow::Result<()> {
        let Some(conversation) = &self.conversation else {
            self.output().talk("No messages yet");
            return Ok(());
        };
        let port = agents::conversations(self.turn.app);
        let spent = port.spent(self.turn.scope, Some(conversation), None).await?;
        let used_tokens = self.events().await?.into_iter().rev().find_map(|entry| match entry.event {
            RunEvent::Answered { usage, .. } => Some(usage.input.saturating_add(usage.output)),
            _ => None,
        });
        let full = match (used_tokens, self.opened.models.first()) {
            (Some(used), Some((_, window))) if *window > 0 => {
                format!("{} % of {window} tokens", used.saturating_mul(100) / window)
            }
            _ => "unknown".to_owned(),
        };
        let rows = [
            ("conversation", conversation.to_string()),
            ("answers", format!("{} to {} messages", spent.answers, spent.runs)),
            ("tokens", format!("{} input, {} output", spent.usage.input, spent.usage.output)),
            ("cost", Dollars(spent.cost).to_string()),
            ("context", full),
        ];
        let rows = rows.map(|(name, value)| vec![format!("{DIM}{name}{DIM:#}"), visible(&value)]);
        self.output().talk(table(&rows));
        Ok(())
    }
}

/// The waiting run of a conversation and its pending calls.
async fn waiting(
    app: &App,
    scope: &Scope,
    conversation: &ConversationId,
) -> anyhow::Result<Option<(RunId, Vec<CallId>)>> {
    let port = agents::conversations(app);
    let state = Some(RunState::Waiting);
    let filter = RunFilter { conversation: Some(conversation.clone()), state, ..RunFilter::default() };
    let Some(run) = port.runs(scope, filter).await?.into_iter().next() else { return Ok(None) };
    let calls = port.events(scope, &run.id, 0).await?.into_iter().rev().find_map(|entry| match entry.event {
        RunEvent::Waiting { calls } => Some(calls),
        _ => None,
    });
    Ok(Some((run.id, calls.unwrap_or_default())))
}
