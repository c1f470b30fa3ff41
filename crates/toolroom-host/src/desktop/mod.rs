//! The desktop of the local user: opening files and addresses, notifications, clipboard.
//!
//! Everything needs a graphical session; without one, errors name the missing variable. Desktop programs (`xdg-open`,
//! `notify-send`) come from our own `PATH`, get only the variables of the session, and never see an argument that could
//! be an option.
//!
//! The clipboard is read and written by a process of our own program ([`helper_main`]): a clipboard owner has to serve its
//! text until another program takes over, possibly long after the call.

mod clipboard;
mod error;
mod notify;
mod open;
mod session;

pub use clipboard::{CLIPBOARD_BYTES, helper_main};
pub use error::DesktopError;
pub use session::Desktop;

/// The first argument of a program that must call [`helper_main`]. Not a command for people.
pub const SUBCOMMAND: &str = "__desktop";
