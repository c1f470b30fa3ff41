//! `toolroom service`: a server that starts with its user and is started again when it fails.

mod command;
mod unit;

pub(super) use command::{ServiceArgs, run};
