//! Conversations and their runs, as rows and back.
//!
//! [`change`] is what a begin or a step of a run writes, encoded where it is asked for, so that the writer has less to
//! do; [`hold`] takes runs over and deletes conversations, which are rare and look for themselves; [`port`] and [`read`]
//! are the kernel's port.

mod change;
mod hold;
mod port;
mod read;

pub(crate) use change::{RunChange, RunRows, Start};
pub(crate) use hold::{Hold, settle};
