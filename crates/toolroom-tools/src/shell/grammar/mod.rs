//! A parser for shell scripts: the bash people write.
//!
//! Unsupported syntax is an error, never a guess, so a tree is complete. What runs is printed from the tree
//! ([`print()`]), so nothing that was not parsed can run. Parsing takes linear time, a bounded stack and a bounded number
//! of commands, for any text.

mod arithmetic;
mod braces;
mod compound;
mod cursor;
mod dialect;
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
pub use parser::{MAX_COMMANDS, MAX_DEPTH, MAX_PIECES, MAX_TEXT, ParseError, parse};
pub use print::print;
pub use tree::{
    Arm, ArmEnd, Assignment, Body, Chain, Command, HereDocument, Item, Link, Parameter, Piece, Pipeline,
    Position, Redirection, Script, Simple, Target, TestPart, Timed, Word,
};

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
