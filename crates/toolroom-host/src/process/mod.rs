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
//! (setuid programs gain none), and [`Limits`]. What it prints is kept from both ends ([`Kept`]) with an exact count of
//! what lies between.
//!
//! What is *not* held here: a program of the same user can kill or stop the helper. The program itself then dies, its
//! session is swept, and the call is told so, but a process that left the session stays. It can also ask somebody
//! else (a service manager, a container engine) to start things. Both are the business of [`crate::sandbox`], in which a
//! program is started when its order says so.

mod confine;
mod detached;
mod disk;
mod end;
mod errands;
mod error;
mod family;
mod fetched;
mod forwarder;
mod found;
mod git_settings;
mod helper;
mod inside;
mod keeper;
mod keepsake;
mod line;
mod look;
mod namespace;
mod order;
mod output;
mod place;
mod put_back;
mod repositories;
mod running;
mod stat;
mod supervisor;
mod tree;
mod variables;
mod watch;
mod wire;

pub(crate) use detached::forget_streams;
pub use end::{Cause, Ended, Limit, Status, Usage};
pub use error::ProcessError;
pub use fetched::Fetched;
pub use found::{Found, folder_of_script, is_narrow, named_file};
pub use helper::{SUBCOMMAND, helper_main};
pub use line::Input;
pub(crate) use line::Line;
pub use order::{Limits, Order};
pub use output::{Kept, Stream};
pub(crate) use put_back::change_mode;
pub use running::Running;
pub(crate) use stat::Stat;
pub use supervisor::Supervisor;
pub use variables::{VariableError, Variables};
