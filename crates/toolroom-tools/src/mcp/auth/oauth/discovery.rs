//! Discovery of a server's protected resource metadata and of its authorization server.

use serde::Deserialize;
use serde_json::Value;
use toolroom_host::net::{EgressRule, Http, Request, Url};

use super::{ServerAddress, fetch_bounded, unauthorized};
use crate::mcp::auth::Challenge;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::shortened;

/// The largest metadata document.
const MAX_BYTES: u64 = 256 * 1024;

/// Protected resource metadata (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProtectedResource {
    /// The audience of tokens.
    pub(super) resource: String,
    /// The authorization server.
    pub(super) issuer: String,
    /// The scopes it supports.
    pub(super) scopes: Vec<String>,
}

/// Authorization server metadata (RFC 8414).
#[derive(Debug, Clone, Deserialize)]
pub(super) struct AuthorizationServer {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    #[serde(default)]
    pub(super) registration_endpoint: Option<String>,
    #[serde(default, rename = "scopes_supported")]
    pub(super) scopes: Vec<String>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: bool,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

impl ProtectedResource {
    /// Fetches the metadata from the URL in the challenge, or else from the well-known locations.
    pub(super) async fn discover(
        http: &dyn Http,
        address: &ServerAddress,
        challenge: &Challenge,
    ) -> Result<Self, McpError> {
        let server = address.url.as_str();
        let url = Url::parse(server).map_err(|_| unauthorized("the server's URL is invalid"))?;
        let origin = url.origin().ascii_serialization();
        let path = url.path().trim_end_matches('/');
        let locations = match &challenge.resource_metadata {
            Some(location) => vec![location.clone()],
            None => vec![
                format!("{origin}/.well-known/oauth-protected-resource{path}"),
                format!("{origin}/.well-known/oauth-protected-resource"),
            ],
        };
        for location in locations {
            let Some(document) = fetch_document(http, address, &location).await? else { continue };
            return Self::parse(&url, &document);
        }
        // Older servers have no metadata and are their own authorization server.
        Ok(Self { resource: server.to_owned(), issuer: origin, scopes: Vec::new() })
    }

    fn parse(server: &Url, document: &Value) -> Result<Self, McpError> {
        let resource = document.get("resource").and_then(Value::as_str).unwrap_or_default();
        if !covers(resource, server) {
            let resource = shortened(resource, 100);
            return Err(unauthorized(format!("its resource metadata is for another server, `{resource}`")));
        }
        let texts = |name: &str| -> Vec<String> {
            let list = document.get(name).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let issuer = texts("authorization_servers").into_iter().next();
        let issuer =
            issuer.ok_or_else(|| unauthorized("its resource metadata names no authorization server"))?;
        Ok(Self { resource: resource.to_owned(), issuer, scopes: texts("scopes_supported") })
    }
}

/// Whether metadata for `resource` applies to this server: same origin, and the same path or a parent.
fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let (above, path) = (resource.path().trim_end_matches('/'), server.path());
    let rest = path.strip_prefix(above);
    resource.origin() == server.origin() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl AuthorizationServer {
    /// Fetches the metadata that an issuer publishes about itself.
    pub(super) async fn discover(
        http: &dyn Http,
        address: &ServerAddress,
        issuer: &str,
    ) -> Result<Self, McpError> {
        let url =
            Url::parse(issuer).map_err(|_| unauthorized("the URL of its authorization server is invalid"))?;
        let origin = url.origin().ascii_serialization();
        let path = url.path().trim_end_matches('/');
        let mut locations = vec![
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
        ];
        if !path.is_empty() {
            locations.push(format!("{origin}{path}/.well-known/openid-configuration"));
        }
        for location in locations {
            let Some(document) = fetch_document(http, address, &location).await? else { continue };
            let metadata: Self = serde_json::from_value(document).map_err(|error| {
                unauthorized(format!(
                    "the metadata of the authorization server `{origin}` is invalid: {error}"
                ))
            })?;
            return metadata.validated(address, issuer);
        }
        Err(unauthorized(format!("the authorization server `{origin}` publishes no metadata")))
    }

    fn validated(self, address: &ServerAddress, issuer: &str) -> Result<Self, McpError> {
        if self.issuer != issuer {
            return Err(unauthorized("the metadata of its authorization server names another issuer"));
        }
        let endpoints = [&self.authorization_endpoint, &self.token_endpoint];
        for endpoint in endpoints.into_iter().chain(&self.registration_endpoint) {
            address.check(endpoint)?;
        }
        // A server that does not announce PKCE ignores it, and a stolen code could then be exchanged for a token.
        if !self.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(unauthorized("its authorization server does not support PKCE, which is required"));
        }
        Ok(self)
    }
}

impl ServerAddress {
    /// Whether credentials may be sent to `endpoint`: over HTTPS, or over HTTP within this machine or an internal network that
    /// the user has opened.
    fn check(&self, endpoint: &str) -> Result<(), McpError> {
        let url = Url::parse(endpoint)
            .map_err(|_| unauthorized("an endpoint of the authorization server is no valid URL"))?;
        let is_inside =
            || EgressRule::for_internal_host(&url).is_some() || (self.is_internal && self.has_host_of(&url));
        match url.scheme() {
            "https" => Ok(()),
            "http" if is_inside() => Ok(()),
            _ => Err(unauthorized("the authorization server would be contacted without encryption")),
        }
    }

    fn has_host_of(&self, url: &Url) -> bool {
        Url::parse(&self.url).is_ok_and(|own| own.host() == url.host())
    }
}

/// Fetches a metadata document. `None` if there is none.
async fn fetch_document(
    http: &dyn Http,
    address: &ServerAddress,
    location: &str,
) -> Result<Option<Value>, McpError> {
    // An attacker who could change the document would receive the credentials.
    address.check(location)?;
    let request = Request::get(location).header("accept", "application/json")?;
    let (status, bytes) = fetch_bounded(http, request, MAX_BYTES).await?;
    if !status.is_success() {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&bytes).ok().filter(Value::is_object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_covers_this_server_or_none() {
        let server = Url::parse("https://x.example/mcp/one").unwrap();
        for good in
            ["https://x.example/mcp/one", "https://x.example/mcp", "https://x.example", "https://x.example/"]
        {
            assert!(covers(good, &server), "{good}");
        }
        for bad in [
            "https://y.example/mcp/one",
            "http://x.example/mcp/one",
            "https://x.example/mc",
            "https://x.example/mcp/one/two",
            "x",
            "",
        ] {
            assert!(!covers(bad, &server), "{bad}");
        }
    }

    #[test]
    fn credentials_are_sent_over_private_connections_only() {
        let address = ServerAddress { url: "http://box.example/mcp".to_owned(), is_internal: false };
        for good in [
            "https://x.example/token",
            "http://localhost:3000/token",
            "http://127.0.0.1/token",
            "http://nas.lan:8/token",
        ] {
            address.check(good).unwrap();
        }
        let opened = ServerAddress { is_internal: true, ..address.clone() };
        assert!(opened.check("http://box.example:81/").is_ok() && opened.check("http://x.example/").is_err());
        for bad in [
            "http://x.example/token",
            "http://box.example/token",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ftp://x",
            "$(id)",
            "",
        ] {
            assert!(address.check(bad).is_err(), "{bad}");
        }
    }
}
