//! TOML text: parsing with positions, and writing on one line.

pub(super) mod document;
pub(super) mod toml;
