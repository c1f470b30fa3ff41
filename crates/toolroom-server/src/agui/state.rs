//! The state shared by client and agent: that of the client, and ours under one key.

use serde_json::{Value, json};
use toolroom::agent::StatusLine;
use toolroom::conversation::RunEvent;

use super::event::{Event, Patch};

/// The key of our part.
pub(crate) const OWN_KEY: &str = "toolroom";

#[derive(Debug)]
pub(crate) struct SharedState {
    /// The client's state with our key. Unchanged if it is not an object.
    document: Value,
    line: StatusLine,
    told: Option<String>,
}

impl SharedState {
    pub(crate) fn new(own: Value, run: &str, conversation: &str) -> Self {
        let ours = json!({"run": run, "conversation": conversation, "status": "Working…"});
        let document = match own {
            Value::Object(mut own) => {
                own.insert(OWN_KEY.to_owned(), ours);
                Value::Object(own)
            }
            Value::Null => json!({OWN_KEY: ours}),
            other => other,
        };
        Self { document, line: StatusLine::default(), told: Some("Working…".to_owned()) }
    }

    pub(crate) fn snapshot(&self) -> Event {
        Event::StateSnapshot { snapshot: self.document.clone() }
    }

    /// Applies an event. Returns the change for the client.
    pub(crate) fn take(&mut self, event: &RunEvent) -> Option<Event> {
        self.line.update(event);
        // Streamed pieces would change the state with each event.
        let line = self.line.line();
        if !event.is_structural() || line == self.told || !self.document.is_object() {
            return None;
        }
        let value = line.as_deref().map_or_else(|| "".into(), Value::from);
        if let Some(ours) = self.document.get_mut(OWN_KEY).and_then(Value::as_object_mut) {
            ours.insert("status".to_owned(), value.clone());
        }
        self.told = line;
        Some(Event::StateDelta { delta: vec![Patch::replace(format!("/{OWN_KEY}/status"), value)] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_key_is_added_and_changed() {
        let mut state = SharedState::new(json!({"items": 2, "toolroom": "old"}), "r", "c");
        let Event::StateSnapshot { snapshot } = state.snapshot() else { panic!() };
        assert_eq!(snapshot["items"], 2);
        assert_eq!(snapshot["toolroom"]["run"], "r");
        let asking = RunEvent::Asking { model: "a/b".into(), iteration: 1 };
        assert_eq!(state.take(&asking), None, "it says the same");
        let guarded = RunEvent::Guarded { guard: "repeat".to_owned(), reason: "again".to_owned() };
        let delta = vec![Patch::replace("/toolroom/status", "Finishing…".into())];
        assert_eq!(state.take(&guarded), Some(Event::StateDelta { delta }));
        let Event::StateSnapshot { snapshot } = state.snapshot() else { panic!() };
        assert_eq!(snapshot["toolroom"]["status"], "Finishing…");
    }

    #[test]
    fn a_state_that_is_not_an_object_stays_unchanged() {
        let mut state = SharedState::new(json!([1]), "r", "c");
        assert_eq!(state.snapshot(), Event::StateSnapshot { snapshot: json!([1]) });
        let guarded = RunEvent::Guarded { guard: "repeat".to_owned(), reason: "again".to_owned() };
        assert_eq!(state.take(&guarded), None);
        assert!(matches!(
            SharedState::new(Value::Null, "r", "c").snapshot(),
            Event::StateSnapshot { snapshot: Value::Object(_) }
        ));
    }
}
