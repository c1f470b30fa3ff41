//! The desktop tools through every interface, verified by the arguments of the desktop programs.

pub(crate) mod calendar;
pub(crate) mod clipboard;
mod large;
mod offered;
mod opened;
pub(crate) mod stand_in;
mod wayland;
