//! Which shell there is.

use std::ffi::OsString;

use super::script::BASH_LOOP;
use crate::process::Order;

/// Where shells are; the same everywhere, and no folder of the user's.
const PLACES: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpreter {
    /// Bash.
    Bash,
    /// Whatever shell the system has under this name.
    Sh,
}

impl Interpreter {
    /// Bash where it is installed.
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

    /// The order with this shell as its program, which runs one command and ends.
    #[must_use]
    pub fn once(self, order: Order, command: &str) -> Order {
        self.told(order, &["-c", command])
    }

    /// The order with this shell as its program, which reads its script as it comes.
    pub(super) fn lasting(self, order: Order) -> Order {
        match self {
            Self::Bash => self.told(order, &["-c", BASH_LOOP]),
            Self::Sh => self.told(order, &["-s"]),
        }
    }

    /// Nothing of the user's own is read first: what a command means depends on its words.
    fn told(self, mut order: Order, words: &[&str]) -> Order {
        let plain: &[&str] = match self {
            Self::Bash => &["--noprofile", "--norc"],
            Self::Sh => &[],
        };
        order.program = OsString::from(self.name());
        order.with_arguments(plain.iter().chain(words))
    }
}
