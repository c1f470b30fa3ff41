//! The vendor-neutral chat model: requests, messages and answers.
//!
//! A conversation is a list of [`Message`]s made of [`Block`]s; a [`ModelRequest`] adds the system prompt and the offered
//! tools, and a [`Model`] answers it. The wires of `toolroom-models` translate. Data that a vendor wants back unchanged,
//! such as a signature, is an [`Opaque`] part of its block and is sent to that vendor only.
//!
//! A model never runs a tool: it returns a [`Block::Call`], and the agent loop runs it through the call path.

mod answer;
mod error;
mod facts;
mod message;
mod price;
mod request;

pub use answer::{Answer, Model, ModelEvent, StopReason, Usage};
pub use error::{ModelError, ModelErrorKind};
pub use facts::ModelFacts;
pub use message::{Block, Image, Message, ModelCallId, Opaque, Role};
pub use price::{Dollars, Price};
pub use request::{ModelRequest, OfferedTool, SystemPrompt, ToolUse};
