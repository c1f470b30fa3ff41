//! What people have set, as one document that can be taken elsewhere: projects, switches, standing answers, agents and
//! servers. Secrets are in it by their names alone; keys, memories, conversations and the journal are not.

mod check;
mod document;
#[cfg(test)]
mod fuzz;
mod gather;
mod plan;
mod server_check;

pub(crate) use document::{MAX_BYTES, ProjectSettings, SettingsDocument};
pub(crate) use gather::gather;
pub(crate) use plan::{Fate, ImportPlan, Line};
