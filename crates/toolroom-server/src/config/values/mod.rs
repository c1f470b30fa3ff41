//! Types of configuration values. Each parses from a string and describes itself in the JSON Schema.

mod commands;
mod locations;
mod rate;
mod secret_ref;
mod service_url;
mod span;

use serde::{Deserialize, Serialize};

pub use commands::{AllowedCommand, SandboxProfile};
pub use locations::{Destination, Folder};
pub(super) use rate::Rate;
pub use rate::Rates;
pub use secret_ref::SecretRef;
pub use service_url::ServiceUrl;
pub(super) use service_url::{insecure_services, insecure_vendor};
pub use span::{Span, parse_span};

/// A string or a list of strings.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}
