//! Asks the agent's models, in the order of the fallback chain.

use std::fmt::Write;
use std::sync::Arc;

use super::active_run::{ActiveRun, Closing, Stop};
use super::event_sink::AnswerStream;
use super::tokens;
use crate::conversation::RunEvent;
use crate::model::{Answer, Message, Model, ModelError, ModelErrorKind, ModelFacts, ModelRequest, ToolUse};

/// Retries of a model that reports a context overflow, each with a shorter conversation.
const MAX_OVERFLOWS: u32 = 2;

/// Share of the conversation that is sent in such a retry, in percent.
const OVERFLOW_PERCENT: u64 = 60;

/// A model the agent may use, with what is known about it.
#[derive(Clone)]
pub struct Candidate {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its context window, prices and abilities.
    pub facts: ModelFacts,
}

impl Candidate {
    /// A model about which nothing is known.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self { model, facts: ModelFacts::UNKNOWN }
    }

    /// Sets what is known about it.
    #[must_use]
    pub fn facts(mut self, facts: ModelFacts) -> Self {
        self.facts = facts;
        self
    }
}

impl ActiveRun<'_> {
    /// The next answer, from the first model of the chain that gives one. A model that failed is not asked again in this
    /// run; the next one continues the same conversation.
    pub(super) async fn ask(&mut self) -> Result<Answer, Stop> {
        let mut failures = Vec::new();
        while let Some(candidate) = self.agent.chain.get(self.candidate).cloned() {
            match self.ask_one(&candidate).await {
                Ok(answer) => return Ok(answer),
                Err(error) if error.kind == ModelErrorKind::Cancelled => return Err(Stop::Cancelled),
                Err(error) => {
                    self.candidate += 1;
                    let next = self.agent.chain.get(self.candidate);
                    let next = next.map(|next| next.model.name().into());
                    let reason = self.without_secrets(&format!("{}: {error}", candidate.model.name()));
                    if next.is_some() {
                        self.events.send(RunEvent::Void { reason: reason.clone(), next, after_ms: None });
                    }
                    failures.push((error.kind, reason));
                }
            }
        }
        Err(no_answer(&failures))
    }

    async fn ask_one(&mut self, candidate: &Candidate) -> Result<Answer, ModelError> {
        let mut overflows = 0;
        let mut most = u64::MAX;
        let mut bare = !candidate.facts.tools;
        loop {
            let kept = self.fitting(candidate, most)?;
            let model = candidate.model.name();
            self.events.send(RunEvent::Asking { model: model.into(), iteration: self.run.iterations + 1 });
            let size = kept.as_ref().map_or(self.thread.total(), |kept| measure(kept));
            let estimate = self.fixed + size;
            match self.send(candidate, kept, bare).await {
                Ok(answer) => {
                    self.estimator().learn(model, estimate, answer.usage.input);
                    return Ok(answer);
                }
                Err(error) if error.kind == ModelErrorKind::ContextOverflow && overflows < MAX_OVERFLOWS => {
                    overflows += 1;
                    // The window may be smaller than configured, so correcting the estimate may not help.
                    most = size.saturating_mul(OVERFLOW_PERCENT) / 100;
                    if let Some(window) = error.window {
                        let room = self.estimator().estimate_for(model, window).saturating_sub(self.fixed);
                        most = most.min(room);
                    }
                    self.estimator().refused(model, estimate, candidate.facts.window);
                    self.report_retry(&error);
                }
                // A model on the device may fail because of the tools: it gets one try without them.
                Err(error)
                    if candidate.facts.on_device && !bare && error.kind != ModelErrorKind::Cancelled =>
                {
                    bare = true;
                    self.report_retry(&error);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reports that the same model is asked once more.
    fn report_retry(&self, error: &ModelError) {
        let reason = self.without_secrets(&error.to_string());
        self.events.send(RunEvent::Void { reason, next: None, after_ms: Some(0) });
    }

    /// A vendor's error message may repeat the request.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        self.redactor.redact_text(text).into_owned()
    }

    async fn send(
        &mut self,
        candidate: &Candidate,
        kept: Option<Vec<Arc<Message>>>,
        bare: bool,
    ) -> Result<Answer, ModelError> {
        let special;
        let request = match (kept, self.closing, bare) {
            (None, None, false) => &self.request,
            (kept, closing, bare) => {
                special = adapted(&self.request, kept, closing, bare);
                &special
            }
        };
        let redactor = &self.redactor;
        let mut stream = AnswerStream::new(&self.events, &self.tools, redactor);
        let mut on_event = |event| stream.receive(event);
        let answer = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Err(ModelError::new(ModelErrorKind::Cancelled, "stopped")),
            answer = candidate.model.ask(request, &mut on_event, &self.cancellation) => answer,
        };
        stream.flush();
        answer.map_err(|error| ModelError {
            message: redactor.redact_text(&error.message).into_owned(),
            ..error
        })
    }
}

fn measure(messages: &[Arc<Message>]) -> u64 {
    messages.iter().map(|message| tokens::message(message)).sum()
}

/// The request with fewer messages, without tools, or closing the run.
fn adapted(
    request: &ModelRequest,
    kept: Option<Vec<Arc<Message>>>,
    closing: Option<Closing>,
    bare: bool,
) -> ModelRequest {
    let mut changed = ModelRequest {
        messages: kept.unwrap_or_else(|| request.messages.clone()),
        tools: Arc::clone(&request.tools),
        system: request.system.clone(),
        ..*request
    };
    if bare {
        changed.tools = [].into();
    }
    if let Some(closing) = closing {
        changed.tool_use = ToolUse::Never;
        let why = match closing {
            Closing::Iterations => "You have used tools as often as one run may.",
            Closing::Repetition => "Your last tool calls repeat earlier ones and were not made.",
        };
        let instruction = "Answer now with what you know, say what is missing, and call no more tools.";
        changed.system.changing = format!("{}\n\n{why} {instruction}", changed.system.changing).into();
    }
    changed
}

fn no_answer(failures: &[(ModelErrorKind, String)]) -> Stop {
    match failures {
        [] => Stop::failed("no_model", "no model is set for this agent; see `toolroom models list`"),
        [(kind, reason)] => Stop::failed(kind.as_str(), reason.clone()),
        [(kind, _), ..] => {
            let mut message = "no model answered:".to_owned();
            for (_, reason) in failures {
                // Writing to a string cannot fail.
                let _ = write!(message, "\n- {reason}");
            }
            Stop::failed(kind.as_str(), message)
        }
    }
}
