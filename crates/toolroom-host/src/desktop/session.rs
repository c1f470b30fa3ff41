//! The graphical session of this process.

use std::path::{Path, PathBuf};

use super::error::DesktopError;
use crate::environment;
use crate::process::{FoundProgram, Order, Supervisor, Variables};

/// The desktop of the local user. Nothing is started in advance, and the variables are read each time, so that errors
/// name a missing one.
#[derive(Debug, Clone)]
pub struct Desktop {
    pub(super) supervisor: Supervisor,
}

impl Desktop {
    /// The desktop of our own session; programs are started by `supervisor`.
    #[must_use]
    pub fn new(supervisor: Supervisor) -> Self {
        Self { supervisor }
    }

    /// Whether there is a graphical session.
    #[must_use]
    pub fn is_there(&self) -> bool {
        ["WAYLAND_DISPLAY", "DISPLAY"].iter().any(|name| environment::variable(name).is_some())
    }

    /// Fails without a graphical session.
    pub(super) fn seen(&self) -> Result<(), DesktopError> {
        if self.is_there() { Ok(()) } else { Err(DesktopError::NoDisplay) }
    }
}

/// The working folder of desktop programs.
pub(super) fn home() -> PathBuf {
    environment::path_variable("HOME").filter(|home| home.is_absolute()).unwrap_or_else(|| "/".into())
}

/// An order for a desktop program in the session. Blocks.
pub(super) fn program(name: &'static str, package: &'static str) -> Result<Order, DesktopError> {
    let missing = DesktopError::NoProgram { program: name, package };
    let found = FoundProgram::find(name, Path::new("/")).ok_or(missing)?;
    let mut order = Order::new(found.path, home());
    order.variables = Variables::for_desktop();
    Ok(order)
}

/// The output of a program for a message: one line, shortened.
pub(super) fn in_short(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().filter(|char| !char.is_control()).take(MAX_CHARS).collect()
}
