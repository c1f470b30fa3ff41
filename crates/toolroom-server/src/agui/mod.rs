//! AG-UI: agents for third-party front ends.
//!
//! A client posts an [`Input`]. [`Start`] finds what is new in it and starts or resumes a run, and a [`Narrator`] translates
//! the run into the [`Event`]s of the protocol. The server stores the thread: messages sent again change nothing. Approvals
//! become interrupts, and client tools become pending calls.
//!
//! Clients of version 1.0 declare it; all others get version 0.0.59.

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
pub(crate) use start::{NextStep, Start, StartError, Started};
