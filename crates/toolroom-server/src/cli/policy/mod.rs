//! `toolroom policy`: which rules hold, whether they are in order, and how a call would be judged. A file per
//! subcommand; none of them runs a tool or writes to the journal.

mod check;
mod command;
mod command_line;
mod explain;
mod export;
mod forget;
mod lint;
mod list;
mod rules;
mod trial;
pub(super) mod verdict;

pub(super) use command::{PolicyArgs, run};
