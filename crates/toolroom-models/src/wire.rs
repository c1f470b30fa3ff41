//! What every wire format offers.

use std::sync::Arc;

use serde_json::Value;
use toolroom::model::{Answer, ModelError, ModelEvent, ModelRequest};

use crate::refusal;

/// One wire format. Pure: bytes are sent and received elsewhere.
pub trait Wire: Send + Sync {
    /// The path below the vendor's base URL, for a streamed answer.
    fn path(&self, terms: &Terms) -> String;

    /// The body of a request.
    fn encode(&self, request: &ModelRequest, terms: &Terms) -> Value;

    /// Reads one streamed answer.
    fn decoder(&self, terms: &Terms) -> Box<dyn Decoder>;

    /// What a response without success says.
    fn refusal(&self, status: u16, body: &str) -> ModelError {
        refusal::of_response(status, body)
    }
}

/// Reads the events of one streamed answer.
pub trait Decoder: Send {
    /// Takes the next event in. The same events give the same answer, however their bytes were cut on the way.
    fn event(
        &mut self,
        event: &toolroom_host::sse::Event,
        told: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), ModelError>;

    /// Whether the vendor has said that nothing more comes. Some never say so: their stream just ends.
    fn is_complete(&self) -> bool;

    /// The answer, once the stream has ended. A stream that broke off is an error.
    fn finish(self: Box<Self>) -> Result<Answer, ModelError>;
}

/// What is known about the model that is asked, and what its vendor does differently.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// The model as its vendor names it.
    pub model: String,
    /// Who may have opaque parts back: the vendor's name.
    pub owner: Arc<str>,
    /// What the vendor does differently.
    pub quirks: Quirks,
}

/// What vendors of the same wire format do differently. The default is the format as its inventor has it.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about a vendor, and none follows from another"
)]
pub struct Quirks {
    /// What becomes of thoughts when the conversation is sent again.
    pub reasoning: ReasoningEcho,
    /// The most tokens are called `max_completion_tokens`.
    pub max_completion_tokens: bool,
    /// Arguments of calls are JSON objects, not text.
    pub arguments_as_object: bool,
    /// The stream has no usage unless asked for with `stream_options`.
    pub usage_on_request: bool,
    /// `tool_choice` is not understood.
    pub no_tool_choice: bool,
    /// Encrypted thoughts must not be asked for: the model has none.
    pub no_encrypted_reasoning: bool,
    /// Most tokens of an answer where the format wants a bound and the request names none.
    pub default_max_tokens: Option<u32>,
    /// Ids of calls are nine letters and digits.
    pub short_call_ids: bool,
    /// A temperature is refused.
    pub no_temperature: bool,
    /// Schemas are kept to the letter where they are written in the way this needs.
    pub strict_schemas: bool,
    /// Parameters of tools are a subset of OpenAPI 3.0, not JSON Schema.
    pub openapi_parameters: bool,
}

/// What becomes of thoughts when the conversation is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEcho {
    /// They are left out: vendors that do not know them refuse them.
    #[default]
    Strip,
    /// They are sent back with turns that hold calls.
    WithCalls,
    /// They are always sent back.
    Always,
}

/// The temperature of a request, where the model takes one.
pub(crate) fn temperature(request: &ModelRequest, terms: &Terms) -> Option<f64> {
    request.temperature.filter(|temperature| temperature.is_finite() && !terms.quirks.no_temperature)
}

/// A name as one part of a path: it must not lead anywhere else.
pub(crate) fn escaped(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                path.push(char::from(byte));
            }
            other => path.push_str(&format!("%{other:02X}")),
        }
    }
    path
}
