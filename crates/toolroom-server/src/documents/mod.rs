//! Documents: how things look in JSON, the same on the command line and over HTTP.

mod call;
mod failure;
mod remedy;

pub(crate) use call::{CallDocument, Surface, what_to_do};
pub(crate) use failure::Failure;
pub(crate) use remedy::remedy;
