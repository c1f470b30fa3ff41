//! The trace of a run, built from its events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolroom::clock::{Clock as _, SystemClock, Timestamp};
use toolroom::conversation::{NumberedEvent, RunEvent};
use toolroom::model::{ModelCallId, Usage};

use super::context::{SpanContext, SpanId};
use super::span::{Attribute, Span, SpanKind};
use super::tracer::{ToolEnd, Tracer};

/// The span of a live run. Ends when it is dropped.
pub(crate) struct RunTrace {
    tracer: Arc<Tracer>,
    context: SpanContext,
    parent: Option<SpanId>,
    state: Mutex<TraceState>,
}

struct TraceState {
    start: Timestamp,
    end: Timestamp,
    agent: Option<String>,
    attributes: Vec<(&'static str, Attribute)>,
    asking: Option<ModelRequest>,
    /// Start times.
    calls: HashMap<ModelCallId, Timestamp>,
    ended: Option<&'static str>,
    failure: Option<String>,
}

struct ModelRequest {
    model: Arc<str>,
    since: Timestamp,
}

impl RunTrace {
    /// Starts the span of a run, below `parent` if there is one.
    pub(crate) fn begin(tracer: Arc<Tracer>, parent: Option<SpanContext>) -> Self {
        let context =
            parent.map_or_else(|| SpanContext::root(&SystemClock), |parent| parent.child(&SystemClock));
        let now = SystemClock.now();
        let state = TraceState {
            start: now,
            end: now,
            agent: None,
            attributes: vec![("gen_ai.operation.name", "invoke_agent".into())],
            asking: None,
            calls: HashMap::new(),
            ended: None,
            failure: None,
        };
        Self { tracer, context, parent: parent.map(|parent| parent.span), state: Mutex::new(state) }
    }

    pub(crate) fn event(&self, NumberedEvent { at, event, .. }: &NumberedEvent) {
        // A panic cannot leave the state half changed.
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
                state.asking = Some(ModelRequest { model: Arc::clone(model), since: *at });
            }
            RunEvent::Void { next, after_ms, .. } => {
                let Some(asking) = state.asking.take() else { return };
                let model = next.clone().unwrap_or_else(|| Arc::clone(&asking.model));
                self.record_model_call(asking, *at, Err("void"));
                let since = at.after(Duration::from_millis(after_ms.unwrap_or(0)));
                state.asking = Some(ModelRequest { model, since });
            }
            RunEvent::Answered { model, usage, .. } => {
                let since = state.asking.take().map_or(*at, |asking| asking.since);
                self.record_model_call(ModelRequest { model: Arc::clone(model), since }, *at, Ok(usage));
            }
            RunEvent::CallBegan(notice) => drop(state.calls.insert(notice.id.clone(), *at)),
            RunEvent::CallEnded { id, tool, outcome, duration_us, .. } => {
                state.calls.remove(id);
                let start = at.before(Duration::from_micros(*duration_us));
                self.record_tool_call(id, &ToolEnd { tool, outcome, rule: None }, start, *at);
            }
            RunEvent::Asks { id, tool, rule, .. } => {
                let start = state.calls.remove(id).unwrap_or(*at);
                self.record_tool_call(
                    id,
                    &ToolEnd { tool, outcome: "pending", rule: Some(rule) },
                    start,
                    *at,
                );
            }
            RunEvent::Handed { id, tool, .. } => {
                let start = state.calls.remove(id).unwrap_or(*at);
                self.record_tool_call(id, &ToolEnd { tool, outcome: "handed", rule: None }, start, *at);
            }
            RunEvent::Waiting { .. } => state.ended = Some("waiting"),
            RunEvent::Done { usage, .. } => {
                state.attributes.extend(usage_attributes(usage));
                state.ended = Some("done");
            }
            RunEvent::Failed(failure) => {
                if let Some(asking) = state.asking.take() {
                    self.record_model_call(asking, *at, Err(&failure.kind));
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

    fn record_model_call(
        &self,
        ModelRequest { model, since }: ModelRequest,
        end: Timestamp,
        came: Result<&Usage, &str>,
    ) {
        let (vendor, name) = model.split_once('/').unwrap_or(("toolroom", &model));
        let mut attributes: Vec<(&'static str, Attribute)> = vec![
            ("gen_ai.operation.name", "chat".into()),
            ("gen_ai.provider.name", vendor.to_owned().into()),
            ("gen_ai.request.model", name.to_owned().into()),
        ];
        match came {
            Ok(usage) => attributes.extend(usage_attributes(usage)),
            Err(kind) => attributes.push(("error.type", kind.to_owned().into())),
        }
        self.record_child(format!("chat {name}"), SpanKind::Client, (since, end), attributes, came.is_err());
    }

    fn record_tool_call(&self, id: &ModelCallId, end: &ToolEnd<'_>, start: Timestamp, at: Timestamp) {
        let mut span = end.span(self.context, start, at);
        span.attributes.push(("gen_ai.tool.call.id", id.to_string().into()));
        self.tracer.record(span);
    }

    fn record_child(
        &self,
        name: String,
        kind: SpanKind,
        (start, end): (Timestamp, Timestamp),
        attributes: Vec<(&'static str, Attribute)>,
        has_failed: bool,
    ) {
        let context = self.context.child(&SystemClock);
        let parent = Some(self.context.span);
        self.tracer.record(Span { context, parent, name, kind, start, end, attributes, has_failed });
    }
}

fn usage_attributes(usage: &Usage) -> [(&'static str, Attribute); 2] {
    [("gen_ai.usage.input_tokens", usage.input.into()), ("gen_ai.usage.output_tokens", usage.output.into())]
}

impl Drop for RunTrace {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A run that never started has no span.
        let Some(agent) = state.agent.take() else { return };
        let ended = state.ended.unwrap_or("broken_off");
        let mut attributes = std::mem::take(&mut state.attributes);
        attributes.push(("toolroom.run.state", ended.into()));
        let has_failed = matches!(ended, "failed" | "broken_off");
        if has_failed {
            attributes.push(("error.type", state.failure.take().unwrap_or_else(|| ended.to_owned()).into()));
        }
        self.tracer.record(Span {
            context: self.context,
            parent: self.parent,
            name: format!("invoke_agent {agent}"),
            kind: SpanKind::Internal,
            start: state.start,
            end: state.end,
            attributes,
            has_failed,
        });
    }
}
