//! The family `web_fetch`: three tools that ask a URL for something, each in the form its callers know.
//!
//! All of them go through the guarded client of `toolroom-host`. What is asked for with GET or HEAD is read; every other
//! method sends something and is judged as a write (`sending.rs`). What is sent goes to the URL that was judged and
//! nowhere else: redirects are followed only by readers.

mod clients;
mod error;
mod exchange;
mod fetch_url;
mod media;
mod page;
mod raw;
mod sending;

use std::sync::Arc;

use toolroom::tool::{Capability, Effect, IdError, Tool, ToolSpec};

pub use self::clients::Web;
pub(super) use self::error::told;
pub(super) use self::exchange::ask;

/// One switch and one name in rules for all of them.
const FAMILY: &str = "web_fetch";

pub(super) fn all(web: &Arc<Web>) -> Result<[Arc<dyn Tool>; 3], IdError> {
    Ok([fetch_url::tool(Arc::clone(web))?, raw::tool(Arc::clone(web))?, page::tool(Arc::clone(web))?])
}

/// What all of them are as long as they only read.
fn reading(spec: ToolSpec, is_preferred: bool) -> ToolSpec {
    spec.effect(Effect::Read)
        .capabilities(&[Capability::ReadsUntrusted, Capability::Egress])
        .family(FAMILY, is_preferred)
        .category("web", &["web", "http", "url", "download", "page"])
}
