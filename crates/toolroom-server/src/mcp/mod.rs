//! This toolroom as a server of the Model Context Protocol: what its clients may say, and what they are told.
//!
//! Two eras are spoken side by side: since 2026-07-28 every request stands for itself and says what its client can do;
//! before that a client introduces itself once, in a [`Session`]. [`Desk`] answers requests of both, whatever way they
//! come; the ways are `http/mcp/` and [`stdio`]. Calls go the one path of every call.

mod ability;
mod approval;
mod call;
mod changes;
mod content;
mod desk;
mod dialogue;
pub(crate) mod fixtures;
mod form;
#[cfg(test)]
mod fuzz;
mod id;
mod kept;
mod lines;
mod listing;
mod message;
mod names;
mod own_calls;
mod params;
mod parked;
mod peer;
mod progress;
mod prompts;
mod refusal;
mod reply;
mod resources;
mod running;
mod session;
mod state;
pub(crate) mod stdio;
mod tally;
mod tasks;
mod told;
mod undertakings;
mod unheard;
mod version;
mod voice;
mod watcher;

pub(crate) use changes::{Kinds, Watch};
pub(crate) use desk::{Calls, Desk};
pub(crate) use message::{Id, Message, NoMessage, Request, error_text, notification_text, result_text};
pub(crate) use peer::{Asker, Client, Peer, Place};
pub(crate) use refusal::Refusal;
pub(crate) use running::Working;
pub(crate) use session::Session;
pub(crate) use told::Told;
pub(crate) use undertakings::{GoingOn, Undertakings};
pub(crate) use version::{MODERN, Version};
pub(crate) use voice::Voice;
