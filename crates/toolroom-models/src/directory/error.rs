//! Why a model cannot be opened.

use thiserror::Error;

use crate::offline;
use crate::vendor::BaseUrlError;

/// Why a model cannot be opened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OpenError {
    /// Nobody knows this vendor.
    #[error(
        "no vendor is called `{name}`{near}; known are {known}, and any other with `[vendor.{name}] base_url = \"…\"`"
    )]
    NoVendor {
        /// The name.
        name: String,
        /// One that is written alike.
        near: String,
        /// Those there are.
        known: String,
    },
    /// It follows a preset that does not exist.
    #[error("the vendor `{name}` is to be like `{like}`, which is no vendor that is known")]
    NoPreset {
        /// The vendor.
        name: String,
        /// What it is to be like.
        like: String,
    },
    /// It has no address.
    #[error("nobody knows where {title} is: set {variables}`base_url` in `[vendor.{name}]`")]
    NoAddress {
        /// The vendor.
        name: String,
        /// For people.
        title: String,
        /// The variable that would do, with what follows it.
        variables: String,
    },
    /// Its address cannot be used.
    #[error("the address of {title} from {from} cannot be used")]
    Address {
        /// For people.
        title: String,
        /// Where it was found.
        from: String,
        /// Why.
        source: BaseUrlError,
    },
    /// Others would learn its key.
    #[error(
        "others can listen to what goes over `http://`, the key of {title} among it; write `https://` in {from}"
    )]
    Overheard {
        /// For people.
        title: String,
        /// Where the address was found.
        from: String,
    },
    /// It needs no key, and its address is known: a port of this machine that nobody has asked to open.
    #[error(
        "{title} is not set up: set {variable}, or write `[vendor.{name}]` into the configuration, and `{base}` is asked"
    )]
    NotSetUp {
        /// The vendor.
        name: String,
        /// For people.
        title: String,
        /// Where it would be asked.
        base: String,
        /// The variable that would do.
        variable: String,
    },
    /// It has no key.
    #[error(
        "{title} needs a key: set {variable}, or keep it with `toolroom secrets set {name}` and write `key = \"secret:{name}\"` into `[vendor.{name}]`"
    )]
    NoKey {
        /// The vendor.
        name: String,
        /// For people.
        title: String,
        /// The variable that would do.
        variable: String,
    },
    /// Its key is not where it was to be.
    #[error("the key of {title} is missing: {why}")]
    KeyMissing {
        /// For people.
        title: String,
        /// What to do.
        why: String,
    },
    /// There is one offline model only.
    #[error("there is no model `{name}`; the offline one is `{}`", offline::NAME)]
    NoOffline {
        /// The name.
        name: String,
    },
}
