//! What the program of a client can do, as far as anybody here asks.

use serde_json::{Map, Value};

use crate::mcp::calls::tasks::EXTENSION;

/// One thing that a client may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ClientCapability {
    /// It asks its user something.
    Elicitation = 1,
    /// It asks with a form.
    Form = 1 << 1,
    /// It asks its model something.
    Sampling = 1 << 2,
    /// It says which folders it works in.
    Roots = 1 << 3,
    /// It takes a task for an answer.
    Tasks = 1 << 4,
}

/// All that a client can do. What it says beside that is not kept: it may be as long as a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClientCapabilities(u8);

impl ClientCapabilities {
    /// As a client describes them.
    pub(super) fn read(described: &Map<String, Value>) -> Self {
        let object = |name: &str| described.get(name).and_then(Value::as_object);
        let elicitation = object("elicitation");
        // A client that names no kind of question means this one.
        let form = elicitation.is_some_and(|kinds| kinds.is_empty() || kinds.contains_key("form"));
        let tasks = object("extensions").and_then(|extensions| extensions.get(EXTENSION));
        let able = [
            (ClientCapability::Elicitation, elicitation.is_some()),
            (ClientCapability::Form, form),
            (ClientCapability::Sampling, object("sampling").is_some()),
            (ClientCapability::Roots, object("roots").is_some()),
            (ClientCapability::Tasks, tasks.is_some_and(Value::is_object)),
        ];
        Self(able.into_iter().filter(|(_, has)| *has).fold(0, |all, (ability, _)| all | ability as u8))
    }

    pub(super) const fn has(self, ability: ClientCapability) -> bool {
        self.0 & ability as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(described: &Value) -> ClientCapabilities {
        ClientCapabilities::read(described.as_object().unwrap())
    }

    #[test]
    fn a_client_can_do_what_it_says_as_an_object() {
        let able = read(&json!({"elicitation": {}, "roots": {"listChanged": true}, "sampling": true}));
        let has = |ability| able.has(ability);
        assert!(
            has(ClientCapability::Elicitation) && has(ClientCapability::Form) && has(ClientCapability::Roots)
        );
        assert!(!has(ClientCapability::Sampling) && !has(ClientCapability::Tasks));
        let able = read(&json!({"elicitation": {"url": {}}, "extensions": {EXTENSION: {}}}));
        assert!(
            able.has(ClientCapability::Elicitation)
                && !able.has(ClientCapability::Form)
                && able.has(ClientCapability::Tasks)
        );
        assert_eq!(read(&json!({"extensions": {}, "more": [1, 2]})), ClientCapabilities::default());
    }
}
