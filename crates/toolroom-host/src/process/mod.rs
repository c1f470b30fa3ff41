//! Runs programs and ends them with all their descendants.
//!
//! A program is never our direct child. [`Supervisor::start`] starts a *helper*: our own executable, which calls
//! [`helper_main`]. The helper receives the order over a control socket, adopts all orphaned descendants (as
//! *subreaper*), and starts the program through a second stage, which sets limits and then executes the program. When our
//! end of the socket closes, even by a crash, the helper terminates all descendants, kills the rest a moment later, and
//! exits. Double forks, `setsid` and ignored signals do not help a program to escape.
//!
//! A program gets a clean environment ([`Variables`]), three descriptors, no terminal, no additional rights (setuid has no
//! effect), and [`Limits`]. [`CapturedOutput`] keeps both ends of its output, and the exact number of bytes between them.
//!
//! Not covered: a program of the same user can kill or stop the helper. The program then dies, its session is ended and
//! the call fails, but a process that left the session survives. It can also ask another service (a service manager, a
//! container engine) to start processes. [`crate::sandbox`] prevents both if the order has a confinement.

mod cached_package;
mod cleanup;
mod confine;
mod descendants;
mod detached;
mod disk;
mod end;
mod error;
mod forwarder;
mod found_program;
mod git_executions;
mod git_settings;
mod helper;
mod helper_session;
mod init;
mod limit_monitor;
mod namespace;
mod order;
mod output;
mod repositories;
mod repository_scan;
mod restore;
mod running;
mod snapshot;
mod stat;
mod stdin_socket;
mod supervisor;
mod tree;
mod variables;
mod wire;

pub use cached_package::CachedPackage;
pub(crate) use detached::forget_streams;
pub use end::{Cause, Limit, ProgramEnd, Status, Usage};
pub use error::ProcessError;
pub use found_program::{FoundProgram, folder_of_script, is_narrow, named_file};
pub use helper::{SUBCOMMAND, helper_main};
pub use order::{Limits, Order};
pub use output::{CapturedOutput, OutputStream};
pub(crate) use restore::change_mode;
pub use running::Running;
pub(crate) use stat::Stat;
pub use stdin_socket::ProgramInput;
pub(crate) use stdin_socket::StdinSocket;
pub use supervisor::Supervisor;
pub use variables::{VariableError, Variables};
