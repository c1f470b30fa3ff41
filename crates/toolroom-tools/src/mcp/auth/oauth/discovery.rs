//! Who gives out the tokens of a server, and where.

use serde::Deserialize;
use serde_json::Value;
use toolroom_host::net::{EgressRule, Http, Request, Url};

use super::exchange::answered;
use super::{Site, refused};
use crate::mcp::auth::Challenge;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::shortened;

/// A description may not be larger.
const MAX_BYTES: u64 = 256 * 1024;

/// A server, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProtectedResource {
    /// What tokens are for.
    pub(super) resource: String,
    /// Who gives them out.
    pub(super) issuer: String,
    /// The rights it knows.
    pub(super) scopes: Vec<String>,
}

/// Who gives out tokens.
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
    /// Where the server said it is described, or where descriptions are kept.
    pub(super) async fn find(http: &dyn Http, site: &Site, challenge: &Challenge) -> Result<Self, McpError> {
        let server = site.url.as_str();
        let url = Url::parse(server).map_err(|_| refused("its address is none"))?;
        let origin = url.origin().ascii_serialization();
        let path = url.path().trim_end_matches('/');
        let places = match &challenge.resource_metadata {
            Some(place) => vec![place.clone()],
            None => vec![
                format!("{origin}/.well-known/oauth-protected-resource{path}"),
                format!("{origin}/.well-known/oauth-protected-resource"),
            ],
        };
        for place in places {
            let Some(document) = document(http, site, &place).await? else { continue };
            return Self::read(&url, &document);
        }
        // Before there were descriptions, a server gave out its tokens itself.
        Ok(Self { resource: server.to_owned(), issuer: origin, scopes: Vec::new() })
    }

    fn read(server: &Url, document: &Value) -> Result<Self, McpError> {
        let resource = document.get("resource").and_then(Value::as_str).unwrap_or_default();
        if !covers(resource, server) {
            let resource = shortened(resource, 100);
            return Err(refused(format!("it is described as `{resource}`, which is another server")));
        }
        let texts = |name: &str| -> Vec<String> {
            let list = document.get(name).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let issuer = texts("authorization_servers").into_iter().next();
        let issuer = issuer.ok_or_else(|| refused("it does not say who gives out its tokens"))?;
        Ok(Self { resource: resource.to_owned(), issuer, scopes: texts("scopes_supported") })
    }
}

/// Whether a description is one of this server: of its origin, and of its path or one above.
fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let (above, path) = (resource.path().trim_end_matches('/'), server.path());
    let rest = path.strip_prefix(above);
    resource.origin() == server.origin() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl AuthorizationServer {
    /// What an issuer says about itself. What others say about it does not count.
    pub(super) async fn find(http: &dyn Http, site: &Site, issuer: &str) -> Result<Self, McpError> {
        let url = Url::parse(issuer).map_err(|_| refused("who gives out its tokens has no address"))?;
        let origin = url.origin().ascii_serialization();
        let path = url.path().trim_end_matches('/');
        let mut places = vec![
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
        ];
        if !path.is_empty() {
            places.push(format!("{origin}{path}/.well-known/openid-configuration"));
        }
        for place in places {
            let Some(found) = document(http, site, &place).await? else { continue };
            let found: Self = serde_json::from_value(found).map_err(|error| {
                refused(format!("`{origin}` does not say where tokens are given out: {error}"))
            })?;
            return found.checked(site, issuer);
        }
        Err(refused(format!("`{origin}` does not say where tokens are given out")))
    }

    fn checked(self, site: &Site, issuer: &str) -> Result<Self, McpError> {
        if self.issuer != issuer {
            return Err(refused("what is said about who gives out its tokens is said by somebody else"));
        }
        let endpoints = [&self.authorization_endpoint, &self.token_endpoint];
        for endpoint in endpoints.into_iter().chain(&self.registration_endpoint) {
            site.check(endpoint)?;
        }
        // Whoever does not say that they know it does not look at it, and a code that is stolen is worth a token there.
        if !self.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(refused("tokens are given out there without PKCE, which is not safe"));
        }
        Ok(self)
    }
}

impl Site {
    /// Whether credentials may be sent there: nobody listens on the way. Without encryption that is so within a machine or
    /// a network alone, and the client gets there only where a person has opened it.
    fn check(&self, endpoint: &str) -> Result<(), McpError> {
        let url =
            Url::parse(endpoint).map_err(|_| refused("an address of those who give out tokens is none"))?;
        let is_inside =
            || EgressRule::for_internal_host(&url).is_some() || (self.is_internal && self.has_host_of(&url));
        match url.scheme() {
            "https" => Ok(()),
            "http" if is_inside() => Ok(()),
            _ => Err(refused("tokens are given out over a way that others can listen to")),
        }
    }

    fn has_host_of(&self, url: &Url) -> bool {
        Url::parse(&self.url).is_ok_and(|own| own.host() == url.host())
    }
}

/// A description, if there is one.
async fn document(http: &dyn Http, site: &Site, place: &str) -> Result<Option<Value>, McpError> {
    // Whoever could write it on the way would be given everything.
    site.check(place)?;
    let request = Request::get(place).header("accept", "application/json")?;
    let (status, bytes) = answered(http, request, MAX_BYTES).await?;
    if !status.is_success() {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&bytes).ok().filter(Value::is_object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_of_this_server_or_of_none() {
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
    fn credentials_go_nowhere_where_others_listen() {
        let site = Site { url: "http://box.example/mcp".to_owned(), is_internal: false };
        for good in [
            "https://x.example/token",
            "http://localhost:3000/token",
            "http://127.0.0.1/token",
            "http://nas.lan:8/token",
        ] {
            site.check(good).unwrap();
        }
        let opened = Site { is_internal: true, ..site.clone() };
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
            assert!(site.check(bad).is_err(), "{bad}");
        }
    }
}
