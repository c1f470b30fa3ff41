//! The kernel of Toolroom: what a tool is, and the one path every call takes.
//!
//! A tool is defined once and from then on guarded, executed, journaled and offered to any model and any
//! client. This crate is what you embed: it opens nothing itself — no socket, no file, no process, no
//! environment variable — and reaches storage and time through ports ([`ledger`], [`clock`]).
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use toolroom::tool::{Effect, ToolError, tool_fn};
//! use toolroom::{Toolroom, call::CallRequest};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     /// First summand.
//!     a: i64,
//!     /// Second summand.
//!     b: i64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let room = Toolroom::in_memory();
//! room.catalog().register(
//!     tool_fn("app:add", "Add two numbers", |_context, args: Add| async move {
//!         Ok::<_, ToolError>(args.a + args.b)
//!     })?
//!     .with(|spec| spec.effect(Effect::Pure)),
//! )?;
//!
//! let report = room.call(CallRequest::new("add").argument("a", 2).argument("b", 3)).await;
//! assert_eq!(report.for_model(), Some(5.into()));
//! # Ok(())
//! # }
//! ```
//!
//! The rooms: [`tool`] what a tool is; [`catalog`] which tools exist and who sees them; [`call`] the path of a
//! call, a file per station; [`policy`] verdicts; [`provenance`] what was read and sent
//! before a call; [`approval`] questions to people; [`schema`] checks of
//! arguments; [`model`] what is said to models; [`agent`] the loop that answers messages; [`conversation`] what was said in
//! it; [`memory`] what is remembered of users; [`background`] records of background programs; [`foreign`] records of foreign servers; [`selector`] which tools fit a message; [`expression`] the one
//! evaluator of formulas and conditions; [`ledger`] what is kept; [`redact`] secrets taken out of it; [`testing`] a
//! bench for your own tools.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod agent;
pub mod approval;
pub mod background;
pub mod call;
pub mod catalog;
pub mod characters;
pub mod clock;
pub mod conversation;
pub mod expression;
pub mod foreign;
pub mod ledger;
pub mod memory;
pub mod model;
pub mod nearest;
pub mod policy;
pub mod provenance;
pub mod redact;
#[cfg(test)]
#[path = "../tests/it/scale.rs"]
mod scale;
pub mod schema;
pub mod scope;
pub mod selector;
pub mod testing;
mod text_id;
pub mod tool;
mod toolroom;

pub use crate::toolroom::{APPROVAL_LIFETIME, CallObserver, Toolroom, ToolroomBuilder};

use std::future::Future;
use std::pin::Pin;

/// A boxed future, as the traits of this crate return them.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Compiles and runs the Rust examples of the documents.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/own-tools.md")]
    mod own_tools {}
    #[doc = include_str!("../../../docs/guides/rust-developers.md")]
    mod rust_developers {}
}
