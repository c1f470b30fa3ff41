//! The installed shell.

use std::ffi::OsString;

use super::script::BASH_LOOP;
use crate::process::Order;

/// Folders of shells; no folder of the user.
const PLACES: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpreter {
    /// Bash.
    Bash,
    /// The system's `sh`.
    Sh,
}

impl Interpreter {
    /// Bash if installed, otherwise `sh`.
    #[expect(clippy::disallowed_methods, reason = "this is the door: which shell is installed")]
    #[must_use]
    pub fn detect() -> Self {
        let has_bash = PLACES.iter().any(|place| std::path::Path::new(place).join("bash").is_file());
        if has_bash { Self::Bash } else { Self::Sh }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Sh => "sh",
        }
    }

    /// The order with this shell as program, for one command.
    #[must_use]
    pub fn once(self, order: Order, command: &str) -> Order {
        self.with_arguments(order, &["-c", command])
    }

    /// The order with this shell as program, for a session.
    pub(super) fn lasting(self, order: Order) -> Order {
        match self {
            Self::Bash => self.with_arguments(order, &["-c", BASH_LOOP]),
            Self::Sh => self.with_arguments(order, &["-s"]),
        }
    }

    /// No startup files are read: the meaning of a command depends on its text only.
    fn with_arguments(self, mut order: Order, words: &[&str]) -> Order {
        let plain: &[&str] = match self {
            Self::Bash => &["--noprofile", "--norc"],
            Self::Sh => &[],
        };
        order.program = OsString::from(self.name());
        order.with_arguments(plain.iter().chain(words))
    }
}
