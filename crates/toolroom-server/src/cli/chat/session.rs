//! A conversation at the terminal.

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

use super::card::Card;
use super::history::History;
use super::message::message;
use super::slash_command;
use super::slash_command::{COMMANDS, Slash};
use super::turn::Turn;
use super::{how_to_connect, no_model, open, tell_end, titled};
use crate::agents::{self, Choice, Opened};
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage, is_broken_pipe};
use crate::cli::console::output::{BOLD, DIM, Output, table, visible};
use crate::cli::conversations;

const PROMPT: &str = "› ";

pub(super) struct Session<'a> {
    turn: Turn<'a>,
    choice: Choice,
    opened: Opened,
    conversation: Option<ConversationId>,
    /// Pictures that go with the first message.
    images: Vec<PathBuf>,
    history: History,
    editor: Editor,
    /// The last run.
    last: Option<RunId>,
    /// The run that cannot go on yet, and what it waits for.
    waiting: Option<(RunId, Vec<CallId>)>,
}

enum Next {
    GoOn,
    Leave,
}

impl<'a> Session<'a> {
    pub(super) async fn new(
        turn: Turn<'a>,
        choice: Choice,
        opened: Opened,
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

    /// Talks until somebody leaves.
    pub(super) async fn run(mut self) -> anyhow::Result<Exit> {
        self.greet().await?;
        let mut is_warned = false;
        loop {
            match self.listen().await? {
                EditorOutcome::Text(said) if said.trim().is_empty() => {}
                EditorOutcome::Text(said) => {
                    is_warned = false;
                    match self.hear(&said).await {
                        Ok(Next::GoOn) => {}
                        Ok(Next::Leave) => return Ok(Exit::Done),
                        Err(error) if is_broken_pipe(&error) => return Err(error),
                        // One message that comes to nothing is no reason to lose the others.
                        Err(error) => self.output().error(&format!("{error:#}")),
                    }
                }
                EditorOutcome::Interrupted(true) => {}
                EditorOutcome::Interrupted(false) if is_warned => return Ok(Exit::Interrupted),
                EditorOutcome::Interrupted(false) => {
                    is_warned = true;
                    self.output().talk(format_args!("{DIM}Ctrl-C once more, or Ctrl-D, leaves{DIM:#}"));
                }
                EditorOutcome::End => return Ok(Exit::Done),
                EditorOutcome::Stopped => return Ok(Exit::Interrupted),
            }
            if self.turn.hand.is_told_to_end() {
                return Ok(Exit::Interrupted);
            }
        }
    }

    const fn output(&self) -> Output {
        self.turn.output
    }

    /// The first screen.
    async fn greet(&self) -> anyhow::Result<()> {
        let output = self.output();
        match self.opened.models.first() {
            Some((model, _)) if model == offline::NAME => {
                output.talk(format_args!(
                    "{BOLD}Toolroom{BOLD:#} · No model connected: using the built-in offline mode"
                ));
                output.talk(format_args!("{DIM}to connect one, {}{DIM:#}", how_to_connect()));
            }
            Some((model, _)) => {
                output.talk(format_args!("{BOLD}Toolroom{BOLD:#} · {} answers", visible(model)));
            }
            None => {
                output.talk(format_args!("{BOLD}Toolroom{BOLD:#}"));
                output.hint(&no_model());
            }
        }
        match &self.conversation {
            Some(id) => {
                let conversation = conversations::find(self.turn.app, self.turn.scope, id.as_str()).await?;
                output.talk(format_args!("{DIM}goes on with: {}{DIM:#}", titled(&conversation.title)));
            }
            None => {
                output.talk(format_args!("{DIM}try: what is 17*23?   or: what time is it in Tokyo?{DIM:#}"));
            }
        }
        output.talk(format_args!(
            "{DIM}/tools lists what can be used, /help the rest; a line that ends in \\ goes on in the next; Ctrl-C stops an answer{DIM:#}"
        ));
        Ok(())
    }

    /// What is said next. Keys are read on a thread of their own: a person may take their time, the runtime may not.
    async fn listen(&mut self) -> anyhow::Result<EditorOutcome> {
        let stop = self.turn.hand.begin();
        let Some(mut terminal) = Terminal::open() else { return Ok(EditorOutcome::End) };
        let mut editor = std::mem::take(&mut self.editor);
        let has_lines_only =
            self.turn.is_plain || environment::variable("TERM").is_none_or(|term| term == "dumb");
        if has_lines_only {
            self.output().ask(PROMPT.trim_end());
        }
        let (editor, written) = tokio::task::spawn_blocking(move || {
            let written = match has_lines_only {
                true => editor.read_lines(&mut terminal, || stop.is_cancelled()),
                false => editor.read(&mut terminal, PROMPT, || stop.is_cancelled()),
            };
            (editor, written)
        })
        .await?;
        self.editor = editor;
        Ok(written?)
    }

    async fn hear(&mut self, said: &str) -> anyhow::Result<Next> {
        self.history.add(said);
        self.editor.remember(said);
        let project = self.turn.scope.project.clone();
        let catalog = self.turn.app.room.catalog();
        match slash_command::read(said, |name| catalog.find(&project, name).is_ok()) {
            Some(Ok(command)) => self.obey(command).await,
            Some(Err(problem)) => Err(Usage(problem).into()),
            None => self.say(said).await.map(|()| Next::GoOn),
        }
    }

    async fn say(&mut self, said: &str) -> anyhow::Result<()> {
        if self.opened.models.is_empty() {
            return Err(Usage(no_model()).into());
        }
        if !self.go_on().await? {
            return Ok(());
        }
        let message = message(said.to_owned(), &std::mem::take(&mut self.images))?;
        let conversation = self.conversation.clone();
        let report = self.turn.say(&self.opened.agent, message, conversation).await?;
        self.note(&report);
        Ok(())
    }

    /// Brings a run that waits to its end first; says whether nothing is in the way any more.
    async fn go_on(&mut self) -> anyhow::Result<bool> {
        let Some((run, calls)) = self.waiting.clone() else { return Ok(true) };
        if !self.turn.can_go_on(&calls).await? {
            let calls = calls.iter().map(CallId::as_str).collect::<Vec<_>>().join(", ");
            self.output().hint(&format!(
                "the last answer still waits for {calls}: answer it with `toolroom approvals`, end it with /stop, or begin \
                 another conversation with /new"
            ));
            return Ok(false);
        }
        let report = self.turn.resume(&self.opened.agent, run).await?;
        self.note(&report);
        Ok(self.waiting.is_none())
    }

    /// Remembers how a run ended, and says so where that is not clear.
    fn note(&mut self, report: &RunReport) {
        self.conversation = Some(report.run.conversation.clone());
        self.last = Some(report.run.id.clone());
        self.waiting =
            (report.run.state == RunState::Waiting).then(|| (report.run.id.clone(), report.waiting.clone()));
        if report.run.state == RunState::Waiting {
            self.output().talk("say anything once that is answered, and it goes on; /stop ends it");
        } else {
            tell_end(report, self.turn.look, self.output());
        }
        if !self.turn.look.is_read_along() && !report.text.is_empty() {
            drop(self.output().result(&report.text.as_str().into()));
        }
    }

    async fn obey(&mut self, command: Slash) -> anyhow::Result<Next> {
        match command {
            Slash::Exit => return Ok(Next::Leave),
            Slash::Help => {
                let rows =
                    COMMANDS.map(|(name, what)| vec![format!("{BOLD}{name}{BOLD:#}"), what.to_owned()]);
                self.output().talk(table(&rows));
                self.output().talk(format_args!(
                    "{DIM}/name key=value asks the model for that tool; Alt-Enter begins a new line, the arrows bring back what was said, Ctrl-R looks for it{DIM:#}"
                ));
            }
            Slash::Tools => self.list_tools().await?,
            Slash::Model(None) => {
                let names: Vec<String> = self.opened.models.iter().map(|(name, _)| visible(name)).collect();
                self.output().talk(match names.is_empty() {
                    true => no_model(),
                    false => names.join(", then "),
                });
            }
            Slash::Model(Some(name)) => {
                let name = name.parse().map_err(|error| Usage(format!("{error}; see `toolroom models`")))?;
                let choice = Choice { models: vec![name], ..self.choice.clone() };
                self.opened = open(self.turn.app, self.turn.scope, &choice, self.output()).await?;
                self.choice = choice;
                self.output().talk("from now on it answers");
            }
            Slash::New => {
                (self.conversation, self.last, self.waiting) = (None, None, None);
                self.output().talk("a new conversation; `toolroom conversations` lists the others");
            }
            Slash::Status => self.tell_status().await?,
            Slash::Calls => self.unfold().await?,
            Slash::Stop => match self.waiting.take() {
                None => self.output().talk("nothing waits"),
                Some((run, _)) => {
                    let report = self.turn.cancel(&self.opened.agent, run).await?;
                    self.note(&report);
                }
            },
        }
        Ok(Next::GoOn)
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

    async fn unfold(&self) -> anyhow::Result<()> {
        let cards = Card::all(&self.events().await?);
        if cards.is_empty() {
            self.output().talk("the last answer called nothing");
        }
        for card in cards {
            self.output().talk(card.unfolded());
        }
        Ok(())
    }

    async fn tell_status(&self) -> anyhow::Result<()> {
        let Some(conversation) = &self.conversation else {
            self.output().talk("nothing was said yet");
            return Ok(());
        };
        let port = agents::conversations(self.turn.app);
        let spent = port.spent(self.turn.scope, Some(conversation), None).await?;
        let answered = self.events().await?.into_iter().rev().find_map(|told| match told.event {
            RunEvent::Answered { usage, .. } => Some(usage.input.saturating_add(usage.output)),
            _ => None,
        });
        let full = match (answered, self.opened.models.first()) {
            (Some(used), Some((_, window))) if *window > 0 => {
                format!("{} % of {window} tokens", used.saturating_mul(100) / window)
            }
            _ => "unknown".to_owned(),
        };
        let rows = [
            ("conversation", conversation.to_string()),
            ("answers", format!("{} to {} messages", spent.answers, spent.runs)),
            ("tokens", format!("{} read, {} written", spent.usage.input, spent.usage.output)),
            ("cost", Dollars(spent.cost).to_string()),
            ("filled", full),
        ];
        let rows = rows.map(|(name, value)| vec![format!("{DIM}{name}{DIM:#}"), visible(&value)]);
        self.output().talk(table(&rows));
        Ok(())
    }
}

/// The run of a conversation that waits, and for which calls.
async fn waiting(
    app: &App,
    scope: &Scope,
    conversation: &ConversationId,
) -> anyhow::Result<Option<(RunId, Vec<CallId>)>> {
    let port = agents::conversations(app);
    let state = Some(RunState::Waiting);
    let filter = RunFilter { conversation: Some(conversation.clone()), state, ..RunFilter::default() };
    let Some(run) = port.runs(scope, filter).await?.into_iter().next() else { return Ok(None) };
    let calls = port.events(scope, &run.id, 0).await?.into_iter().rev().find_map(|told| match told.event {
        RunEvent::Waiting { calls } => Some(calls),
        _ => None,
    });
    Ok(Some((run.id, calls.unwrap_or_default())))
}
