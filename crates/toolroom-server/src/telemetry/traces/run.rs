//! The trace of a run, made of what its watchers are told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolroom::clock::{Clock as _, SystemClock, Timestamp};
use toolroom::conversation::{NumberedEvent, RunEvent};
use toolroom::model::{ModelCallId, Usage};

use super::context::{SpanContext, SpanId};
use super::span::{Attribute, Kind, Span};
use super::tracer::{ToolEnd, Tracer};

/// A run that is being worked on. It is over when this is dropped.
pub(crate) struct RunTrace {
    tracer: Arc<Tracer>,
    context: SpanContext,
    parent: Option<SpanId>,
    state: Mutex<State>,
}

struct State {
    start: Timestamp,
    end: Timestamp,
    agent: Option<String>,
    attributes: Vec<(&'static str, Attribute)>,
    /// A model that is being asked.
    asking: Option<Asking>,
    /// When calls began.
    calls: HashMap<ModelCallId, Timestamp>,
    ended: Option<&'static str>,
    failure: Option<String>,
}

struct Asking {
    model: Arc<str>,
    since: Timestamp,
}

impl RunTrace {
    /// A run begins, because of `above` if that is still known.
    pub(crate) fn begin(tracer: Arc<Tracer>, above: Option<SpanContext>) -> Self {
        let context =
            above.map_or_else(|| SpanContext::root(&SystemClock), |above| above.child(&SystemClock));
        let now = SystemClock.now();
        let state = State {
            start: now,
            end: now,
            agent: None,
            attributes: vec![("gen_ai.operation.name", "invoke_agent".into())],
            asking: None,
            calls: HashMap::new(),
            ended: None,
            failure: None,
        };
        Self { tracer, context, parent: above.map(|above| above.span), state: Mutex::new(state) }
    }

    /// Something happened in it.
    pub(crate) fn event(&self, NumberedEvent { at, event, .. }: &NumberedEvent) {
        // Each change is whole when the lock is given back.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.end = *at;
        match event {
            RunEvent::Started { run, conversation, agent, resumed } => {
                state.start = *at;
                state.agent = Some(agent.to_string());
                state.attributes.extend([
                    ("gen_ai.agent.id", agent.to_string().into()),
                    ("gen_ai.conversation.id", conversation.to_string().into()),
                    ("toolroom.run.id", run.to_string().into()),
                    ("toolroom.run.resumed", if *resumed { "true" } else { "false" }.into()),
                ]);
            }
            RunEvent::Asking { model, .. } => {
                state.asking = Some(Asking { model: Arc::clone(model), since: *at });
            }
            RunEvent::Void { next, after_ms, .. } => {
                let Some(asking) = state.asking.take() else { return };
                let model = next.clone().unwrap_or_else(|| Arc::clone(&asking.model));
                self.asked(asking, *at, Err("void"));
                let since = at.after(Duration::from_millis(after_ms.unwrap_or(0)));
                state.asking = Some(Asking { model, since });
            }
            RunEvent::Answered { model, usage, .. } => {
                let since = state.asking.take().map_or(*at, |asking| asking.since);
                self.asked(Asking { model: Arc::clone(model), since }, *at, Ok(usage));
            }
            RunEvent::CallBegan(notice) => drop(state.calls.insert(notice.id.clone(), *at)),
            RunEvent::CallEnded { id, tool, outcome, duration_us, .. } => {
                state.calls.remove(id);
                let start = at.before(Duration::from_micros(*duration_us));
                self.called(id, &ToolEnd { tool, outcome, rule: None }, start, *at);
            }
            RunEvent::Asks { id, tool, rule, .. } => {
                let start = state.calls.remove(id).unwrap_or(*at);
                self.called(id, &ToolEnd { tool, outcome: "pending", rule: Some(rule) }, start, *at);
            }
            RunEvent::Handed { id, tool, .. } => {
                let start = state.calls.remove(id).unwrap_or(*at);
                self.called(id, &ToolEnd { tool, outcome: "handed", rule: None }, start, *at);
            }
            RunEvent::Waiting { .. } => state.ended = Some("waiting"),
            RunEvent::Done { usage, .. } => {
                state.attributes.extend(of_usage(usage));
                state.ended = Some("done");
            }
            RunEvent::Failed(failure) => {
                if let Some(asking) = state.asking.take() {
                    self.asked(asking, *at, Err(&failure.kind));
                }
                state.failure = Some(failure.kind.clone());
                state.ended = Some("failed");
            }
            RunEvent::Cancelled => state.ended = Some("cancelled"),
            RunEvent::Text { .. }
            | RunEvent::Reasoning { .. }
            | RunEvent::Writing { .. }
            | RunEvent::CallProgress { .. }
            | RunEvent::Guarded { .. }
            | RunEvent::Warned { .. }
            | RunEvent::Compacted { .. } => {}
        }
    }

    fn asked(&self, Asking { model, since }: Asking, end: Timestamp, came: Result<&Usage, &str>) {
        let (vendor, name) = model.split_once('/').unwrap_or(("toolroom", &model));
        let mut attributes: Vec<(&'static str, Attribute)> = vec![
            ("gen_ai.operation.name", "chat".into()),
            ("gen_ai.provider.name", vendor.to_owned().into()),
            ("gen_ai.request.model", name.to_owned().into()),
        ];
        match came {
            Ok(usage) => attributes.extend(of_usage(usage)),
            Err(kind) => attributes.push(("error.type", kind.to_owned().into())),
        }
        self.below(format!("chat {name}"), Kind::Client, (since, end), attributes, came.is_err());
    }

    fn called(&self, id: &ModelCallId, end: &ToolEnd<'_>, start: Timestamp, at: Timestamp) {
        let mut span = end.span(self.context, start, at);
        span.attributes.push(("gen_ai.tool.call.id", id.to_string().into()));
        self.tracer.take(span);
    }

    fn below(
        &self,
        name: String,
        kind: Kind,
        (start, end): (Timestamp, Timestamp),
        attributes: Vec<(&'static str, Attribute)>,
        has_failed: bool,
    ) {
        let context = self.context.child(&SystemClock);
        let parent = Some(self.context.span);
        self.tracer.take(Span { context, parent, name, kind, start, end, attributes, has_failed });
    }
}

fn of_usage(usage: &Usage) -> [(&'static str, Attribute); 2] {
    [("gen_ai.usage.input_tokens", usage.input.into()), ("gen_ai.usage.output_tokens", usage.output.into())]
}

impl Drop for RunTrace {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // What never began is no run.
        let Some(agent) = state.agent.take() else { return };
        let ended = state.ended.unwrap_or("broken_off");
        let mut attributes = std::mem::take(&mut state.attributes);
        attributes.push(("toolroom.run.state", ended.into()));
        let has_failed = matches!(ended, "failed" | "broken_off");
        if has_failed {
            attributes.push(("error.type", state.failure.take().unwrap_or_else(|| ended.to_owned()).into()));
        }
        self.tracer.take(Span {
            context: self.context,
            parent: self.parent,
            name: format!("invoke_agent {agent}"),
            kind: Kind::Internal,
            start: state.start,
            end: state.end,
            attributes,
            has_failed,
        });
    }
}
