//! `toolroom chat`: a message and its answer, or a conversation at the terminal.

mod canvas;
mod card;
mod command;
mod history;
mod interrupt;
mod line_start;
mod markdown;
mod message;
mod picture;
mod remedy;
mod renderer;
mod report;
mod session;
mod slash_command;
mod turn;

pub(super) use canvas::Look;
pub(super) use card::Card;
pub(super) use command::{ChatArgs, finish, open, run};
pub(super) use interrupt::Hand;
pub(super) use turn::{Turn, exit_of};
