//! Programs started on behalf of others, and ended with everything they started.
//!
//! A program never runs as our own child. [`Supervisor::start`] starts a *helper*: a program of ours that calls
//! [`helper_main`], usually the very executable that is running. The helper takes the order over a socket, adopts
//! whatever its descendants leave behind (it is their *subreaper*), and starts the program through a second stage of
//! itself, which sets limits and then becomes the program. The socket is the lifeline: when our end closes, however we
//! end, the helper asks every descendant to end, kills what is left a moment later, and leaves. Forking twice, `setsid`
//! and ignoring signals change nothing about that.
//!
//! What a program gets: a clean environment ([`Variables`]), three descriptors, no terminal, no rights beyond ours
//! (setuid programs gain none), and [`Limits`]. What it prints is kept from both ends ([`CapturedOutput`]) with an exact count of
//! what lies between.
//!
//! What is *not* held here: a program of the same user can kill or stop the helper. The program itself then dies, its
//! session is swept, and the call is told so, but a process that left the session stays. It can also ask somebody
//! else (a service manager, a container engine) to start things. Both are the business of [`crate::sandbox`], in which a
//! program is started when its order says so.

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
