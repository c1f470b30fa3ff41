//! Google's Gemini API: `generateContent`.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use serde_json::Value;
use toolroom::model::ModelRequest;

use crate::wire::{Decoder, Terms, Wire, escaped};

/// `generateContent`, streamed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gemini;

impl Wire for Gemini {
    fn path(&self, terms: &Terms) -> String {
        let model = terms.model.strip_prefix("models/").unwrap_or(&terms.model);
        format!("models/{}:streamGenerateContent?alt=sse", escaped(model))
    }

    fn encode(&self, request: &ModelRequest, terms: &Terms) -> Value {
        encode::body(request, terms)
    }

    fn decoder(&self, terms: &Terms) -> Box<dyn Decoder> {
        Box::new(decode::Stream::new(&terms.owner))
    }
}
