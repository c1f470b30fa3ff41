//! Shells that persist between commands, each under the supervisor.
//!
//! A shell reads commands from a socket, one at a time, each with a random word. After each command it writes that word to
//! the socket, with the exit code, its folder and its state. Commands never see the socket: their standard input is empty,
//! and their output goes through separate pipes. So output cannot be mistaken for the end of a command, and a process that
//! keeps a pipe open does not delay the end.
//!
//! A command that times out is ended together with its shell and all its processes, because a shell that lost one command of
//! a list would continue with the next. The next shell starts in the state before that command.

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
