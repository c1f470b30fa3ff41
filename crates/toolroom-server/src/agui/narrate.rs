//! Translates the events of a run into AG-UI events.
//!
//! A pure state machine. Its events always keep the rules that clients enforce: a run starts once and ends once, nothing
//! follows the end, only open messages are closed, and all are closed before a successful end.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolroom::approval::Responder;
use toolroom::conversation::{CallNotice, RunEvent};

use super::activity::Activity;
use super::calls::{CLIENT, text_of};
use super::event::{Event, Interrupt, Outcome, PROTOCOL};
use super::interrupt::question;
use super::message::{Message, ToolCall};
use super::speech::Speech;
use super::state::SharedState;
use super::thread::answer_id;
use super::usage::{TokenUsage, add_usage};

#[derive(Debug, Default)]
pub(crate) struct NarratorContext {
    /// The thread, as the client names it.
    pub(crate) thread: String,
    /// The run, as the client names it.
    pub(crate) name: String,
    /// Whether the client knows 1.0.
    pub(crate) modern: bool,
    /// The run on this server.
    pub(crate) run: String,
    /// Answers of models so far.
    pub(crate) answers: u32,
    /// The thread so far.
    pub(crate) messages: Vec<Message>,
    /// Calls that were announced to the client, or whose results it has.
    pub(crate) announced: HashSet<String>,
    pub(crate) brought: HashSet<String>,
    /// The reader, who may answer its questions.
    pub(crate) responder: Responder,
    /// The caller that started the run.
    pub(crate) caller: Option<Arc<str>>,
}

#[derive(Debug)]
pub(crate) struct Narrator {
    pub(super) setting: NarratorContext,
    state: SharedState,
    step: Option<String>,
    /// The current answer.
    speech: Speech,
    pub(super) activity: Option<Activity>,
    pub(super) pending: Vec<String>,
    interrupts: Vec<Interrupt>,
    usage: Vec<TokenUsage>,
    over: bool,
    pub(super) out: Vec<Event>,
}

impl Narrator {
    pub(crate) fn new(setting: NarratorContext, state: SharedState) -> Self {
        Self {
            setting,
            state,
            step: None,
            speech: Speech::default(),
            activity: None,
            pending: Vec::new(),
            interrupts: Vec::new(),
            usage: Vec::new(),
            over: false,
            out: Vec::new(),
        }
    }

    /// The first events. With `whole` they include the thread, in case the client lacks parts of it.
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

    /// Translates an event. `arguments` are the exact ones of a pending call.
    pub(crate) fn tell(&mut self, seq: u64, event: &RunEvent, arguments: Option<Value>) -> Vec<Event> {
        if !self.over {
            self.take(seq, event, arguments);
        }
        std::mem::take(&mut self.out)
    }

    /// Sends the text of the current answer so far, after missed pieces.
    pub(crate) fn catch_up(&mut self, text: &str, reasoning: &str) -> Vec<Event> {
        if !self.over {
            if !self.speech.has_thoughts() && !reasoning.is_empty() {
                self.think(reasoning);
            }
            if let Some(rest) = text.strip_prefix(self.speech.text()).filter(|rest| !rest.is_empty()) {
                let rest = rest.to_owned();
                self.speak(&rest);
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the run with an error.
    pub(crate) fn fail(&mut self, code: &str, message: &str) -> Vec<Event> {
        if !self.over {
            self.close();
            self.over = true;
            let usage = std::mem::take(&mut self.usage);
            self.out.push(Event::RunError { message: message.to_owned(), code: code.to_owned(), usage });
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the run without new content. Names the calls that the client has to execute.
    pub(crate) fn rest(&mut self, pending: Vec<String>) -> Vec<Event> {
        if !self.over {
            self.pending = pending;
            self.finish_well();
        }
        std::mem::take(&mut self.out)
    }

    /// Ends a cancelled run.
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
                add_usage(&mut self.usage, model, *usage);
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
            RunEvent::CallEnded { id, tool, outcome, result, offers, .. } => {
                self.show(id.as_str(), "status", outcome.as_str().into());
                self.end_call(id.as_str(), tool, result);
                self.offer(id.as_str(), offers);
            }
            RunEvent::Asks { id, rule, by, .. } => {
                self.show(id.as_str(), "status", "asks".into());
                let NarratorContext { responder, caller, .. } = &self.setting;
                let answers = responder.answers(rule, *by, caller.as_deref());
                self.interrupts.extend(question(event, arguments, answers));
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

    /// The id of the current message.
    fn message_id(&self) -> String {
        answer_id(&self.setting.run, self.setting.answers.saturating_add(1))
    }

    fn ask(&mut self, iteration: u32) {
        // An empty answer is retried without an event.
        self.unsay();
        self.end_step();
        self.activity = None;
        self.setting.answers = iteration.saturating_sub(1);
        let step_name = format!("round {iteration}");
        self.step = Some(step_name.clone());
        self.out.push(Event::StepStarted { step_name });
    }

    fn speak(&mut self, text: &str) {
        let id = self.message_id();
        self.speech.speak(&id, text, &mut self.out);
    }

    fn think(&mut self, text: &str) {
        let id = self.message_id();
        self.speech.think(&id, text, &mut self.out);
    }

    /// Retracts the current answer.
    fn unsay(&mut self) {
        let id = self.message_id();
        if self.speech.unsay(&id, &mut self.out) {
            self.out.push(self.snapshot());
        }
    }

    fn answer(&mut self, text: &str, calls: &[CallNotice]) {
        // Pieces may be missing, and calls written as text were removed.
        let rest = text.strip_prefix(self.speech.text()).map(str::to_owned);
        if let Some(rest) = rest.as_ref().filter(|rest| !rest.is_empty()) {
            self.speak(rest);
        }
        let id = self.message_id();
        std::mem::take(&mut self.speech).stop(&id, &mut self.out);
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
        self.setting.answers = self.setting.answers.saturating_add(1);
    }

    fn custom(&mut self, name: &'static str, event: &RunEvent) {
        let mut value = serde_json::to_value(event).unwrap_or_default();
        if let Some(value) = value.as_object_mut() {
            value.remove("type");
        }
        self.out.push(Event::Custom { name, value });
    }

    /// The messages of the thread without activities, which clients keep themselves.
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
        let id = self.message_id();
        self.speech.stop(&id, &mut self.out);
        self.end_step();
    }
}

#[cfg(test)]
#[path = "narrate_tests.rs"]
mod tests;
