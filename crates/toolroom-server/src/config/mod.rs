//! The configuration: texts in, a checked [`Config`] with the origin of every value out.
//!
//! [`Sources`] finds and reads the files through `toolroom-host`. Everything else is a pure function of the [`Layer`]s
//! passed to [`load`], or to [`CompiledConfig::of`] for the types of the kernel. Layers, weakest first: defaults, user
//! file, project file, environment variables, flags. The strongest layer decides single values; rules and limits of all
//! layers apply together, in that order.
//!
//! A project file comes with the project, so it may only restrict until it is trusted: the result is never more lenient
//! than without the file. Settings beyond that are listed as [`IgnoredSetting`].
//!
//! To add a key, add a field with a doc comment to `keys/`.

mod check;
mod compile;
mod effective;
mod keys;
mod narrowing;
mod reference;
mod sources;
mod starter;
#[cfg(test)]
mod tests;
mod text;
mod values;

pub use check::lint::lint;
pub use check::problem::{ConfigError, Problem};
pub use compile::{CompiledConfig, Openings};
pub use effective::Setting;
pub use keys::{
    AddressRange, AgentKeys, AgentLimitKeys, CalendarKeys, Config, ConfigAgent, ConfigLimits, ConfigRule,
    ConfigVendor, EngineKeys, FileKeys, ListenAddress, LocationKeys, LogFormat, LogKeys, LogLevel,
    ModelChain, NetworkKeys, PolicyKeys, RedactionKeys, RetentionKeys, SearchKeys, ServedName, ServerKeys,
    TelemetryKeys, ToolKeys, VendorKeys, VendorWire,
};
pub use narrowing::{IgnoredSetting, what_trust_would_allow};
pub use reference::{KeyDoc, reference};
pub(crate) use sources::layers::skipped_file_problem;
pub use sources::layers::{Layer, is_key};
pub use sources::load::{LoadedConfig, load};
pub use sources::origin::Origin;
pub use sources::{ConfigFiles, FILE_NAME, ProjectFile, Sources, Trust, file_layer, personal_layers};
pub use starter::{project_starter, starter};
pub use text::document::MAX_FILE_BYTES;
pub(crate) use text::toml::value_text;
pub use values::{
    AllowedCommand, Destination, Folder, Rates, SandboxProfile, SecretRef, ServiceUrl, Span, parse_span,
};
