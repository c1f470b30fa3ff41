//! The configuration: texts in, a checked [`Config`] with the origin of every value out.
//!
//! [`Sources`] finds and reads the files through `toolroom-host`; everything else is a pure function of the
//! [`Layer`]s that are passed to [`load`], or to [`Compiled::of`] for what the kernel takes. Layers, weakest first:
//! defaults, the user's file, the project's file, environment variables, flags. Of a single value the strongest layer
//! counts; rules and limits of all layers hold together, in that order.
//!
//! A project's file came with the project, so it may only make things stricter until its owner trusts it: whatever it
//! holds, the result is never more lenient than without it. What it wanted beyond that is listed as [`Ignored`].
//!
//! To add a key, add a field with a doc comment to `keys.rs`.

mod agents;
mod allowed_command;
mod calendar;
mod check;
mod compile;
mod document;
mod effective;
mod key_place;
mod keys;
mod layer;
mod lint;
mod load;
mod location;
mod log;
mod narrow;
mod origin;
mod overheard;
mod place;
mod problem;
mod rate;
mod reference;
mod retention;
mod sandbox_profile;
mod search;
mod server;
mod service_url;
mod shape;
mod sources;
mod span;
mod starter;
mod telemetry;
#[cfg(test)]
mod tests;
mod toml_text;
mod vendors;

pub use agents::{AgentKeys, AgentLimitKeys, ConfigAgent};
pub use allowed_command::AllowedCommand;
pub use calendar::CalendarKeys;
pub use compile::{Compiled, Openings};
pub use document::MAX_FILE_BYTES;
pub use effective::Setting;
pub use key_place::KeyPlace;
pub use keys::{
    Config, ConfigLimits, ConfigRule, FileKeys, NetworkKeys, PolicyKeys, RedactionKeys, ToolKeys,
};
pub(crate) use layer::told;
pub use layer::{Layer, is_key};
pub use lint::lint;
pub use load::{Loaded, load};
pub use location::LocationKeys;
pub use log::{LogFormat, LogKeys, LogLevel};
pub use narrow::{Ignored, what_trust_would_allow};
pub use origin::Origin;
pub use place::{Destination, Folder};
pub use problem::{ConfigError, Problem};
pub use rate::Rates;
pub use reference::{KeyDoc, reference};
pub use retention::RetentionKeys;
pub use sandbox_profile::SandboxProfile;
pub use search::{EngineKeys, SearchKeys};
pub use server::{AddressRange, ListenAddress, ServedName, ServerKeys};
pub use service_url::ServiceUrl;
pub use sources::{FILE_NAME, Files, ProjectFile, Sources, Trust, file_layer, personal_layers};
pub use span::{Span, parse_span};
pub use starter::{project_starter, starter};
pub use telemetry::TelemetryKeys;
pub(crate) use toml_text::value_text;
pub use vendors::{ConfigVendor, ModelChain, VendorKeys, VendorWire};
