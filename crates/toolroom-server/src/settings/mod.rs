//! Settings as one document for `toolroom export` and `toolroom import`: projects, switches, standing answers, agents and
//! servers. Holds the names of secrets, not their values; no keys, memories, conversations or journal.

mod check;
mod document;
mod export;
#[cfg(test)]
mod fuzz;
mod import_plan;
mod server_check;

pub(crate) use document::{MAX_BYTES, ProjectSettings, SettingsDocument};
pub(crate) use export::export_settings;
pub(crate) use import_plan::{ImportItem, ImportPlan, ImportState};
