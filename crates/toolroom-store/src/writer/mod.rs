//! The one writer of this process.
//!
//! Work is queued in the order in which it is asked for, as far as it is about the same call. The writer takes everything
//! that waits, writes it in one transaction, answers, and takes again: whoever waits is not kept waiting, and a crowd
//! shares one commit. Only for rows that are promised already ([`promises`]) it waits a moment, so that they are many. How
//! hard a commit is follows from what it holds ([`unit::Durability`]). If a transaction fails, its units run again, each
//! undone on its own, so that only the one to blame fails. Calls that end with large files come last, one by one
//! ([`large`]): nobody waits for more than one of them.
//!
//! [`mod@unit`] says what can be asked; [`batch`] which units share a transaction; [`plan`] turns a batch and what
//! the database said ([`look`]) into rows, and [`rates`] holds the limits meanwhile, [`runs`] who works on what; [`transaction`] talks to the
//! database; [`task`] keeps it all going.

mod batch;
mod large;
mod look;
mod plan;
mod promises;
mod queue;
mod rates;
mod runs;
mod task;
mod transaction;
mod unit;

#[cfg(test)]
mod tests;

pub(crate) use queue::Queue;
pub(crate) use unit::{Durability, Outcome, Refusal, Work};
