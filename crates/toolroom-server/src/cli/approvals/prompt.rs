//! The interactive approval prompt.
//!
//! Order and letters of the keys never change, typed-ahead input is discarded, and unknown keys are ignored. While the
//! prompt is open it polls the question: it may be answered elsewhere or expire. A signal leaves the question open.

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

use super::answer::answered;
use super::question_view::{Detail, QuestionView};
use super::resolve::{QuestionStage, question_stage};
use super::standing_answer;
use crate::app::App;
use crate::approvals::{ApprovalService, ReplyError};
use crate::cli::console::output::Output;
use crate::cli::console::output::single_line;

/// Poll interval of the question.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(super) enum PromptResult {
    /// Answered. Continue with this call, which an edit may have replaced.
    Answered(CallId),
    /// The call stays parked.
    LeftOpen,
}

/// Why the prompt ended without an answer from this terminal.
enum PromptEnd {
    /// Answered elsewhere, or expired.
    Answered(CallId),
    /// Interrupted, or waited as long as allowed.
    LeftOpen,
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for PromptEnd {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Prompts on the terminal.
pub(super) struct Prompt<'a> {
    app: &'a App,
    scope: &'a Scope,
    /// The role in which answers are given.
    by: Responder,
    stop: &'a CancellationToken,
    /// When to stop asking; never if absent.
    deadline: Option<Instant>,
    output: Output,
    terminal: Arc<Mutex<Terminal>>,
}

impl<'a> Prompt<'a> {
    /// Opens the prompt; `None` without a terminal.
    pub(super) fn open(
        app: &'a App,
        scope: &'a Scope,
        by: Responder,
        stop: &'a CancellationToken,
        output: Output,
    ) -> Option<Self> {
        let terminal = Arc::new(Mutex::new(Terminal::open()?));
        Some(Self { app, scope, by, stop, deadline: None, output, terminal })
    }

    /// Sets when to stop asking.
    pub(super) fn deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// Asks about a parked call until it is answered here or elsewhere.
    pub(super) async fn ask(&self, asked: &QuestionDetails) -> anyhow::Result<PromptResult> {
        match self.answer(asked).await {
            Ok(Some(call)) | Err(PromptEnd::Answered(call)) => Ok(PromptResult::Answered(call)),
            Ok(None) | Err(PromptEnd::LeftOpen) => Ok(PromptResult::LeftOpen),
            Err(PromptEnd::Failed(error)) => Err(error),
        }
    }

    /// The call to continue with; `None` if the question was left open.
    async fn answer(&self, asked: &QuestionDetails) -> Result<Option<CallId>, PromptEnd> {
        let call = &asked.question.record.id;
        self.output.talk(self.view().question(asked, self.app.room.clock().now()));
        self.show_keys(asked)?;
        loop {
            let answered = match self.key(call).await? {
                Key::Char('y') => self.give(call, Answer::Once).await?,
                Key::Char('s') => self.give(call, Answer::Session).await?,
                Key::Char('a') => self.give_standing(call, Answer::Always).await?,
                Key::Char('n') => self.give(call, Answer::No).await?,
                Key::Char('d') => self.give_standing(call, Answer::Never).await?,
                Key::Char('e') => self.edit(asked).await?,
                Key::Char('x') => self.give(call, Answer::Stop).await?,
                Key::Char('v') => {
                    self.output.talk(self.view().arguments(asked.arguments.as_ref(), Detail::Full));
                    None
                }
                Key::Interrupt => {
                    self.stop.cancel();
                    return Ok(None);
                }
                Key::Escape | Key::EndOfInput => return Ok(None),
                Key::Char(_) | Key::Enter | Key::Backspace | Key::Control(_) => None,
            };
            if answered.is_some() {
                return Ok(answered);
            }
            self.show_keys(asked)?;
        }
    }

    /// Shows the keys and discards input typed or pasted before.
    fn show_keys(&self, asked: &QuestionDetails) -> io::Result<()> {
        let record = &asked.question.record;
        let entry = self.app.room.catalog().find(&record.scope.project, &record.tool);
        let takes_standing_yes = !entry.is_ok_and(|entry| entry.spec().single_answers);
        self.output.talk(self.view().keys(self.by.answerer(), takes_standing_yes));
        self.with_terminal(Terminal::discard_typed_ahead)
    }

    fn view(&self) -> QuestionView {
        QuestionView::new(self.with_terminal(|terminal| terminal.size()))
    }

    fn with_terminal<T>(&self, using: impl FnOnce(&mut Terminal) -> T) -> T {
        using(&mut self.terminal.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives an answer; `None` if it was rejected, which is printed.
    async fn give(&self, call: &CallId, answer: Answer) -> Result<Option<CallId>, PromptEnd> {
        self.send(call, answer, None).await
    }

    /// Gives an answer that also applies to later calls, after showing its effect and asking for confirmation.
    async fn give_standing(&self, call: &CallId, answer: Answer) -> Result<Option<CallId>, PromptEnd> {
        let approvals = self.approvals();
        if let Err(error @ ReplyError::Answer(AnswerError::OnlyOnce { .. })) =
            approvals.plan(call, answer, None).await
        {
            return self.reject(error);
        }
        self.output.talk("Condition, such as args.path == '/tmp/x' (empty: every call):");
        let Some(line) = self.line(call).await? else { return Ok(None) };
        let when = Some(line.trim().to_owned()).filter(|when| !when.is_empty());
        let standing = match approvals.plan(call, answer, when.clone()).await {
            Ok(Some(standing)) => standing,
            Ok(None) => return Ok(None),
            Err(error) => return self.reject(error),
        };
        standing_answer::show(self.app, &standing, self.output).await?;
        self.output.talk("Save this rule? [y] yes  [n] no");
        self.with_terminal(Terminal::discard_typed_ahead)?;
        match self.key(call).await? {
            Key::Char('y') => self.send(call, answer, when).await,
            Key::Interrupt => {
                self.stop.cancel();
                Err(PromptEnd::LeftOpen)
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
    ) -> Result<Option<CallId>, PromptEnd> {
        let approvals = self.approvals();
        match approvals.answer(call, answer, when).await {
            Ok(standing) => {
                self.output.talk(format_args!("  {}", answered(answer)));
                if let Some(standing) = standing {
                    standing_answer::print_next(
                        approvals.next_rule(&standing).await?.as_deref(),
                        self.output,
                    );
                }
                Ok(Some(call.clone()))
            }
            Err(error) => self.reject(error),
        }
    }

    /// Prints why an answer was rejected. The question stays open; the next poll sees if it was answered elsewhere.
    fn reject(&self, error: ReplyError) -> Result<Option<CallId>, PromptEnd> {
        match error {
            ReplyError::Failed(error) => Err(error.into()),
            error => {
                self.output.error(&format!("{:#}", anyhow::Error::from(error)));
                Ok(None)
            }
        }
    }

    /// Replaces the arguments, which makes a new call.
    async fn edit(&self, asked: &QuestionDetails) -> Result<Option<CallId>, PromptEnd> {
        let call = &asked.question.record.id;
        // Printed for copying if it fits on one line; `v` shows longer arguments.
        let now = asked.arguments.as_ref().map(serde_json::to_string).transpose()?;
        if let Some(now) = now.map(|now| single_line(&now)).filter(|now| self.view().fits(now)) {
            self.output.talk(now);
        }
        self.output.talk("All arguments as one line of JSON (empty: keep them):");
        let Some(line) = self.line(call).await? else { return Ok(None) };
        if line.trim().is_empty() {
            return Ok(None);
        }
        let arguments = match parse_object(&line) {
            Ok(arguments) => arguments,
            Err(error) => {
                self.output.error(&format!("invalid arguments: {error}"));
                return Ok(None);
            }
        };
        match self.approvals().edit(call, arguments).await {
            Ok(edited) => {
                self.output.talk(format_args!("  Edited; replaced by {}", edited.call));
                Ok(Some(edited.call))
            }
            Err(error) => {
                self.output.error(&format!("{:#}", anyhow::Error::from(error)));
                Ok(None)
            }
        }
    }

    /// Reads a key while the question is open.
    async fn key(&self, call: &CallId) -> Result<Key, PromptEnd> {
        let _quiet = self.with_terminal(Terminal::quiet)?;
        loop {
            self.poll(call).await?;
            if let Some(key) = self.read(|terminal| terminal.read_key(POLL_INTERVAL)).await? {
                return Ok(key);
            }
        }
    }

    /// Reads a line while the question is open; `None` at the end of input.
    async fn line(&self, call: &CallId) -> Result<Option<String>, PromptEnd> {
        while !self.read(|terminal| terminal.has_line(POLL_INTERVAL)).await? {
            self.poll(call).await?;
        }
        Ok(self.read(Terminal::read_line).await?)
    }

    /// Reads on a blocking thread.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Terminal) -> io::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let terminal = Arc::clone(&self.terminal);
        let reading = move || read(&mut terminal.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(tokio::task::spawn_blocking(reading).await??)
    }

    /// Fails if the question is closed or the prompt must end.
    async fn poll(&self, call: &CallId) -> Result<(), PromptEnd> {
        if self.stop.is_cancelled() || self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(PromptEnd::LeftOpen);
        }
        match question_stage(self.app, self.scope, call).await? {
            QuestionStage::Waiting => Ok(()),
            QuestionStage::Replaced(by) => {
                self.output.talk("Edited elsewhere");
                Err(PromptEnd::Answered(by))
            }
            QuestionStage::Answered => {
                self.output.talk("Answered elsewhere");
                Err(PromptEnd::Answered(call.clone()))
            }
            QuestionStage::Expired => {
                self.output.talk("Expired without an answer");
                Err(PromptEnd::Answered(call.clone()))
            }
        }
    }
}
