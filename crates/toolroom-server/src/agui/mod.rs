//! AG-UI: agents for the front ends of others, in the protocol they speak.
//!
//! A client posts an [`Input`], [`Start`] finds out what of it is new and begins a run or goes on with one, and a
//! [`Narrator`] tells what happens as the protocol's [`Event`]s. The server keeps the thread: what a client sends of it
//! again changes nothing. Questions to people become interrupts, tools of the client become calls that are left pending.
//!
//! Clients of version 1.0 say so; all others get what version 0.0.59 takes.

mod activity;
mod answers;
mod calls;
mod capabilities;
mod event;
#[cfg(test)]
mod fuzz;
mod input;
mod interrupt;
mod message;
mod narrate;
mod speech;
mod start;
mod state;
mod thread;
mod usage;

pub(crate) use capabilities::capabilities;
pub(crate) use event::Event;
pub(crate) use input::{Input, RunAgentInput};
pub(crate) use narrate::Narrator;
pub(crate) use start::{Next, Start, StartError, Started};
