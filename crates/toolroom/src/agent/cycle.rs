//! The loop itself: ask, call what is asked for, ask again.

use std::sync::Arc;

use serde_json::Value;

use super::active_run::{ActiveRun, Closing, RunEnd, Stop};
use super::inline::recover_calls;
use super::run_request::{RunError, RunReport};
use super::sanitize::redact_answer;
use crate::conversation::{CallNotice, RunEvent};
use crate::model::{Answer, Block, Message, ModelCallId, Role, StopReason, Usage};
use crate::policy::CalledWith;

/// Retries after an answer without text and calls.
const MAX_EMPTY_ANSWERS: u32 = 1;

/// Most calls in one answer. More are a malfunction of the model.
const MAX_CALLS: usize = 512;

/// A warning is sent once this share of the budget is spent.
const NEAR_BUDGET: f64 = 0.8;

impl ActiveRun<'_> {
    /// Runs rounds until the run ends or waits.
    pub(super) async fn run(mut self) -> Result<RunReport, RunError> {
        let end = self.rounds().await;
        self.close(end).await
    }

    async fn rounds(&mut self) -> Result<RunEnd, Stop> {
        let mut empty = 0;
        loop {
            let waiting = self.call_open().await?;
            if !waiting.is_empty() {
                return Ok(RunEnd::Waiting(waiting));
            }
            self.check_iterations();
            self.check_budget().await?;
            self.make_room().await?;
            let mut answer = self.ask().await?;
            self.read_answer(&mut answer)?;
            match content_of(&answer) {
                AnswerContent::Calls => {
                    empty = 0;
                    self.keep_calls(answer).await?;
                }
                AnswerContent::Text(text) => {
                    let is_cut = answer.stop == StopReason::Length;
                    self.keep_answer(answer);
                    if is_cut {
                        let reason = "the answer was cut off at its token limit".to_owned();
                        self.events.send(RunEvent::Warned { limit: "answer".to_owned(), reason });
                    }
                    return Ok(RunEnd::Done(text));
                }
                AnswerContent::Empty => {
                    // The answer is not stored, but it was paid for.
                    self.pay_for(answer.usage);
                    if answer.stop == StopReason::Filtered {
                        return Err(Stop::failed("content_filter", "the model's vendor withheld the answer"));
                    }
                    if empty == MAX_EMPTY_ANSWERS {
                        return Err(Stop::failed("empty", empty_answer(&answer.stop)));
                    }
                    empty += 1;
                }
            }
        }
    }

    /// Makes the next answer the last one, once the limit is reached.
    fn check_iterations(&mut self) {
        let limit = self.agent.record.limits.iterations;
        if self.closing.is_none() && self.run.iterations >= limit {
            self.closing = Some(Closing::Iterations);
            let reason = format!("the model was asked {limit} times in this run");
            self.events.send(RunEvent::Guarded { guard: "iterations".to_owned(), reason });
        }
    }

    async fn check_budget(&mut self) -> Result<(), Stop> {
        let Some(budget) = self.agent.record.limits.daily_budget_usd else { return Ok(()) };
        let midnight = self.now().start_of_day();
        let kept = self.agent.conversations.spent(&self.run.scope, None, Some(midnight)).await?;
        // Includes costs of this run that are not stored yet.
        let spent = kept.cost + self.unstored_cost();
        if spent < budget {
            if spent >= budget * NEAR_BUDGET && !std::mem::replace(&mut self.warned, true) {
                let reason = format!("${spent:.2} of the daily budget of ${budget:.2} is spent");
                self.events.send(RunEvent::Warned { limit: "budget".to_owned(), reason });
            }
            return Ok(());
        }
        let message = format!(
            "the daily budget of ${budget:.2} is used up (${spent:.2}); it resets at midnight UTC, or an operator can raise it"
        );
        Err(Stop::failed("budget", message))
    }

    /// Converts an answer into the form that is stored.
    fn read_answer(&mut self, answer: &mut Answer) -> Result<(), Stop> {
        redact_answer(&mut answer.blocks, &self.redactor);
        self.recover_calls(answer);
        if self.closing.is_some() {
            // No calls are made any more.
            answer.blocks.retain(|block| !matches!(block, Block::Call { .. }));
            return Ok(());
        }
        let calls = answer.blocks.iter().filter(|block| matches!(block, Block::Call { .. })).count();
        if calls > MAX_CALLS {
            let message =
                format!("the model asked for {calls} calls at once, the limit is {MAX_CALLS}; none was made");
            return Err(Stop::failed("too_many_calls", message));
        }
        self.thread.make_unique(&mut answer.blocks);
        Ok(())
    }

    /// Finds calls that a weak model printed as text.
    fn recover_calls(&self, answer: &mut Answer) {
        if answer.blocks.iter().any(|block| matches!(block, Block::Call { .. })) {
            return;
        }
        let mut found = Vec::new();
        for block in &mut answer.blocks {
            let Block::Text { text, .. } = block else { continue };
            if let Some(recovered) = recover_calls(text, &self.tools.shown, self.tools.names()) {
                *text = recovered.text;
                found.extend(recovered.calls);
            }
        }
        answer.blocks.extend(found.into_iter().map(|call| Block::Call {
            id: ModelCallId::new(""),
            name: call.name,
            arguments: Value::Object(call.arguments).to_string().into(),
            opaque: None,
        }));
    }

    async fn keep_calls(&mut self, answer: Answer) -> Result<(), Stop> {
        let is_cut = answer.stop == StopReason::Length;
        self.keep_answer(answer);
        if is_cut {
            // The last call may lack arguments and still be valid. Stored in one step with the answer, so that a crash in
            // between does not make the call.
            self.answer_open(CUT_OFF);
            return Ok(self.commit_step().await?);
        }
        // Stored before any call is made: after a crash, the journal answers exactly these calls.
        self.commit_step().await?;
        self.judge_round();
        Ok(())
    }

    /// Stops a model that goes round in circles before its tools run.
    fn judge_round(&mut self) {
        let open = self.open_calls();
        let batch: Vec<_> = (open.iter())
            .map(|call| {
                let tool = self.tools.find(&call.name);
                (
                    tool.map_or(call.name.as_str(), |entry| entry.spec().id.as_str()),
                    CalledWith::Text(&call.arguments),
                )
            })
            .collect();
        let Some(repetition) = self.guard.judge(&batch) else { return };
        self.closing = Some(Closing::Repetition);
        self.events.send(RunEvent::Guarded {
            guard: repetition.guard.to_owned(),
            reason: repetition.reason.clone(),
        });
        let error = format!("not called: {}", repetition.reason);
        let blocks = open.iter().map(|call| call.error(&error, Some(NO_MORE_CALLS))).collect();
        self.say(Message { role: Role::User, blocks });
    }

    /// Replays the earlier rounds of a resumed run to the repeat guard. A round with open calls may not have been judged.
    pub(super) fn remember_rounds(&mut self) {
        let rounds = usize::try_from(self.run.iterations).unwrap_or(usize::MAX);
        let turns = self.request.messages.iter().filter(|message| message.role == Role::Assistant);
        let mut turns: Vec<Arc<Message>> = turns.rev().take(rounds).cloned().collect();
        turns.reverse();
        let is_open = !self.open_calls().is_empty();
        let judged = turns.len() - usize::from(is_open && !turns.is_empty());
        for turn in turns.iter().take(judged) {
            let calls = turn.blocks.iter().filter_map(|block| match block {
                Block::Call { name, arguments, .. } => {
                    let tool = self.tools.find(name);
                    Some((
                        tool.map_or(name.as_str(), |entry| entry.spec().id.as_str()),
                        CalledWith::Text(arguments),
                    ))
                }
                _ => None,
            });
            let batch: Vec<_> = calls.collect();
            if !batch.is_empty() && self.guard.judge(&batch).is_some() {
                self.closing = Some(Closing::Repetition);
            }
        }
        if is_open {
            self.judge_round();
        }
    }

    fn keep_answer(&mut self, answer: Answer) {
        let candidate = self.agent.chain.get(self.candidate);
        let model: Arc<str> = candidate.map_or("", |candidate| candidate.model.name()).into();
        self.run.iterations += 1;
        self.last_prompt = Some(answer.usage.input).filter(|tokens| *tokens > 0);
        self.run.model = Some(Arc::clone(&model));
        let cost = self.pay_for(answer.usage);
        let calls = answer.blocks.iter().filter_map(|block| self.notice(block)).collect();
        let usage = answer.usage;
        let message = answer.into_message();
        self.events.send(RunEvent::Answered { model, text: message.text(), calls, usage, cost });
        self.say(message);
    }

    /// Writes down what an answer of the model that was asked cost.
    fn pay_for(&mut self, usage: Usage) -> Option<f64> {
        let candidate = self.agent.chain.get(self.candidate).cloned()?;
        self.pay(&candidate, "answer", usage)
    }

    fn notice(&self, block: &Block) -> Option<CallNotice> {
        match block {
            Block::Call { id, name, arguments, .. } => Some(self.call_notice(id, name, arguments)),
            _ => None,
        }
    }

    /// A call as listeners see it.
    pub(super) fn call_notice(&self, id: &ModelCallId, name: &str, arguments: &str) -> CallNotice {
        let entry = self.tools.find(name);
        let mut shown =
            serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()));
        self.redactor.redact_value(&mut shown);
        CallNotice {
            id: id.clone(),
            tool: entry.map_or(name, |entry| entry.spec().id.as_str()).into(),
            title: entry.map_or(name, |entry| entry.spec().title.as_str()).to_owned(),
            arguments: Arc::new(shown),
        }
    }
}

const NO_MORE_CALLS: &str = "no more tools can be called in this run; answer with what is known";

const CUT_OFF: &str = "not called: your answer was cut off at its token limit, so this call may be incomplete; \
    make fewer calls at once, or shorter ones";

fn empty_answer(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::Length => {
            "the model used up its answer tokens before it wrote any text; raise the agent's `max_tokens`"
        }
        _ => "the model gave an empty answer more than once",
    }
}

enum AnswerContent {
    Calls,
    Text(String),
    Empty,
}

fn content_of(answer: &Answer) -> AnswerContent {
    if answer.blocks.iter().any(|block| matches!(block, Block::Call { .. })) {
        return AnswerContent::Calls;
    }
    let mut words = answer.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    });
    match words.next() {
        None => AnswerContent::Empty,
        Some(first) => AnswerContent::Text(words.fold(first.to_owned(), |all, next| all + "\n" + next)),
    }
}
