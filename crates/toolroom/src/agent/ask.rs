//! Asking the agent's models, the first one first.

use std::fmt::Write;

use super::candidate::Candidate;
use super::working::{Closing, Stop, Working};
use crate::conversation::RunEvent;
use crate::model::{Answer, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ToolUse};

impl Working<'_> {
    /// The next answer, from whoever gives one. Who has failed is not asked again in this run, and what the tools have
    /// done stays done: the next model goes on where this one stopped.
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
                    let reason = format!("{}: {error}", candidate.model.name());
                    if next.is_some() {
                        self.teller.tell(RunEvent::Void { reason: reason.clone(), next, after_ms: None });
                    }
                    failures.push((error.kind, reason));
                }
            }
        }
        Err(no_answer(&failures))
    }

    async fn ask_one(&mut self, candidate: &Candidate) -> Result<Answer, ModelError> {
        let iteration = self.run.iterations + 1;
        self.teller.tell(RunEvent::Asking { model: candidate.model.name().into(), iteration });
        let answer = self.put(candidate, self.without_tools(candidate)).await;
        match answer {
            Err(error) if retry_without_tools(candidate, &error) && !self.without_tools(candidate) => {
                self.teller.tell(RunEvent::Void {
                    reason: error.to_string(),
                    next: Some(candidate.model.name().into()),
                    after_ms: Some(0),
                });
                self.put(candidate, true).await
            }
            answer => answer,
        }
    }

    fn without_tools(&self, candidate: &Candidate) -> bool {
        !candidate.facts.tools
    }

    async fn put(&mut self, candidate: &Candidate, bare: bool) -> Result<Answer, ModelError> {
        let special;
        let request = match (self.closing, bare) {
            (None, false) => &self.request,
            (closing, bare) => {
                special = changed(&self.request, closing, bare);
                &special
            }
        };
        let (teller, tools) = (&self.teller, &self.tools);
        let mut told = |event: ModelEvent| match event {
            ModelEvent::Text(text) => teller.tell(RunEvent::Text { text }),
            ModelEvent::Reasoning(text) => teller.tell(RunEvent::Reasoning { text }),
            ModelEvent::Call { name, .. } => {
                let entry = tools.find(&name);
                let tool = entry.map_or(name.as_str(), |entry| entry.spec().id.as_str()).into();
                teller.tell(RunEvent::Writing { tool });
            }
            ModelEvent::Arguments { .. } => {}
            ModelEvent::Again { reason, after } => {
                let after_ms = Some(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
                teller.tell(RunEvent::Void { reason, next: None, after_ms });
            }
        };
        let cancelled = self.cancellation.cancelled();
        tokio::select! {
            biased;
            () = cancelled => Err(ModelError::new(ModelErrorKind::Cancelled, "stopped")),
            answer = candidate.model.ask(request, &mut told, &self.cancellation) => answer,
        }
    }
}

/// A model on the device may fail over the tools alone; it gets one more try without them.
fn retry_without_tools(candidate: &Candidate, error: &ModelError) -> bool {
    candidate.facts.on_device && error.kind != ModelErrorKind::Cancelled
}

/// The question with other terms than usual.
fn changed(request: &ModelRequest, closing: Option<Closing>, bare: bool) -> ModelRequest {
    let mut changed = request.clone();
    if bare {
        changed.tools = [].into();
    }
    if let Some(closing) = closing {
        changed.tool_use = ToolUse::Never;
        let why = match closing {
            Closing::Iterations => "You have used tools as often as one run may.",
            Closing::Repetition => "Your last tool calls repeat earlier ones and were not made.",
        };
        let wish = "Answer now with what you know, say what is missing, and call no more tools.";
        changed.system.changing = format!("{}\n\n{why} {wish}", changed.system.changing).into();
    }
    changed
}

fn no_answer(failures: &[(ModelErrorKind, String)]) -> Stop {
    match failures {
        [] => Stop::failed("no_model", "no model is set for this agent; see `toolroom models list`"),
        [(kind, reason)] => Stop::failed(kind.as_str(), reason.clone()),
        [(kind, _), ..] => {
            let mut message = "no model could answer:".to_owned();
            for (_, reason) in failures {
                // Writing to a text cannot fail.
                let _ = write!(message, "\n- {reason}");
            }
            Stop::failed(kind.as_str(), message)
        }
    }
}
