//! The desktop of the person at this machine: what is shown to them, and their clipboard.
//!
//! Nothing here can be reached without a graphical session, and whoever asks is told which variable is missing. Programs
//! of the desktop (`xdg-open`, `notify-send`) are those on our own `PATH`, get the variables of the session and no other,
//! and are named with words that cannot be taken for options.
//!
//! The clipboard is read and written by a process of our own program ([`helper_main`]): whoever puts a text there has to
//! hand it out until somebody else puts another one there, and that may be long after the call.

mod clipboard;
mod error;
mod notify;
mod open;
mod session;

pub use clipboard::{CLIPBOARD_BYTES, helper_main};
pub use error::DesktopError;
pub use session::Desktop;

/// The first argument of a program that must call [`helper_main`]. No command for people.
pub const SUBCOMMAND: &str = "__desktop";
