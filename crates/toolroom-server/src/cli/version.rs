//! `toolroom --version --json`: which program this is, and how it was built.

use serde::Serialize;
use toolroom_store::newest_schema;

/// What is known of this program.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct BuildInfo {
    pub(super) version: &'static str,
    /// The schema of the database that this version makes.
    pub(super) schema: i64,
    /// The commit it was built from, if whoever built it said so in `TOOLROOM_COMMIT`.
    pub(super) commit: Option<&'static str>,
    pub(super) target: &'static str,
    pub(super) profile: &'static str,
    pub(super) rustc: &'static str,
}

impl BuildInfo {
    pub(super) fn of_this_program() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            schema: newest_schema(),
            commit: option_env!("TOOLROOM_COMMIT").filter(|commit| !commit.is_empty()),
            target: env!("BUILD_TARGET"),
            profile: env!("BUILD_PROFILE"),
            rustc: env!("BUILD_RUSTC"),
        }
    }
}
