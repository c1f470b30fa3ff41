//! The activity that shows the calls of one answer.

use serde_json::{Value, json};
use toolroom::conversation::CallNotice;

use super::event::{Event, Patch};

const KIND: &str = "toolroom.calls";

#[derive(Debug)]
pub(super) struct Activity {
    message_id: String,
    calls: Vec<String>,
}

impl Activity {
    /// Shows the first call. Its event number identifies the activity.
    pub(super) fn begin(run: &str, seq: u64, notice: &CallNotice) -> (Self, Event) {
        let message_id = format!("{run}-calls-{seq}");
        let content = json!({"calls": [shown(notice)]});
        let event = Event::ActivitySnapshot { message_id: message_id.clone(), activity_type: KIND, content };
        (Self { message_id, calls: vec![notice.id.to_string()] }, event)
    }

    /// Shows one more.
    pub(super) fn add(&mut self, notice: &CallNotice) -> Option<Event> {
        if self.calls.iter().any(|known| known == notice.id.as_str()) {
            return self.change(notice.id.as_str(), "status", "running".into());
        }
        self.calls.push(notice.id.to_string());
        Some(self.delta(Patch::add("/calls/-", shown(notice))))
    }

    /// Changes a field of a call, if the activity shows it.
    pub(super) fn change(&self, call: &str, field: &str, value: Value) -> Option<Event> {
        let place = self.calls.iter().position(|known| known == call)?;
        Some(self.delta(Patch::add(format!("/calls/{place}/{field}"), value)))
    }

    fn delta(&self, patch: Patch) -> Event {
        Event::ActivityDelta { message_id: self.message_id.clone(), activity_type: KIND, patch: vec![patch] }
    }
}

fn shown(notice: &CallNotice) -> Value {
    json!({"id": notice.id, "tool": notice.tool, "title": notice.title, "status": "running"})
}
