//! Vendors and their models, as data.
//!
//! A vendor is one block of `presets.toml`; facts about its models are in `models.toml`. [`crate::directory`] combines a
//! preset with the operator's settings.

mod base_url;
mod facts;
mod name;
mod preset;

pub use base_url::{BaseUrl, BaseUrlError};
pub use facts::{Known, KnownModel, known_models};
pub use name::{ModelName, ModelNameError};
pub use preset::{Auth, VendorPreset, WireKind, preset, presets};
