//! A shell grammar of our own: bash as people write it.
//!
//! What it does not understand is an error, never a guess, so whoever judges a tree has seen all of it. What runs
//! is printed from the tree ([`print()`]), so nothing that was not read can run. Reading takes linear time, a bounded
//! stack and a bounded number of commands, whatever the text says.

mod arithmetic;
mod braces;
mod compound;
mod cursor;
mod dialect;
mod error;
mod here_document;
mod hidden;
mod list;
mod parameter;
mod parser;
mod print;
mod print_word;
mod quoted;
mod redirection;
mod simple;
mod test_command;
mod tree;
mod word;

pub(in crate::shell) use braces::{Braces, alternatives};
pub use dialect::only_bash;
pub use error::NotUnderstood;
pub use parser::{MAX_COMMANDS, MAX_DEPTH, MAX_PIECES, MAX_TEXT, parse};
pub use print::print;
pub use tree::{
    Arm, ArmEnd, Assignment, Body, Chain, Command, HereDocument, Item, Link, Parameter, Piece, Pipeline,
    Place, Redirection, Script, Simple, Target, TestPart, Timed, Word,
};

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
