//! Capabilities of clients that the server uses.

use serde_json::{Map, Value};

use crate::mcp::calls::tasks::EXTENSION;

/// A capability of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ClientCapability {
    /// Asks its user.
    Elicitation = 1,
    /// Asks its user with a form.
    Form = 1 << 1,
    /// Asks its model.
    Sampling = 1 << 2,
    /// Names its working folders.
    Roots = 1 << 3,
    /// Accepts tasks.
    Tasks = 1 << 4,
}

/// All capabilities of a client, as bits: the original may be as long as a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClientCapabilities(u8);

impl ClientCapabilities {
    /// Parses the `capabilities` of a client.
    pub(super) fn parse(described: &Map<String, Value>) -> Self {
        let object = |name: &str| described.get(name).and_then(Value::as_object);
        let elicitation = object("elicitation");
        // An elicitation without a mode means the form mode.
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
        ClientCapabilities::parse(described.as_object().unwrap())
    }

    #[test]
    fn capabilities_are_announced_as_objects() {
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
