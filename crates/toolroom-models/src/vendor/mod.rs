//! Vendors and their models, as data.
//!
//! A vendor is one block of `presets.toml`; what is known about its models stands in `models.toml`. Both are read once.
//! Nothing is sent from here: [`crate::directory`] joins a preset with what an operator has set.

mod base_url;
mod facts;
mod name;
mod preset;

pub use base_url::{BaseUrl, BaseUrlError};
pub use facts::{Known, KnownModel, known_models};
pub use name::{ModelName, ModelNameError};
pub use preset::{Auth, Preset, WireKind, preset, presets};
