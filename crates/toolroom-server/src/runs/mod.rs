//! Runs that belong to the server: begun for somebody who may go away, watched by whoever wants to, taken up again after
//! a restart.
//!
//! [`Runs`] works on them. Each has a [`Feed`], from which any number of watchers read at their own pace; a watcher's
//! place in it is a [`Position`], and [`Watching`] goes on from there, over what is stored where the feed no longer
//! reaches back. What many of them are told is kept once: [`told::Told`].

mod feed;
#[cfg(test)]
mod feed_tests;
mod position;
#[expect(clippy::module_inception, reason = "the room is named after the one thing in it that others use")]
mod runs;
mod taken_up;
mod told;
mod watching;

pub(crate) use feed::Fallen;
pub(crate) use position::{Position, Stretch};
pub(crate) use runs::{BeginError, Begun, Runs};
pub(crate) use watching::{Seen, Watching};
