//! The model wire formats of Toolroom: OpenAI-compatible, Anthropic and Gemini, with vendors as data, and the
//! offline model.
//!
//! A [`wire::Wire`] encodes requests and decodes streams of events. It is pure; one HTTP client sends for all wires. The
//! offline model answers by rules and sends nothing. None of them runs a tool.

#![forbid(unsafe_code)]

pub mod anthropic;
mod arguments;
pub mod client;
pub mod directory;
mod field;
pub mod gemini;
pub mod offline;
pub mod openai_chat;
pub mod openai_responses;
mod refusal;
pub mod retry;
pub mod schema;
mod turns;
pub mod vendor;
pub mod wire;

#[cfg(test)]
mod recorded;
#[cfg(test)]
#[path = "../../toolroom/tests/it/scale.rs"]
mod scale;
