//! What the process was started with.

use std::ffi::OsString;
use std::path::PathBuf;

/// A variable's value. Empty counts as unset, as in the XDG specification; text that is not UTF-8 too.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A variable that names a path. It need not be UTF-8; empty counts as unset.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the environment")]
pub fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The command line, program name first.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the command line")]
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The time zone of this machine; UTC when it is not set.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the system's time zone")]
pub fn time_zone() -> jiff::tz::TimeZone {
    jiff::tz::TimeZone::system()
}
