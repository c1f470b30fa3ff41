//! Foreign tools and resources as entries of the catalog: definitions, their lock, classification, results.

pub(crate) mod classification;
mod content;
pub(crate) mod definition;
pub(crate) mod gateway;
pub mod lock;
pub(crate) mod outcome;
mod resources;
pub(crate) mod tool;
