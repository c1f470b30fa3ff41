//! `toolroom --version --json`: build information.

use serde::Serialize;
use toolroom_store::newest_schema;

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct BuildInfo {
    pub(super) version: &'static str,
    /// Schema of a database created by this version.
    pub(super) schema: i64,
    /// The commit, if `TOOLROOM_COMMIT` was set at build time.
    pub(super) commit: Option<&'static str>,
    pub(super) target: &'static str,
    pub(super) profile: &'static str,
    pub(super) rustc: &'static str,
}

impl BuildInfo {
    pub(super) fn current() -> Self {
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
