//! Events of runs.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use toolroom::conversation::{NumberedEvent, RunEvent};
use toolroom::tool::Offer;

use super::OfferDocument;

/// An item of an event stream.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StreamedEvent<'a> {
    /// An event.
    Event(EventDocument<'a>),
    /// The answer so far, for a subscriber that missed events.
    Snapshot(SnapshotDocument<'a>),
}

/// The answer so far.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "snapshot")]
#[schemars(rename = "Snapshot")]
pub(crate) struct SnapshotDocument<'a> {
    /// Text of the answer.
    pub(crate) text: &'a str,
    /// Reasoning.
    pub(crate) reasoning: &'a str,
}

/// An event, with links to offered files.
#[derive(Debug)]
pub(crate) struct EventDocument<'a>(pub(crate) &'a NumberedEvent);

impl Serialize for EventDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let offers: &[Offer] = match &self.0.event {
            RunEvent::CallEnded { offers, .. } => offers,
            _ => &[],
        };
        if offers.is_empty() {
            return self.0.serialize(serializer);
        }
        let mut event = serde_json::to_value(self.0).map_err(S::Error::custom)?;
        if let Some(field) = event.get_mut("offers") {
            *field = json!(offers.iter().map(OfferDocument::of).collect::<Vec<_>>());
        }
        event.serialize(serializer)
    }
}

impl JsonSchema for EventDocument<'_> {
    fn schema_name() -> Cow<'static, str> {
        NumberedEvent::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let offer = generator.subschema_for::<OfferDocument>();
        let mut schema = NumberedEvent::json_schema(generator);
        for kind in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(items) = kind.pointer_mut("/properties/offers/items") {
                *items = offer.clone().to_value();
            }
        }
        schema
    }
}
