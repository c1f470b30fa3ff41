//! The state that client and agent share: the client's own, and what we say of the run under one key.

use serde_json::{Value, json};
use toolroom::agent::StatusLine;
use toolroom::conversation::RunEvent;

use super::event::{Event, Patch};

/// Where our part of the state is.
pub(crate) const OWN_KEY: &str = "toolroom";

/// What the client knows of the state.
#[derive(Debug)]
pub(crate) struct State {
    /// The client's state with our key; as it came, where that is no object and has no place for it.
    document: Value,
    line: StatusLine,
    told: Option<String>,
}

impl State {
    /// The client's own state, to which ours is added.
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

    /// All of it.
    pub(crate) fn snapshot(&self) -> Event {
        Event::StateSnapshot { snapshot: self.document.clone() }
    }

    /// Takes in what happened; gives what the client has to change.
    pub(crate) fn take(&mut self, event: &RunEvent) -> Option<Event> {
        self.line.update(event);
        // What flows by in pieces would change the line with each of them.
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
    fn our_part_is_added_and_changed_alone() {
        let mut state = State::new(json!({"items": 2, "toolroom": "old"}), "r", "c");
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
    fn a_state_that_is_no_object_stays_as_it_is() {
        let mut state = State::new(json!([1]), "r", "c");
        assert_eq!(state.snapshot(), Event::StateSnapshot { snapshot: json!([1]) });
        let guarded = RunEvent::Guarded { guard: "repeat".to_owned(), reason: "again".to_owned() };
        assert_eq!(state.take(&guarded), None);
        assert!(matches!(
            State::new(Value::Null, "r", "c").snapshot(),
            Event::StateSnapshot { snapshot: Value::Object(_) }
        ));
    }
}
