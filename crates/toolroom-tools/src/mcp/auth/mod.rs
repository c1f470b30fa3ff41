//! Credentials for MCP servers over HTTP.

pub mod oauth;

use std::fmt;

use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom_host::net::Response;

use crate::mcp::protocol::error::McpError;

/// A response that demands credentials: status 401, or 403 `insufficient_scope`, with its `WWW-Authenticate` header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Challenge {
    /// 401, or 403 if the token lacks a scope.
    pub status: u16,
    /// URL of the protected resource metadata.
    pub resource_metadata: Option<String>,
    /// The required scopes.
    pub scope: Option<String>,
    /// The OAuth error code.
    pub error: Option<String>,
}

/// Credentials for one server.
pub trait Credentials: Send + Sync {
    /// The access token, if there is one.
    fn token(&self) -> Option<Secret> {
        None
    }

    /// Called when the server rejects `token`. Returns whether the request should be repeated.
    fn handle_challenge<'a>(
        &'a self,
        challenge: &'a Challenge,
        token: Option<&'a Secret>,
    ) -> BoxFuture<'a, Result<bool, McpError>> {
        let _ = (challenge, token);
        Box::pin(async { Ok(false) })
    }
}

impl Challenge {
    /// The challenge of a response that demands credentials.
    pub(crate) fn from_response(response: &Response) -> Option<Self> {
        let status = response.status.as_u16();
        let header = response.header("www-authenticate").unwrap_or_default();
        let challenge = Self::parse(status, header);
        let lacks_scope = challenge.error.as_deref() == Some("insufficient_scope");
        (status == 401 || (status == 403 && lacks_scope)).then_some(challenge)
    }

    pub(crate) fn parse(status: u16, header: &str) -> Self {
        let parameters = parameters(header);
        let get = |wanted: &str| {
            let found = parameters.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.clone())
        };
        Self { status, resource_metadata: get("resource_metadata"), scope: get("scope"), error: get("error") }
    }
}

/// The parameters of a challenge: `Bearer name="value", other=token`.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut rest = header.trim();
    rest = rest.split_once(' ').map_or(rest, |(_, rest)| rest);
    let mut found = Vec::new();
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']).to_ascii_lowercase();
        let (value, next) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"').unwrap_or(quoted.len());
                let (value, next) = quoted.split_at_checked(end).unwrap_or((quoted, ""));
                (value, next.strip_prefix('"').unwrap_or(next))
            }
            None => after.split_once(',').unwrap_or((after, "")),
        };
        found.push((name, value.trim().to_owned()));
        rest = next;
    }
    found
}

impl fmt::Display for Challenge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, &self.scope) {
            (403, Some(scope)) => {
                write!(formatter, "it requires the scope `{scope}`; sign in again with `toolroom mcp login`")
            }
            (403, None) => {
                formatter.write_str("it requires more scopes; sign in again with `toolroom mcp login`")
            }
            _ => formatter.write_str("sign in with `toolroom mcp login`, or set a header with its key"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_parsed_in_every_spelling() {
        let header = "Bearer error=\"insufficient_scope\", scope=\"a b\",resource_metadata=\"https://x.example/.well-known/y?a=b\", n=1";
        let challenge = Challenge::parse(403, header);
        assert_eq!(challenge.error.as_deref(), Some("insufficient_scope"));
        assert_eq!(challenge.scope.as_deref(), Some("a b"));
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://x.example/.well-known/y?a=b"));
        for odd in ["", "Bearer", "Bearer =", "=", "Bearer scope=\"open", ",,,=\"\",=", "Bearer scope"] {
            let challenge = Challenge::parse(401, odd);
            assert_eq!(challenge.resource_metadata, None, "{odd}");
        }
    }
}
