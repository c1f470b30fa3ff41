//! The family `web_fetch`: three tools that request a URL, each with the arguments its callers know.
//!
//! All use the guarded client of `toolroom-host`. GET and HEAD read; every other method sends something and is judged as
//! a write (`methods.rs`). Requests that write follow no redirects, so they only reach the URL that was judged.

mod clients;
mod error;
mod exchange;
mod fetch_url;
mod media;
mod methods;
mod web_fetch;
mod web_fetch_raw;

use std::sync::Arc;

use toolroom::tool::{Capability, Effect, IdError, Tool, ToolSpec};

pub use self::clients::Web;
pub(super) use self::error::net_error;
pub(super) use self::exchange::exchange;

/// The switch, and the name in rules, of all three.
const FAMILY: &str = "web_fetch";

pub(super) fn all(web: &Arc<Web>) -> Result<[Arc<dyn Tool>; 3], IdError> {
    Ok([
        fetch_url::tool(Arc::clone(web))?,
        web_fetch_raw::tool(Arc::clone(web))?,
        web_fetch::tool(Arc::clone(web))?,
    ])
}

/// The spec they share as long as they only read.
fn reading(spec: ToolSpec, is_preferred: bool) -> ToolSpec {
    spec.effect(Effect::Read)
        .capabilities(&[Capability::ReadsUntrusted, Capability::Egress])
        .family(FAMILY, is_preferred)
        .category("web", &["web", "http", "url", "download", "page"])
}
