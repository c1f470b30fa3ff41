//! Makes room in the window: summarizes older messages, or leaves them out.

use std::sync::Arc;

use super::active_run::{ActiveRun, Stop};
use super::ask::Candidate;
use super::compact::{self, Compaction};
use super::trim::trim;
use crate::conversation::{Content, RunEvent, UsageRow};
use crate::model::{Message, ModelError, ModelErrorKind, ModelRequest, Usage};

/// Reserved for the answer: this share of the window, in percent, and at most this many tokens.
const ANSWER_PERCENT: u64 = 12;
const ANSWER_TOKENS: u64 = 8_000;

impl ActiveRun<'_> {
    /// Summarizes the older part of the conversation when it nears the window of the current model.
    pub(super) async fn make_room(&mut self) -> Result<(), Stop> {
        let Some(candidate) = self.agent.chain.get(self.candidate).cloned() else { return Ok(()) };
        let model = candidate.model.name();
        let window = candidate.facts.window;
        let before = self.fixed + self.thread.total();
        if !compact::is_due(self.estimator().corrected(model, before), window) {
            return Ok(());
        }
        let room = self.estimator().estimate_for(model, window).saturating_sub(self.fixed);
        let heading = self.thread.heading();
        let said = self.request.messages.get(heading..).unwrap_or_default();
        let sizes = self.thread.sizes().get(heading..).unwrap_or_default();
        let Some(cut) = Compaction::find(said, sizes, room) else { return Ok(()) };
        let question = cut.request(said, self.thread.summary(), &candidate.facts);
        let covers = self.thread.place_of(cut.first);
        let summary_of = |working: &Self, text: Option<&str>| {
            let mut summary = cut.summary(text, working.thread.summary(), covers, before);
            summary.after += working.fixed;
            (summary.after < before).then_some(summary)
        };
        // If dropping gains nothing, a summary gains less: no model is asked for one.
        let Some(dropped) = summary_of(self, None) else { return Ok(()) };
        let said = self.sum_up(&candidate, &question).await?;
        let summary = said.and_then(|text| summary_of(self, Some(&text)));
        let summarised = summary.is_some();
        let summary = Arc::new(summary.unwrap_or(dropped));
        let after = summary.after;
        self.enter(Content::Summary(Arc::clone(&summary)));
        self.thread.compact(&cut, summary, &mut self.request.messages);
        self.events.send(RunEvent::Compacted { before, after, summarised });
        self.queue_step();
        Ok(())
    }

    /// Asks for a summary, once. Without one the older part is dropped, so that the conversation can continue.
    async fn sum_up(
        &mut self,
        candidate: &Candidate,
        question: &ModelRequest,
    ) -> Result<Option<String>, Stop> {
        let mut ignore = |_| {};
        let cancellation = self.cancellation.clone();
        let answer = tokio::select! {
            biased;
            () = cancellation.cancelled() => return Err(Stop::Cancelled),
            answer = candidate.model.ask(question, &mut ignore, &cancellation) => answer,
        };
        match answer {
            Ok(answer) => {
                self.pay(candidate, "summary", answer.usage);
                let text = answer.into_message().text();
                let text = self.redactor.redact_text(&text).into_owned();
                Ok((!text.trim().is_empty()).then_some(text))
            }
            Err(error) if error.kind == ModelErrorKind::Cancelled => Err(Stop::Cancelled),
            Err(error) => {
                let error = self.without_secrets(&error.to_string());
                tracing::warn!(run = %self.run.id, %error, "the conversation could not be summed up");
                Ok(None)
            }
        }
    }

    /// Records the cost of an answer.
    pub(super) fn pay(&mut self, candidate: &Candidate, purpose: &str, usage: Usage) -> Option<f64> {
        let cost = candidate.facts.price.map(|price| price.cost(&usage));
        self.spend(UsageRow {
            at: self.now(),
            scope: self.run.scope.clone(),
            run: self.run.id.clone(),
            conversation: self.run.conversation.clone(),
            agent: self.run.agent.clone(),
            model: candidate.model.name().into(),
            purpose: purpose.into(),
            usage,
            cost,
        });
        cost
    }

    /// The messages that fit the model's window and `most` tokens; `None` for all. If the last message would have to be
    /// shortened, a later model with a larger window is preferred.
    pub(super) fn fitting(
        &self,
        candidate: &Candidate,
        most: u64,
    ) -> Result<Option<Vec<Arc<Message>>>, ModelError> {
        let window = candidate.facts.window;
        let longest = candidate.facts.max_output.map_or(ANSWER_TOKENS, u64::from).min(ANSWER_TOKENS);
        let answer = (window.saturating_mul(ANSWER_PERCENT) / 100).min(longest);
        let room = self.estimator().estimate_for(candidate.model.name(), window.saturating_sub(answer));
        let room = room.saturating_sub(self.fixed).min(most);
        if self.thread.total() <= room {
            return Ok(None);
        }
        let messages = &self.request.messages;
        let trimmed = trim(messages, self.thread.sizes(), room)
            .map_err(|too_large| ModelError::new(ModelErrorKind::ContextOverflow, too_large.to_string()))?;
        let later = self.agent.chain.get(self.candidate + 1..).unwrap_or_default();
        if !trimmed.shortened.is_empty() && later.iter().any(|later| later.facts.window > window) {
            let message = format!("its window of {window} tokens is too small for the last message");
            return Err(ModelError::new(ModelErrorKind::ContextOverflow, message));
        }
        Ok(Some(trimmed.sent(messages)))
    }
}
