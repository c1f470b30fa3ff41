//! Google's Gemini API: `generateContent`.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use serde_json::Value;
use toolroom::model::ModelRequest;

use crate::wire::{Decoder, Wire, WireOptions, escaped};

/// `generateContent`, streamed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gemini;

impl Wire for Gemini {
    fn path(&self, options: &WireOptions) -> String {
        let model = options.model.strip_prefix("models/").unwrap_or(&options.model);
        format!("models/{}:streamGenerateContent?alt=sse", escaped(model))
    }

    fn encode(&self, request: &ModelRequest, options: &WireOptions) -> Value {
        encode::body(request, options)
    }

    fn decoder(&self, options: &WireOptions) -> Box<dyn Decoder> {
        Box::new(decode::Stream::new(&options.owner))
    }
}
