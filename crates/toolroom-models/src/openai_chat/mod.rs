//! OpenAI's Chat Completions, which most vendors and local servers speak, each in its own way.

mod call_ids;
mod calls;
mod decode;
mod encode;

use serde_json::Value;
use toolroom::model::ModelRequest;

pub(crate) use encode::{data_url, result_text};

use crate::wire::{Decoder, Wire, WireOptions};

/// Chat Completions.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiChat;

impl Wire for OpenAiChat {
    fn path(&self, _options: &WireOptions) -> String {
        "chat/completions".to_owned()
    }

    fn encode(&self, request: &ModelRequest, options: &WireOptions) -> Value {
        encode::body(request, options)
    }

    fn decoder(&self, options: &WireOptions) -> Box<dyn Decoder> {
        Box::new(decode::ChatDecoder::new(options.owner.clone()))
    }
}
