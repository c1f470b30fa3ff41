//! Asking the person at the terminal.
//!
//! Order and letters never change, what was typed before the question is thrown away, and keys that mean nothing
//! change nothing. As long as the question is open it is looked after: somebody else may answer it, its time may run
//! out, and a signal leaves it as it is.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolroom::approval::{AnswerError, QuestionDetails, Responder};
use toolroom::call::CancellationToken;
use toolroom::ledger::{Answer, CallId};
use toolroom::schema::parse_object;
use toolroom::scope::Scope;
use toolroom_host::terminal::{Key, Terminal};

use super::question_view::{Extent, Sheet};
use super::resolve::{Stage, stage};
use super::standing_answer;
use crate::app::App;
use crate::approvals::{ApprovalService, ReplyError};
use crate::cli::console::output::Output;
use crate::cli::console::output::single_line;

/// Between two looks at what else has happened.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What came of asking.
pub(super) enum Prompted {
    /// There is an answer, and this is the call to go on with.
    Answered(CallId),
    /// It stays parked.
    Left,
}

/// Why a question is no longer this person's.
enum Halt {
    /// Somebody else has answered, or nobody in time.
    Answered(CallId),
    /// A signal, or the end of patience.
    Left,
    Broken(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

/// Somebody who can be asked.
pub(super) struct Prompt<'a> {
    app: &'a App,
    scope: &'a Scope,
    /// As whom this person answers.
    by: Responder,
    stop: &'a CancellationToken,
    /// Until when to ask; as long as it takes, if absent.
    until: Option<Instant>,
    output: Output,
    terminal: Arc<Mutex<Terminal>>,
}

impl<'a> Prompt<'a> {
    /// The person at the terminal; `None` where nobody sits at one.
    pub(super) fn open(
        app: &'a App,
        scope: &'a Scope,
        by: Responder,
        stop: &'a CancellationToken,
        output: Output,
    ) -> Option<Self> {
        let terminal = Arc::new(Mutex::new(Terminal::open()?));
        Some(Self { app, scope, by, stop, until: None, output, terminal })
    }

    /// Does not ask any longer than this.
    pub(super) fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// Asks about a parked call until there is an answer, from here or from elsewhere.
    pub(super) async fn ask(&self, asked: &QuestionDetails) -> anyhow::Result<Prompted> {
        match self.answer(asked).await {
            Ok(Some(call)) | Err(Halt::Answered(call)) => Ok(Prompted::Answered(call)),
            Ok(None) | Err(Halt::Left) => Ok(Prompted::Left),
            Err(Halt::Broken(error)) => Err(error),
        }
    }

    /// The call to go on with; `None` when the person does not want to answer now.
    async fn answer(&self, asked: &QuestionDetails) -> Result<Option<CallId>, Halt> {
        let call = &asked.question.record.id;
        self.output.talk(self.sheet().question(asked, self.app.room.clock().now()));
        self.show_keys(asked)?;
        loop {
            let taken = match self.key(call).await? {
                Key::Char('y') => self.give(call, Answer::Once).await?,
                Key::Char('s') => self.give(call, Answer::Session).await?,
                Key::Char('a') => self.give_for_good(call, Answer::Always).await?,
                Key::Char('n') => self.give(call, Answer::No).await?,
                Key::Char('d') => self.give_for_good(call, Answer::Never).await?,
                Key::Char('e') => self.edit(asked).await?,
                Key::Char('x') => self.give(call, Answer::Stop).await?,
                Key::Char('v') => {
                    self.output.talk(self.sheet().arguments(asked.arguments.as_ref(), Extent::Whole));
                    None
                }
                Key::Interrupt => {
                    self.stop.cancel();
                    return Ok(None);
                }
                Key::Escape | Key::EndOfInput => return Ok(None),
                Key::Char(_) | Key::Enter | Key::Backspace | Key::Control(_) => None,
            };
            if taken.is_some() {
                return Ok(taken);
            }
            self.show_keys(asked)?;
        }
    }

    /// Says what can be pressed. What was pressed before that, or pasted behind a key that means nothing, is no answer.
    fn show_keys(&self, asked: &QuestionDetails) -> io::Result<()> {
        let record = &asked.question.record;
        let entry = self.app.room.catalog().find(&record.scope.project, &record.tool);
        let takes_standing_yes = !entry.is_ok_and(|entry| entry.spec().single_answers);
        self.output.talk(self.sheet().keys(self.by.answerer(), takes_standing_yes));
        self.with_terminal(Terminal::discard_typed_ahead)
    }

    fn sheet(&self) -> Sheet {
        Sheet::new(self.with_terminal(|terminal| terminal.size()))
    }

    fn with_terminal<T>(&self, using: impl FnOnce(&mut Terminal) -> T) -> T {
        using(&mut self.terminal.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives an answer; `None` if it was not taken, which is told.
    async fn give(&self, call: &CallId, answer: Answer) -> Result<Option<CallId>, Halt> {
        self.send(call, answer, None).await
    }

    /// Gives an answer that outlives the question. What it would mean is shown first, and asked about once more.
    async fn give_for_good(&self, call: &CallId, answer: Answer) -> Result<Option<CallId>, Halt> {
        let approvals = self.approvals();
        if let Err(error @ ReplyError::Answer(AnswerError::OnlyOnce { .. })) =
            approvals.plan(call, answer, None).await
        {
            return self.not_taken(error);
        }
        self.output.talk("only when (a condition such as args.path == '/tmp/x'; empty for every call):");
        let Some(line) = self.line(call).await? else { return Ok(None) };
        let when = Some(line.trim().to_owned()).filter(|when| !when.is_empty());
        let standing = match approvals.plan(call, answer, when.clone()).await {
            Ok(Some(standing)) => standing,
            Ok(None) => return Ok(None),
            Err(error) => return self.not_taken(error),
        };
        standing_answer::show(self.app, &standing, self.output).await?;
        self.output.talk("save it? [y] yes  [n] no");
        self.with_terminal(Terminal::discard_typed_ahead)?;
        match self.key(call).await? {
            Key::Char('y') => self.send(call, answer, when).await,
            Key::Interrupt => {
                self.stop.cancel();
                Err(Halt::Left)
            }
            _ => Ok(None),
        }
    }

    fn approvals(&self) -> ApprovalService<'_> {
        ApprovalService::new(&self.app.room, self.scope, &self.by)
    }

    async fn send(
        &self,
        call: &CallId,
        answer: Answer,
        when: Option<String>,
    ) -> Result<Option<CallId>, Halt> {
        let approvals = self.approvals();
        match approvals.answer(call, answer, when).await {
            Ok(standing) => {
                self.output.talk(format_args!("  said {}", answer.as_str()));
                if let Some(standing) = standing {
                    standing_answer::tell_next(approvals.next_rule(&standing).await?.as_deref(), self.output);
                }
                Ok(Some(call.clone()))
            }
            Err(error) => self.not_taken(error),
        }
    }

    /// The question stands, unless somebody was faster: that is seen at the next look.
    fn not_taken(&self, error: ReplyError) -> Result<Option<CallId>, Halt> {
        match error {
            ReplyError::Failed(error) => Err(error.into()),
            error => {
                self.output.error(&format!("{:#}", anyhow::Error::from(error)));
                Ok(None)
            }
        }
    }

    /// Takes other arguments. They are a call of their own.
    async fn edit(&self, asked: &QuestionDetails) -> Result<Option<CallId>, Halt> {
        let call = &asked.question.record.id;
        // To be copied from; what the screen would have to break is shown by `v`, behind its bar.
        let now = asked.arguments.as_ref().map(serde_json::to_string).transpose()?;
        if let Some(now) = now.map(|now| single_line(&now)).filter(|now| self.sheet().holds(now)) {
            self.output.talk(now);
        }
        self.output.talk("the whole arguments as one line of JSON (empty: leave them as they are):");
        let Some(line) = self.line(call).await? else { return Ok(None) };
        if line.trim().is_empty() {
            return Ok(None);
        }
        let arguments = match parse_object(&line) {
            Ok(arguments) => arguments,
            Err(error) => {
                self.output.error(&format!("the arguments: {error}"));
                return Ok(None);
            }
        };
        match self.approvals().edit(call, arguments).await {
            Ok(edited) => {
                self.output.talk(format_args!("  edited; {} takes its place", edited.call));
                Ok(Some(edited.call))
            }
            Err(error) => {
                self.output.error(&format!("{:#}", anyhow::Error::from(error)));
                Ok(None)
            }
        }
    }

    /// The next key, as long as there is something to answer.
    async fn key(&self, call: &CallId) -> Result<Key, Halt> {
        let _quiet = self.with_terminal(Terminal::quiet)?;
        loop {
            self.look(call).await?;
            if let Some(key) = self.read(|terminal| terminal.read_key(LOOK_EVERY)).await? {
                return Ok(key);
            }
        }
    }

    /// A line, as long as there is something to answer; `None` at the end of input.
    async fn line(&self, call: &CallId) -> Result<Option<String>, Halt> {
        while !self.read(|terminal| terminal.has_line(LOOK_EVERY)).await? {
            self.look(call).await?;
        }
        Ok(self.read(Terminal::read_line).await?)
    }

    /// Reads on a thread of its own: a person may take their time, the runtime may not.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Terminal) -> io::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let terminal = Arc::clone(&self.terminal);
        let reading = move || read(&mut terminal.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(tokio::task::spawn_blocking(reading).await??)
    }

    /// Whether there is still something to answer.
    async fn look(&self, call: &CallId) -> Result<(), Halt> {
        if self.stop.is_cancelled() || self.until.is_some_and(|until| until <= Instant::now()) {
            return Err(Halt::Left);
        }
        match stage(self.app, self.scope, call).await? {
            Stage::Waiting => Ok(()),
            Stage::Replaced(by) => {
                self.output.talk("edited elsewhere");
                Err(Halt::Answered(by))
            }
            Stage::Answered => {
                self.output.talk("answered elsewhere");
                Err(Halt::Answered(call.clone()))
            }
            Stage::Late => {
                self.output.talk("too late: nobody has answered in time");
                Err(Halt::Answered(call.clone()))
            }
        }
    }
}
