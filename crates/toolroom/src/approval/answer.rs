//! Records a person's answer to a question.

use std::borrow::Cow;
use std::sync::Arc;

use super::coverage::covers;
use super::responder::Responder;
use super::sealed::{Lift, SealedRequest};
use crate::call::described;
use crate::catalog::Entry;
use crate::ledger::{
    Answer, AnswerId, CallId, CallRecord, DecideError, Decision, Question, SealError, StandingAnswer,
};
use crate::policy::{Condition, ConditionError, Ruling, asks_each_time};
use crate::redact::RedactionError;
use crate::scope::{ProjectId, Scope};
use crate::tool::{Capability, ClientTool, ToolSpec};
use crate::toolroom::Toolroom;

/// An answer to a question.
#[derive(Debug, Clone)]
pub struct AnswerRequest {
    /// The parked call.
    pub call: CallId,
    /// The scope of the person who answers.
    pub scope: Scope,
    /// The rights of the person. A client does not answer, it [delivers](Toolroom::deliver).
    pub by: Responder,
    /// The answer. [`Answer::Edit`] has a method of its own.
    pub answer: Answer,
    /// For *session*, *always* and *never*: which calls of the tool it covers; all if absent.
    pub when: Option<String>,
}

/// Why an answer was refused. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// Nothing waits, or this responder may not answer.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The condition is invalid.
    #[error("invalid condition")]
    Condition(#[from] ConditionError),
    /// The condition does not cover the call in question.
    #[error("the condition `{0}` is false for this call; use one that covers it")]
    NotThisCall(String),
    /// Only single calls and conversations can be approved.
    #[error("this question is asked each time, because {reason}; answer it once, or for this conversation")]
    NotForever {
        /// Why.
        reason: &'static str,
    },
    /// The tool's definition requires an answer for each call.
    #[error("each call of `{tool}` is answered by itself: answer once")]
    OnlyOnce {
        /// The tool.
        tool: String,
    },
    /// An unconditional approval would approve every program.
    #[error(
        "`{tool}` starts programs: say which ones, with a condition such as `args.command == 'ls'`, or answer once"
    )]
    NeedsCondition {
        /// The tool.
        tool: String,
    },
    /// Conditions are stored, listed and exported in plain text.
    #[error("the condition contains a secret; compare with another value")]
    Secret,
    /// An approval of the provenance question covers one destination already.
    #[error("an approval of this question covers one destination; leave the condition out")]
    NoCondition,
    /// Only answers that outlive the question can have a condition.
    #[error("a condition needs the answer `session`, `always` or `never`")]
    NothingStands,
    /// Edited arguments are passed to [`Toolroom::edit`].
    #[error("an edit needs new arguments")]
    NoArguments,
    /// The secrets to check the condition for cannot be read.
    #[error(transparent)]
    Unreadable(RedactionError),
    /// The sealed request cannot be opened.
    #[error(transparent)]
    Sealed(#[from] SealError),
}

impl Toolroom {
    /// Records an answer and runs nothing. Returns the standing answer it leaves, if any.
    ///
    /// # Errors
    /// When nothing waits, this responder may not answer, or the answer is invalid.
    pub async fn answer(&self, request: AnswerRequest) -> Result<Option<StandingAnswer>, AnswerError> {
        let standing = self.standing_answer(&request).await?;
        let decision = Decision {
            call: request.call,
            scope: request.scope,
            answer: request.answer,
            by: request.by.answerer(),
            at: self.clock.now(),
            standing: standing.clone(),
        };
        self.ledger.decide(decision).await?;
        Ok(standing)
    }

    /// The standing answer this answer would leave, without saving it.
    ///
    /// # Errors
    /// As [`Toolroom::answer`], as far as can be checked without writing.
    pub async fn standing_answer(
        &self,
        request: &AnswerRequest,
    ) -> Result<Option<StandingAnswer>, AnswerError> {
        self.check_responder(&request.by, &request.scope, &request.call, request.answer).await?;
        let effect = match request.answer {
            Answer::Session | Answer::Always => Ruling::Allow,
            Answer::Never => Ruling::Deny,
            Answer::Edit => return Err(AnswerError::NoArguments),
            Answer::Once | Answer::No | Answer::Stop if request.when.is_some() => {
                return Err(AnswerError::NothingStands);
            }
            Answer::No | Answer::Stop => return Ok(None),
            Answer::Once => Ruling::Allow,
        };
        let question = self.question(&request.scope, &request.call).await?;
        let rule = question.record.rule.as_deref().unwrap_or_default();
        if matches!(request.answer, Answer::Once | Answer::Session) && asks_each_time(rule) {
            return self.lift(request, &question, rule);
        }
        if request.answer == Answer::Once {
            return Ok(None);
        }
        let entry = self.entry_of(&question)?;
        let spec = match (&entry, SealedRequest::open(self, &question)?) {
            // What the tool is with these arguments.
            (Some(entry), Some(request)) => described(entry, &request.arguments).ok().or(Some(entry.spec())),
            (Some(entry), None) => Some(entry.spec()),
            (None, _) => None,
        };
        check_single(effect, spec, &question.record.tool)?;
        // Without a conversation, *session* covers this call only.
        if request.answer == Answer::Session && question.record.thread.is_none() {
            return Ok(None);
        }
        let standing = StandingAnswer {
            id: AnswerId::fresh(self.clock.as_ref()),
            scope: question.record.scope.clone(),
            effect,
            tool: question.record.tool.clone(),
            when: request.when.clone(),
            lifts: (effect == Ruling::Allow).then(|| rule.to_owned()),
            definition: (effect == Ruling::Allow).then(|| question.approval.definition_hash.clone()),
            thread: question.record.thread.clone().filter(|_| request.answer == Answer::Session),
            destination: None,
            call: request.call.clone(),
            by: request.by.answerer(),
            at: self.clock.now(),
        };
        self.check_standing(&standing, entry.as_deref(), &question)?;
        if let Some(when) = &standing.when {
            self.check_for_secrets(&standing.scope.project, when).await?;
        }
        Ok(Some(standing))
    }

    /// The standing answer to a provenance question: the conversation, or the source of direct calls, may send to this
    /// destination without another question. `None` if the tool takes single answers only.
    fn lift(
        &self,
        request: &AnswerRequest,
        question: &Question,
        rule: &str,
    ) -> Result<Option<StandingAnswer>, AnswerError> {
        if request.when.is_some() {
            return Err(AnswerError::NoCondition);
        }
        let entry = self.entry_of(question)?;
        let spec = entry.as_deref().map(Entry::spec);
        if request.answer == Answer::Session {
            check_single(Ruling::Allow, spec, &question.record.tool)?;
        }
        let is_single = spec.is_none_or(|spec| spec.single_answers);
        let lift = SealedRequest::open(self, question)?.and_then(|sealed| sealed.lift);
        Ok(lift.filter(|_| !is_single).map(|Lift { origin, destination }| StandingAnswer {
            id: AnswerId::fresh(self.clock.as_ref()),
            scope: question.record.scope.clone(),
            effect: Ruling::Allow,
            tool: question.record.tool.clone(),
            when: None,
            lifts: Some(rule.to_owned()),
            definition: None,
            thread: Some(origin),
            destination: Some(destination),
            call: request.call.clone(),
            by: request.by.answerer(),
            at: self.clock.now(),
        }))
    }

    /// The tool of a parked call, if it still exists. Client tools are sealed with the call.
    pub(super) fn entry_of(&self, question: &Question) -> Result<Option<Arc<Entry>>, SealError> {
        let CallRecord { scope, tool, .. } = &question.record;
        if !ClientTool::has_id(tool) {
            return Ok(self.catalog.find(&scope.project, tool).ok());
        }
        let client_tool = SealedRequest::open(self, question)?.and_then(|request| request.client_tool);
        Ok(client_tool.and_then(|tool| self.catalog.client_entry(&tool).ok()))
    }

    fn check_standing(
        &self,
        standing: &StandingAnswer,
        entry: Option<&Entry>,
        question: &Question,
    ) -> Result<(), AnswerError> {
        if let Some(when) = &standing.when {
            let condition = Condition::parse(when)?;
            let holds = match SealedRequest::open(self, question)? {
                Some(request) => {
                    let (arguments, provenance) = (&request.arguments, request.provenance);
                    covers(Some(&condition), entry, &question.record, arguments, provenance)
                }
                // Without the request the condition cannot be checked.
                None => true,
            };
            if !holds {
                return Err(AnswerError::NotThisCall(when.clone()));
            }
        }
        may_stand(standing, entry)
    }

    /// Checks a standing answer from elsewhere by the rules for answers to questions.
    ///
    /// # Errors
    /// When it would not be accepted as an answer.
    pub fn check_answer(&self, standing: &StandingAnswer) -> Result<(), AnswerError> {
        let entry = self.catalog.find(&standing.scope.project, &standing.tool).ok();
        check_single(standing.effect, entry.as_deref().map(Entry::spec), &standing.tool)?;
        may_stand(standing, entry.as_deref())
    }

    async fn check_for_secrets(&self, project: &ProjectId, when: &str) -> Result<(), AnswerError> {
        let revision = self.switchboard.standing(project).await.map_err(DecideError::from)?.revision;
        let redactor = self.redactions.redactor(project, revision).await.map_err(AnswerError::Unreadable)?;
        match redactor.redact_text(when) {
            Cow::Borrowed(_) => Ok(()),
            Cow::Owned(_) => Err(AnswerError::Secret),
        }
    }

    /// A question that waits and has not expired.
    pub(super) async fn question(&self, scope: &Scope, call: &CallId) -> Result<Question, DecideError> {
        let question = self.approvals.question(scope, call).await?;
        let question = question.filter(|question| !question.is_late(self.clock.now()));
        question.ok_or_else(|| DecideError::NotWaiting(call.clone()))
    }
}

/// Refuses approvals of later calls of a tool that takes single answers only.
fn check_single(effect: Ruling, spec: Option<&ToolSpec>, tool: &str) -> Result<(), AnswerError> {
    match spec {
        Some(spec) if effect == Ruling::Allow && spec.single_answers => {
            Err(AnswerError::OnlyOnce { tool: tool.to_owned() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses standing approvals that cover too much. An unknown tool counts as one that starts programs.
fn may_stand(standing: &StandingAnswer, entry: Option<&Entry>) -> Result<(), AnswerError> {
    if standing.effect == Ruling::Deny {
        return Ok(());
    }
    let is_narrowed = standing.thread.is_some() && standing.destination.is_some();
    if standing.lifts.as_deref().is_some_and(asks_each_time) && !is_narrowed {
        let reason = "the call would complete what a run needs to leak private data";
        return Err(AnswerError::NotForever { reason });
    }
    if standing.thread.is_some() {
        return Ok(());
    }
    let starts_programs =
        entry.is_none_or(|entry| entry.spec().effective_capabilities().has(Capability::Exec));
    let condition = standing.when.as_deref().map(Condition::parse).transpose()?;
    let is_narrow = condition.is_some_and(|condition| !condition.arguments().is_empty());
    if starts_programs && !is_narrow {
        return Err(AnswerError::NeedsCondition { tool: standing.tool.to_string() });
    }
    Ok(())
}
