//! What a client without a key is told about how to get in (RFC 9728).

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;

use super::PATH;
use crate::http::access::Access;
use crate::http::extract::Json;
use crate::http::route::Route;

/// Where it is written.
const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

pub(super) fn routes() -> Vec<Route> {
    let route = |path| {
        Route::get(path, Access::Public, "Says how the tools are protected (RFC 9728).", show)
            .reply::<Metadata>(200, "How.")
    };
    vec![route("/.well-known/oauth-protected-resource"), route(METADATA)]
}

/// How something is protected.
#[derive(Debug, Serialize, JsonSchema)]
struct Metadata {
    /// What is protected.
    resource: String,
    /// What people call it.
    resource_name: &'static str,
    /// How a key is shown. The owner makes keys; nobody hands them out.
    bearer_methods_supported: [&'static str; 1],
    /// What a key has to be allowed.
    scopes_supported: [&'static str; 3],
    /// Where more is written.
    resource_documentation: String,
}

async fn show(headers: HeaderMap) -> Json<Metadata> {
    let base = base_of(&headers);
    Json(Metadata {
        resource: format!("{base}{PATH}"),
        resource_name: "Toolroom",
        bearer_methods_supported: ["header"],
        scopes_supported: ["call", "read", "answer"],
        resource_documentation: format!("{base}/docs"),
    })
}

/// How a client reached us. The gate has looked at the name; what a proxy says counts for this one reply alone.
fn base_of(headers: &HeaderMap) -> String {
    let is_safe = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let scheme = if is_safe { "https" } else { "http" };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    format!("{scheme}://{}", host.unwrap_or_default())
}

/// What somebody who is not let in to the tools is told beside that.
pub(in crate::http) fn challenge(path: &str, headers: &HeaderMap, response: &mut Response) {
    if path != PATH || response.status() != StatusCode::UNAUTHORIZED {
        return;
    }
    let base = base_of(headers);
    let text =
        format!("Bearer realm=\"toolroom\", resource_metadata=\"{base}{METADATA}\", scope=\"call read\"");
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
}
