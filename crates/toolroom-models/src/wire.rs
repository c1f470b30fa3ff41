//! The interface of wire formats.

use std::sync::Arc;

use serde_json::Value;
use toolroom::model::{Answer, ModelError, ModelEvent, ModelRequest};

use crate::refusal;

/// One wire format. Pure: bytes are sent and received elsewhere.
pub trait Wire: Send + Sync {
    /// The path below the vendor's base URL, for a streamed answer.
    fn path(&self, options: &WireOptions) -> String;

    /// The body of a request.
    fn encode(&self, request: &ModelRequest, options: &WireOptions) -> Value;

    /// Reads one streamed answer.
    fn decoder(&self, options: &WireOptions) -> Box<dyn Decoder>;

    /// The error of a response without success.
    fn refusal(&self, status: u16, body: &str) -> ModelError {
        refusal::from_response(status, body)
    }
}

/// Reads the events of one streamed answer.
pub trait Decoder: Send {
    /// Takes the next event.
    fn event(
        &mut self,
        event: &toolroom_host::sse::Event,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), ModelError>;

    /// Whether the vendor has marked the end. Some streams just end.
    fn is_complete(&self) -> bool;

    /// The answer, once the stream has ended. A stream that broke off is an error.
    fn finish(self: Box<Self>) -> Result<Answer, ModelError>;
}

/// The model of a request and its vendor's quirks.
#[derive(Debug, Clone, PartialEq)]
pub struct WireOptions {
    /// The model as its vendor names it.
    pub model: String,
    /// The owner of opaque parts: the vendor's name.
    pub owner: Arc<str>,
    /// The vendor's quirks.
    pub quirks: Quirks,
}

/// Differences between vendors of one wire format. The default is the original vendor's behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about a vendor, and none follows from another"
)]
pub struct Quirks {
    /// Whether reasoning is sent back.
    pub reasoning: ReasoningEcho,
    /// The limit of output tokens is called `max_completion_tokens`.
    pub max_completion_tokens: bool,
    /// Arguments of calls are JSON objects, not text.
    pub arguments_as_object: bool,
    /// The stream has no usage unless asked for with `stream_options`.
    pub usage_on_request: bool,
    /// `tool_choice` is not supported.
    pub no_tool_choice: bool,
    /// The model has no encrypted reasoning, and a request for it fails.
    pub no_encrypted_reasoning: bool,
    /// The default limit of output tokens, if the format requires one.
    pub default_max_tokens: Option<u32>,
    /// Call ids must be nine letters and digits.
    pub short_call_ids: bool,
    /// A temperature is rejected.
    pub no_temperature: bool,
    /// Strict schemas are supported.
    pub strict_schemas: bool,
    /// Parameters of tools are a subset of OpenAPI 3.0, not JSON Schema.
    pub openapi_parameters: bool,
}

/// Whether reasoning is sent back with the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEcho {
    /// Left out, because vendors without reasoning reject it.
    #[default]
    Strip,
    /// Sent back with turns that have calls.
    WithCalls,
    /// Always sent back.
    Always,
}

/// The temperature of a request, if the model accepts one.
pub(crate) fn temperature(request: &ModelRequest, options: &WireOptions) -> Option<f64> {
    request.temperature.filter(|temperature| temperature.is_finite() && !options.quirks.no_temperature)
}

/// A name as one escaped path segment.
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
