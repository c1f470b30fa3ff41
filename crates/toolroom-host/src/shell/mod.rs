//! Shells that live on between commands, each under the supervisor.
//!
//! A shell reads its script from a line, one command at a time, and each command comes with a word that nobody knows
//! beforehand. When the command is done the shell says that word on the line, with the exit code, its folder and its
//! state. Commands never see the line: their standard input is empty, and what they print goes through pipes of its
//! own. So nothing that is printed can be taken for an end, and nobody who holds a pipe open keeps a command from
//! ending.
//!
//! A command that takes too long is ended with everything it started and with its shell, because a shell that lost one
//! part of a list would go on with the next. The shell that follows begins in the state from before that command.

mod error;
mod interpreter;
mod report;
mod script;
mod session;
mod shells;

pub use error::ShellError;
pub use interpreter::Interpreter;
pub use session::{Command, CommandEnd, Outcome};
pub use shells::Shells;
