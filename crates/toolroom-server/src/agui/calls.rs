//! The tool calls of a run as AG-UI events.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolroom::conversation::{CallNotice, NumberedEvent, RunEvent};
use toolroom::tool::Offer;

use super::activity::Activity;
use super::event::{Event, pieces};
use super::message::{Message, ToolCall};
use super::narrate::Narrator;
use super::thread::{answer_id, result_id};
use crate::documents::OfferDocument;

/// The source of client tools, as a prefix of their ids.
pub(super) const CLIENT: &str = "client:";

/// Upper bound for a result; usually it is shortened earlier.
const RESULT_BYTES: usize = 1024 * 1024;

/// The calls that were announced to the client.
pub(super) fn announced(events: &[NumberedEvent]) -> HashSet<String> {
    let ids = events.iter().flat_map(|event| match &event.event {
        RunEvent::Answered { calls, .. } => {
            let calls = calls.iter().filter(|call| !call.tool.starts_with(CLIENT));
            calls.map(|call| call.id.to_string()).collect()
        }
        RunEvent::Handed { id, .. } => vec![id.to_string()],
        _ => Vec::new(),
    });
    ids.collect()
}

impl Narrator {
    pub(super) fn announce(&mut self, call: &str, name: &str, parent: &str, arguments: &str) {
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

    /// The message of the current calls.
    fn parent_id(&self) -> String {
        answer_id(&self.setting.run, self.setting.answers)
    }

    /// Announces a call that was not announced before.
    fn announce_late(&mut self, call: &str, name: &str, arguments: &str) {
        let parent = self.parent_id();
        self.announce(call, name, &parent, arguments);
        let call = ToolCall::new(call, name, arguments.to_owned());
        match self.setting.messages.iter_mut().find(|message| message.id == parent) {
            Some(message) => message.tool_calls.get_or_insert_default().push(call),
            None => self.setting.messages.push(Message::assistant(parent, "", vec![call])),
        }
    }

    /// Clients execute a call as soon as it is announced, so calls that need approval are announced after it.
    pub(super) fn hand(&mut self, call: &str, tool: &str, arguments: Value) {
        if !self.setting.announced.contains(call) {
            let name = tool.strip_prefix(CLIENT).unwrap_or(tool);
            let arguments = if arguments.is_null() { json!({}) } else { arguments };
            self.announce_late(call, name, &text_of(&arguments));
        }
        if !self.pending.iter().any(|pending| pending == call) {
            self.pending.push(call.to_owned());
        }
    }

    pub(super) fn begin(&mut self, seq: u64, notice: &CallNotice) {
        match &mut self.activity {
            Some(activity) => self.out.extend(activity.add(notice)),
            None => {
                let (activity, shown) = Activity::begin(&self.setting.run, seq, notice);
                self.activity = Some(activity);
                self.out.push(shown);
            }
        }
    }

    pub(super) fn show(&mut self, call: &str, field: &str, value: Value) {
        self.out.extend(self.activity.as_ref().and_then(|activity| activity.change(call, field, value)));
    }

    pub(super) fn end_call(&mut self, call: &str, tool: &str, result: &Value) {
        self.pending.retain(|pending| pending != call);
        if self.setting.brought.contains(call) {
            return;
        }
        if !self.setting.announced.contains(call) {
            // The client never had to execute it. Its full name keeps the client from doing so now.
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
}

/// The custom event for offers, such as opening a URL.
const OFFER: &str = "toolroom.offer";

impl Narrator {
    pub(super) fn offer(&mut self, call: &str, offers: &[Offer]) {
        for offer in offers {
            let mut value = serde_json::to_value(OfferDocument::of(offer)).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("toolCallId".to_owned(), call.into());
            }
            self.out.push(Event::Custom { name: OFFER, value });
        }
    }
}

/// Text as it is, any other value as JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
