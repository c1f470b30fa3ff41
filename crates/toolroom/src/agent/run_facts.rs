//! Facts about a run that its tools get.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::conversation::AgentId;

/// Facts about a run in [`crate::call::CallRequest::metadata`], each under the name of its field. Calls outside a run have
/// none of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RunFacts {
    /// Who answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Tokens that the next request takes, as estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Tokens that the model can take, its answer included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Tokens from which on the older part of the conversation is summarised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_at: Option<u64>,
    /// Whether a part of the conversation has been summarised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted: Option<bool>,
    /// Tokens of the last request, as the vendor counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_prompt_tokens: Option<u64>,
    /// US dollars the user may spend in a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_budget_usd: Option<f64>,
}

impl RunFacts {
    /// The facts as metadata of a call.
    #[must_use]
    pub fn into_metadata(self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        }
    }

    /// Reads the facts from the metadata of a call. Keys of another type are ignored.
    #[must_use]
    pub fn from_metadata(metadata: &Map<String, Value>) -> Self {
        let count = |key: &str| metadata.get(key).and_then(Value::as_u64);
        Self {
            agent: metadata.get("agent").and_then(Value::as_str).map(AgentId::new),
            context_tokens: count("context_tokens"),
            window: count("window"),
            compact_at: count("compact_at"),
            compacted: metadata.get("compacted").and_then(Value::as_bool),
            last_prompt_tokens: count("last_prompt_tokens"),
            daily_budget_usd: metadata.get("daily_budget_usd").and_then(Value::as_f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_survive_the_metadata() {
        let facts = RunFacts {
            agent: Some(AgentId::new("cook")),
            context_tokens: Some(47_000),
            window: Some(200_000),
            compact_at: Some(140_000),
            compacted: Some(true),
            last_prompt_tokens: Some(45_000),
            daily_budget_usd: Some(1.5),
        };
        assert_eq!(RunFacts::from_metadata(&facts.clone().into_metadata()), facts);
        assert!(RunFacts::default().into_metadata().is_empty());
    }

    #[test]
    fn keys_of_another_type_are_ignored() {
        let Value::Object(foreign) = json!({"window": "main", "agent": 7, "context_tokens": 5, "x": null})
        else {
            unreachable!("it is an object")
        };
        assert_eq!(
            RunFacts::from_metadata(&foreign),
            RunFacts { context_tokens: Some(5), ..RunFacts::default() }
        );
    }
}
