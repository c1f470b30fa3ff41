//! Why a model cannot be opened.

use thiserror::Error;

use crate::offline;
use crate::vendor::BaseUrlError;

/// Why a model cannot be opened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The vendor is unknown.
    #[error(
        "unknown vendor `{name}`{near}; known vendors: {known}; add another with `[vendor.{name}] base_url = \"…\"`"
    )]
    NoVendor {
        /// The name.
        name: String,
        /// A suggestion.
        near: String,
        /// The known vendors.
        known: String,
    },
    /// It follows an unknown preset.
    #[error("the vendor `{name}` has `like = \"{like}\"`, which is not a known vendor")]
    NoPreset {
        /// The vendor.
        name: String,
        /// The preset.
        like: String,
    },
    /// It has no address.
    #[error("{title} has no address: set {variables}`base_url` in `[vendor.{name}]`")]
    NoAddress {
        /// The vendor.
        name: String,
        /// The display name.
        title: String,
        /// The variable to set, with a separator.
        variables: String,
    },
    /// Its address cannot be used.
    #[error("the address of {title} from {from} cannot be used")]
    Address {
        /// The display name.
        title: String,
        /// Its source.
        from: String,
        /// The reason.
        source: BaseUrlError,
    },
    /// Its key would be sent unencrypted.
    #[error("the key of {title} would be sent unencrypted over `http://`; write `https://` in {from}")]
    Unencrypted {
        /// The display name.
        title: String,
        /// The source of the address.
        from: String,
    },
    /// A local vendor that the operator has not configured.
    #[error(
        "{title} is not set up: set {variable}, or add `[vendor.{name}]` to the configuration to use `{base}`"
    )]
    NotSetUp {
        /// The vendor.
        name: String,
        /// The display name.
        title: String,
        /// The default address.
        base: String,
        /// The variable to set.
        variable: String,
    },
    /// It has no key.
    #[error(
        "{title} needs a key: set {variable}, or store it with `toolroom secrets set {name}` and write `key = \"secret:{name}\"` into `[vendor.{name}]`"
    )]
    NoKey {
        /// The vendor.
        name: String,
        /// The display name.
        title: String,
        /// The variable to set.
        variable: String,
    },
    /// Its key is not at the configured source.
    #[error("the key of {title} is missing: {why}")]
    KeyMissing {
        /// The display name.
        title: String,
        /// What to do.
        why: String,
    },
    /// There is only one offline model.
    #[error("unknown model `{name}`; the offline model is `{}`", offline::NAME)]
    NoOffline {
        /// The name.
        name: String,
    },
}
