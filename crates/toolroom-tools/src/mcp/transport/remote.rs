//! The address of a server over HTTP: URL, credentials, egress policy.

use std::sync::Arc;
use std::time::Duration;

use toolroom::foreign::AddressEntry;
use toolroom::redact::Secret;
use toolroom_host::net::{EgressPolicy, EgressRule, Http, HttpLimits, Request, Url};

use crate::mcp::auth::{Challenge, Credentials};
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::MAX_MESSAGE_BYTES;

const AUTHORIZATION: &str = "authorization";

/// Limits of responses. Calls have their own timeouts.
const MAX_STREAM_BYTES: u64 = 8 * MAX_MESSAGE_BYTES as u64;
const READ_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Redirects that are followed. Each is checked against the policy.
const MAX_REDIRECTS: u32 = 3;

/// A server over HTTP, and what is sent with every request.
pub struct Remote {
    /// The HTTP client with the server's egress policy.
    pub http: Arc<dyn Http>,
    /// The URL.
    pub url: String,
    /// The configured headers.
    pub headers: Vec<(String, Secret)>,
    /// OAuth credentials.
    pub credentials: Arc<dyn Credentials>,
}

impl Remote {
    /// The current access token. A configured `authorization` header takes its place.
    pub(crate) fn token(&self) -> Option<Secret> {
        self.credentials.token().filter(|_| !self.has_authorization_header())
    }

    /// Adds the configured headers and the token.
    pub(crate) fn with_credentials(
        &self,
        mut request: Request,
        token: Option<&Secret>,
    ) -> Result<Request, McpError> {
        for (name, value) in &self.headers {
            request = request.secret_header(name, value.expose())?;
        }
        match token {
            Some(token) => Ok(request.secret_header(AUTHORIZATION, &format!("Bearer {}", token.expose()))?),
            None => Ok(request),
        }
    }

    /// Handles a challenge for `token`. Returns whether the request should be repeated; never with a configured
    /// `authorization` header.
    pub(crate) async fn handle_challenge(
        &self,
        challenge: &Challenge,
        token: Option<&Secret>,
    ) -> Result<bool, McpError> {
        Ok(!self.has_authorization_header() && self.credentials.handle_challenge(challenge, token).await?)
    }

    fn has_authorization_header(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION))
    }
}

/// The egress policy for a server: the public internet, the configured openings, and the server's own address if the user
/// made it internal. A public host name opens nothing, because its owner could point it anywhere. Redirects stay within
/// the origin.
#[must_use]
pub fn egress_policy(address: &AddressEntry, opened: &[EgressRule]) -> EgressPolicy {
    let limits = HttpLimits {
        wire_bytes: MAX_STREAM_BYTES,
        decoded_bytes: MAX_STREAM_BYTES,
        idle: READ_TIMEOUT,
        total: None,
        ..HttpLimits::default()
    };
    let openings = opened.iter().cloned().chain(internal_opening(address));
    EgressPolicy::public().open(openings).max_redirects(MAX_REDIRECTS).within_origin().limits(limits)
}

/// The opening for an internal address: internal by its host name, or marked so by the user.
fn internal_opening(address: &AddressEntry) -> Option<EgressRule> {
    let url = Url::parse(&address.url).ok()?;
    if !address.is_internal {
        return EgressRule::for_internal_host(&url);
    }
    let host = url.host_str()?.trim_matches(['[', ']']);
    EgressRule::for_port(host, url.port_or_known_default()?).ok()
}

/// Whether the connection crosses a public network without encryption. No secrets are sent then.
#[must_use]
pub fn is_unencrypted(address: &AddressEntry) -> bool {
    Url::parse(&address.url).is_ok_and(|url| EgressRule::is_overheard(&url))
        && internal_opening(address).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_http_is_unencrypted_and_internal_http_is_accepted() {
        let at = |url: &str, is_internal| {
            is_unencrypted(&AddressEntry { url: url.to_owned(), headers: Default::default(), is_internal })
        };
        for url in ["http://a.example/mcp", "HTTP://a.example/mcp", "http://8.8.8.8"] {
            assert!(at(url, false), "{url}");
            assert!(!at(url, true), "marked as internal: {url}");
        }
        for url in ["https://a.example", "http://127.0.0.1:1", "http://box/mcp"] {
            assert!(!at(url, false), "{url}");
        }
    }
}
