//! What is said to a model and what it answers, in no vendor's words.
//!
//! A conversation is a list of [`Message`]s made of [`Block`]s; a [`ModelRequest`] adds the system prompt and the tools
//! on offer, and a [`Model`] answers it. The wires of `toolroom-models` translate to and fro. What a vendor wants back
//! unchanged, such as a signature, travels with its block as an [`Opaque`] part, and is given to that vendor alone.
//!
//! Nothing is sent from here, and a model never runs a tool: what it asks for is a [`Block::Call`], and running it is the
//! loop's business, through the one path of a call.

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
pub use request::{ModelRequest, Offered, SystemPrompt, ToolUse};
