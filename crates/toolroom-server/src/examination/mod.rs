//! Whether this installation is in order, for `toolroom doctor` and the tool `doctor`.
//!
//! [`Examination`] gathers [`Facts`](facts::Facts) and never fails as a whole: what cannot be read is a fact, too.
//! `judge` makes a report of them and does nothing else, so that every fault can be tested as a value.

mod facts;
mod gather;
mod judge;
mod look;
mod models;
mod opened;
mod secrets;
mod servers;
mod settings;

pub(crate) use gather::Examination;
