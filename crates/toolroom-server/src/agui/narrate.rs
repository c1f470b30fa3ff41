//! A run told in the words of AG-UI: what happened goes in, in order, and events come out.
//!
//! This is a pure machine. Whatever happens, its events keep the rules that clients enforce: a run is started once and
//! ended once, nothing follows the end, what is closed was open, and everything is closed before a good end.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolroom::conversation::{CallNotice, RunEvent};
use toolroom::model::Usage;

use super::activity::Activity;
use super::event::{Event, Interrupt, Outcome, PROTOCOL, TokenUsage, pieces};
use super::interrupt::question;
use super::message::{Message, ToolCall};
use super::state::State;
use super::thread::{answer_id, result_id};

/// What every tool of a client is called here before the name the client gave it.
const CLIENT: &str = "client:";

/// Results are shortened long before; this holds for what was not.
const RESULT_BYTES: usize = 1024 * 1024;

/// What a narrator has to know before anything happens.
#[derive(Debug, Default)]
pub(crate) struct Setting {
    /// The thread, as the client names it.
    pub(crate) thread: String,
    /// The run, as the client names it.
    pub(crate) name: String,
    /// Whether the client knows 1.0.
    pub(crate) modern: bool,
    /// The run here.
    pub(crate) run: String,
    /// How often a model has answered in it.
    pub(crate) answers: u32,
    /// The thread so far.
    pub(crate) messages: Vec<Message>,
    /// Calls that the client was told of, or has the results of.
    pub(crate) announced: HashSet<String>,
    pub(crate) brought: HashSet<String>,
}

/// Tells one run.
#[derive(Debug)]
pub(crate) struct Narrator {
    setting: Setting,
    state: State,
    step: Option<String>,
    /// The words of the answer that is being given.
    said: String,
    speaks: bool,
    /// How often a model has thought in this answer, and whether it still does.
    thoughts: u32,
    thinks: bool,
    activity: Option<Activity>,
    pending: Vec<String>,
    interrupts: Vec<Interrupt>,
    usage: Vec<TokenUsage>,
    over: bool,
    out: Vec<Event>,
}

impl Narrator {
    pub(crate) fn new(setting: Setting, state: State) -> Self {
        Self {
            setting,
            state,
            step: None,
            said: String::new(),
            speaks: false,
            thoughts: 0,
            thinks: false,
            activity: None,
            pending: Vec::new(),
            interrupts: Vec::new(),
            usage: Vec::new(),
            over: false,
            out: Vec::new(),
        }
    }

    /// The first events. With `whole` the client is told of the thread, parts of which it may not have.
    pub(crate) fn start(&mut self, whole: bool) -> Vec<Event> {
        self.out.push(Event::RunStarted {
            thread_id: self.setting.thread.clone(),
            run_id: self.setting.name.clone(),
            protocol_version: self.setting.modern.then_some(PROTOCOL),
        });
        self.out.push(self.state.snapshot());
        if whole {
            self.out.push(self.snapshot());
        }
        std::mem::take(&mut self.out)
    }

    /// Something that happened, at a place in the run. Of a call that waits, `arguments` are the exact ones.
    pub(crate) fn tell(&mut self, seq: u64, event: &RunEvent, arguments: Option<Value>) -> Vec<Event> {
        if !self.over {
            self.take(seq, event, arguments);
        }
        std::mem::take(&mut self.out)
    }

    /// What an answer said so far, for a narrator who has missed pieces of it.
    pub(crate) fn catch_up(&mut self, text: &str, reasoning: &str) -> Vec<Event> {
        if !self.over {
            if self.thoughts == 0 && !reasoning.is_empty() {
                self.think(reasoning);
            }
            if let Some(rest) = text.strip_prefix(self.said.as_str()).filter(|rest| !rest.is_empty()) {
                let rest = rest.to_owned();
                self.speak(&rest);
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the run because it cannot go on.
    pub(crate) fn fail(&mut self, code: &str, message: &str) -> Vec<Event> {
        if !self.over {
            self.close();
            self.over = true;
            let usage = std::mem::take(&mut self.usage);
            self.out.push(Event::RunError { message: message.to_owned(), code: code.to_owned(), usage });
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the run, which has nothing to add. Calls that the client has to run are named again.
    pub(crate) fn rest(&mut self, pending: Vec<String>) -> Vec<Event> {
        if !self.over {
            self.pending = pending;
            self.finish_well();
        }
        std::mem::take(&mut self.out)
    }

    /// Ends a run that somebody stopped.
    pub(crate) fn cancel(&mut self) -> Vec<Event> {
        if !self.over {
            if self.setting.modern {
                self.finish(Some(Outcome::Cancelled));
            } else {
                return self.fail("cancelled", "the run was stopped");
            }
        }
        std::mem::take(&mut self.out)
    }

    fn take(&mut self, seq: u64, event: &RunEvent, arguments: Option<Value>) {
        let state = self.state.take(event);
        match event {
            RunEvent::Started { .. } | RunEvent::Writing { .. } => {}
            RunEvent::Asking { iteration, .. } => self.ask(*iteration),
            RunEvent::Text { text } => self.speak(text),
            RunEvent::Reasoning { text } => self.think(text),
            RunEvent::Void { .. } => {
                self.unsay();
                self.custom("toolroom.void", event);
            }
            RunEvent::Answered { model, text, calls, usage, .. } => {
                self.pay(model, *usage);
                self.answer(text, calls);
            }
            RunEvent::CallBegan(notice) => self.begin(seq, notice),
            RunEvent::CallProgress { id, message, fraction } => {
                let progress = match fraction {
                    Some(fraction) => json!({"message": message, "fraction": fraction}),
                    None => json!({"message": message}),
                };
                self.show(id.as_str(), "progress", progress);
            }
            RunEvent::CallEnded { id, tool, outcome, result, .. } => {
                self.show(id.as_str(), "status", outcome.as_str().into());
                self.end_call(id.as_str(), tool, result);
            }
            RunEvent::Asks { id, .. } => {
                self.show(id.as_str(), "status", "asks".into());
                self.interrupts.extend(question(event, arguments));
            }
            RunEvent::Handed { id, tool, .. } => {
                self.show(id.as_str(), "status", "handed".into());
                self.hand(id.as_str(), tool, arguments.unwrap_or_default());
            }
            RunEvent::Guarded { .. } => self.custom("toolroom.guarded", event),
            RunEvent::Warned { .. } => self.custom("toolroom.warned", event),
            RunEvent::Compacted { .. } => self.custom("toolroom.compacted", event),
            RunEvent::Waiting { .. } | RunEvent::Done { .. } | RunEvent::Failed(_) | RunEvent::Cancelled => {}
        }
        self.out.extend(state);
        match event {
            RunEvent::Waiting { .. } if !self.interrupts.is_empty() => self.interrupt(),
            RunEvent::Waiting { .. } | RunEvent::Done { .. } => self.finish_well(),
            RunEvent::Failed(failure) => {
                let ended = self.fail(&failure.kind, &failure.message);
                self.out = ended;
            }
            RunEvent::Cancelled => {
                let ended = self.cancel();
                self.out = ended;
            }
            _ => {}
        }
    }

    /// The id of the message that is being said.
    fn message_id(&self) -> String {
        answer_id(&self.setting.run, self.setting.answers.saturating_add(1))
    }

    fn ask(&mut self, iteration: u32) {
        // An answer of nothing is asked for again, and nobody says that it was void.
        self.unsay();
        self.end_step();
        self.activity = None;
        self.setting.answers = iteration.saturating_sub(1);
        let step_name = format!("round {iteration}");
        self.step = Some(step_name.clone());
        self.out.push(Event::StepStarted { step_name });
    }

    fn speak(&mut self, text: &str) {
        self.stop_thinking();
        let message_id = self.message_id();
        if !std::mem::replace(&mut self.speaks, true) {
            self.out.push(Event::TextMessageStart { message_id: message_id.clone(), role: "assistant" });
        }
        self.said.push_str(text);
        for piece in pieces(text) {
            let delta = piece.to_owned();
            self.out.push(Event::TextMessageContent { message_id: message_id.clone(), delta });
        }
    }

    fn stop_speaking(&mut self) {
        if std::mem::replace(&mut self.speaks, false) {
            self.out.push(Event::TextMessageEnd { message_id: self.message_id() });
        }
    }

    fn think(&mut self, text: &str) {
        if !std::mem::replace(&mut self.thinks, true) {
            self.thoughts += 1;
            let message_id = self.thought_id();
            self.out.push(Event::ReasoningStart { message_id: message_id.clone() });
            self.out.push(Event::ReasoningMessageStart { message_id, role: "reasoning" });
        }
        for piece in pieces(text) {
            let (message_id, delta) = (self.thought_id(), piece.to_owned());
            self.out.push(Event::ReasoningMessageContent { message_id, delta });
        }
    }

    fn thought_id(&self) -> String {
        format!("{}-thought-{}", self.message_id(), self.thoughts)
    }

    fn stop_thinking(&mut self) {
        if std::mem::replace(&mut self.thinks, false) {
            let message_id = self.thought_id();
            self.out.push(Event::ReasoningMessageEnd { message_id: message_id.clone() });
            self.out.push(Event::ReasoningEnd { message_id });
        }
    }

    /// Takes back what was said of an answer.
    fn unsay(&mut self) {
        let said = self.speaks || !self.said.is_empty();
        self.stop_thinking();
        self.stop_speaking();
        self.said.clear();
        if said {
            self.out.push(self.snapshot());
        }
    }

    fn answer(&mut self, text: &str, calls: &[CallNotice]) {
        self.stop_thinking();
        // Pieces may be missing, and calls that were written as words are no longer among them.
        let rest = text.strip_prefix(self.said.as_str()).map(str::to_owned);
        if let Some(rest) = rest.as_ref().filter(|rest| !rest.is_empty()) {
            self.speak(rest);
        }
        self.stop_speaking();
        let id = self.message_id();
        let known: Vec<&CallNotice> = calls.iter().filter(|call| !call.tool.starts_with(CLIENT)).collect();
        for call in &known {
            self.announce(call.id.as_str(), &call.tool, &id, &text_of(&call.arguments));
        }
        let listed =
            known.iter().map(|call| ToolCall::new(call.id.as_str(), &call.tool, text_of(&call.arguments)));
        let message = Message::assistant(id, text, listed.collect());
        if message.content.is_some() || message.tool_calls.is_some() {
            self.setting.messages.push(message);
        }
        if rest.is_none() {
            self.out.push(self.snapshot());
        }
        self.said.clear();
        self.thoughts = 0;
        self.setting.answers = self.setting.answers.saturating_add(1);
    }

    fn announce(&mut self, call: &str, name: &str, parent: &str, arguments: &str) {
        let tool_call_id = call.to_owned();
        self.setting.announced.insert(tool_call_id.clone());
        self.out.push(Event::ToolCallStart {
            tool_call_id: tool_call_id.clone(),
            tool_call_name: name.to_owned(),
            parent_message_id: Some(parent.to_owned()),
        });
        for piece in pieces(arguments) {
            let delta = piece.to_owned();
            self.out.push(Event::ToolCallArgs { tool_call_id: tool_call_id.clone(), delta });
        }
        self.out.push(Event::ToolCallEnd { tool_call_id });
    }

    /// The message that the calls belong to that are being made.
    fn parent_id(&self) -> String {
        answer_id(&self.setting.run, self.setting.answers)
    }

    /// A call that the client has not heard of.
    fn announce_late(&mut self, call: &str, name: &str, arguments: &str) {
        let parent = self.parent_id();
        self.announce(call, name, &parent, arguments);
        let call = ToolCall::new(call, name, arguments.to_owned());
        match self.setting.messages.iter_mut().find(|message| message.id == parent) {
            Some(message) => message.tool_calls.get_or_insert_default().push(call),
            None => self.setting.messages.push(Message::assistant(parent, "", vec![call])),
        }
    }

    /// A client runs a call as soon as it hears of it, so it hears of none that somebody has to be asked about first.
    fn hand(&mut self, call: &str, tool: &str, arguments: Value) {
        if !self.setting.announced.contains(call) {
            let name = tool.strip_prefix(CLIENT).unwrap_or(tool);
            let arguments = if arguments.is_null() { json!({}) } else { arguments };
            self.announce_late(call, name, &text_of(&arguments));
        }
        if !self.pending.iter().any(|pending| pending == call) {
            self.pending.push(call.to_owned());
        }
    }

    fn begin(&mut self, seq: u64, notice: &CallNotice) {
        match &mut self.activity {
            Some(activity) => self.out.extend(activity.add(notice)),
            None => {
                let (activity, shown) = Activity::begin(&self.setting.run, seq, notice);
                self.activity = Some(activity);
                self.out.push(shown);
            }
        }
    }

    fn show(&mut self, call: &str, field: &str, value: Value) {
        self.out.extend(self.activity.as_ref().and_then(|activity| activity.change(call, field, value)));
    }

    fn end_call(&mut self, call: &str, tool: &str, result: &Value) {
        self.pending.retain(|pending| pending != call);
        if self.setting.brought.contains(call) {
            return;
        }
        if !self.setting.announced.contains(call) {
            // It was never the client's turn. Under its full name no client takes it for one to be run.
            self.announce_late(call, tool, "{}");
        }
        let mut content = text_of(result);
        if content.len() > RESULT_BYTES {
            content.truncate(content.floor_char_boundary(RESULT_BYTES));
            content.push('…');
        }
        let message_id = result_id(&self.setting.run, call);
        self.setting.messages.push(Message::tool(message_id.clone(), call, content.clone()));
        let tool_call_id = call.to_owned();
        self.out.push(Event::ToolCallResult { message_id, tool_call_id, content, role: "tool" });
        self.setting.brought.insert(call.to_owned());
    }

    fn custom(&mut self, name: &'static str, event: &RunEvent) {
        let mut value = serde_json::to_value(event).unwrap_or_default();
        if let Some(value) = value.as_object_mut() {
            value.remove("type");
        }
        self.out.push(Event::Custom { name, value });
    }

    fn pay(&mut self, model: &str, usage: Usage) {
        let (provider, model) = model.split_once('/').unwrap_or(("", model));
        let known = self.usage.iter_mut().find(|known| known.provider == provider && known.model == model);
        let paid = match known {
            Some(known) => known,
            None => {
                self.usage.push(TokenUsage::none(provider, model));
                let Some(last) = self.usage.last_mut() else { return };
                last
            }
        };
        paid.add(usage);
    }

    /// What is said in the thread. Clients keep by themselves what is said aside.
    fn snapshot(&self) -> Event {
        let messages = self.setting.messages.iter().filter(|message| !message.is_aside()).cloned();
        Event::MessagesSnapshot { messages: messages.collect() }
    }

    fn interrupt(&mut self) {
        self.close();
        self.out.push(self.state.snapshot());
        self.out.push(self.snapshot());
        let interrupts = std::mem::take(&mut self.interrupts);
        self.finish(Some(Outcome::Interrupt { interrupts }));
    }

    fn finish_well(&mut self) {
        let pending_tool_call_ids = std::mem::take(&mut self.pending);
        self.finish(self.setting.modern.then_some(Outcome::Success { pending_tool_call_ids }));
    }

    fn finish(&mut self, outcome: Option<Outcome>) {
        self.close();
        self.over = true;
        self.out.push(Event::RunFinished {
            thread_id: self.setting.thread.clone(),
            run_id: self.setting.name.clone(),
            outcome,
            usage: std::mem::take(&mut self.usage),
        });
    }

    fn end_step(&mut self) {
        if let Some(step_name) = self.step.take() {
            self.out.push(Event::StepFinished { step_name });
        }
    }

    fn close(&mut self) {
        self.stop_thinking();
        self.stop_speaking();
        self.end_step();
    }
}

/// A value as it stands in a message: text as it is, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "narrate_tests.rs"]
mod tests;
