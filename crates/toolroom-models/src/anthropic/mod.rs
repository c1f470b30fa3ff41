//! Anthropic's Messages API.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use serde_json::Value;
use toolroom::model::ModelRequest;

use crate::wire::{Decoder, Wire, WireOptions};

/// The Messages API, streamed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn path(&self, _: &WireOptions) -> String {
        "messages".to_owned()
    }

    fn encode(&self, request: &ModelRequest, options: &WireOptions) -> Value {
        encode::body(request, options)
    }

    fn decoder(&self, options: &WireOptions) -> Box<dyn Decoder> {
        Box::new(decode::Stream::new(&options.owner))
    }
}
