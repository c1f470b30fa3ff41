//! Anthropic's Messages API.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use serde_json::Value;
use toolroom::model::ModelRequest;

use crate::wire::{Decoder, Terms, Wire};

/// The Messages API, streamed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn path(&self, _: &Terms) -> String {
        "messages".to_owned()
    }

    fn encode(&self, request: &ModelRequest, terms: &Terms) -> Value {
        encode::body(request, terms)
    }

    fn decoder(&self, terms: &Terms) -> Box<dyn Decoder> {
        Box::new(decode::Stream::new(&terms.owner))
    }
}
