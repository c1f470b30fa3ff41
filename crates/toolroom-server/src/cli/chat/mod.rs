//! `toolroom chat`: a message and its answer, or a conversation at the terminal.

mod canvas;
mod card;
mod command;
mod hand;
mod history;
mod line_start;
mod markdown;
mod message;
mod painter;
mod picture;
mod remedy;
mod report;
mod session;
mod slash;
mod turn;

pub(super) use canvas::Look;
pub(super) use card::Card;
pub(super) use command::{ChatArgs, finish, open, run};
pub(super) use hand::Hand;
pub(super) use turn::{Turn, exit_of};
