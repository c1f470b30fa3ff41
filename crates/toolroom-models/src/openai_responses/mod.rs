//! OpenAI's Responses, without anything kept on the vendor's side.
//!
//! A turn is a list of items there. Those we have no words for, and thoughts, which come encrypted, are given back as
//! they came.

mod decode;
mod encode;
mod item;

use serde_json::Value;
use toolroom::model::ModelRequest;

use crate::wire::{Decoder, Wire, WireOptions};

/// Responses.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn path(&self, _options: &WireOptions) -> String {
        "responses".to_owned()
    }

    fn encode(&self, request: &ModelRequest, options: &WireOptions) -> Value {
        encode::body(request, options)
    }

    fn decoder(&self, options: &WireOptions) -> Box<dyn Decoder> {
        Box::new(decode::ResponsesDecoder::new(options.owner.clone()))
    }
}
