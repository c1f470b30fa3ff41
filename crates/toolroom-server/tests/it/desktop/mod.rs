//! The tools of the desktop through every entrance, judged by what its programs were called with.

pub(crate) mod calendar;
pub(crate) mod clipboard;
mod large;
mod offered;
mod opened;
pub(crate) mod stand_in;
mod wayland;
