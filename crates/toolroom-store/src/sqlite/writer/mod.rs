//! The writer: one task per process that owns the one connection that writes.
//!
//! Units of work about the same call are written in the order in which they were queued. The writer takes everything that is
//! queued, writes it in one transaction, replies, and takes again: a unit does not wait for a timer, and concurrent units
//! share a commit. Only write-ahead rows ([`write_ahead`]) gather for a moment. The durability of a commit follows from its
//! units ([`unit::Durability`]). If a transaction fails, its units run again, each in a savepoint, so that only the faulty
//! one fails. Calls with large artifacts are written last, one by one ([`batch::LargeUnits`]).
//!
//! [`mod@unit`] is the work; [`batch`] selects units for a transaction; [`plan`] turns a batch and its [`preconditions`] into
//! rows, with [`rates`] and [`run_precondition`]; [`transaction`] executes them, [`commit`] retries; [`task`] is the loop.

mod batch;
mod commit;
mod plan;
mod preconditions;
mod queue;
mod rates;
mod run_precondition;
mod task;
mod transaction;
mod unit;
mod write_ahead;

#[cfg(test)]
mod tests;

pub(crate) use queue::Queue;
pub(crate) use unit::{Durability, Outcome, Refusal, Work};
