//! OAuth protected resource metadata (RFC 9728), for clients without a key.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;

use super::PATH;
use crate::http::access::Access;
use crate::http::extract::Json;
use crate::http::route::Route;

/// Path of the metadata of `/mcp`.
const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

pub(super) fn routes() -> Vec<Route> {
    let route = |path| {
        Route::get(path, Access::Public, "Protected resource metadata of the MCP endpoint (RFC 9728).", show)
            .reply::<Metadata>(200, "The metadata.")
    };
    vec![route("/.well-known/oauth-protected-resource"), route(METADATA)]
}

/// Protected resource metadata.
#[derive(Debug, Serialize, JsonSchema)]
struct Metadata {
    /// The protected resource.
    resource: String,
    /// Its display name.
    resource_name: &'static str,
    /// How to send the API key. The owner creates keys; there is no authorization server.
    bearer_methods_supported: [&'static str; 1],
    /// The scopes of keys.
    scopes_supported: [&'static str; 3],
    /// Documentation for developers.
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

/// The URL under which the client reached the server. `Host` was checked; `X-Forwarded-Proto` affects this response only.
fn base_of(headers: &HeaderMap) -> String {
    let is_safe = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    let scheme = if is_safe { "https" } else { "http" };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    format!("{scheme}://{}", host.unwrap_or_default())
}

/// Adds `WWW-Authenticate` to a 401 of the MCP endpoint.
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
