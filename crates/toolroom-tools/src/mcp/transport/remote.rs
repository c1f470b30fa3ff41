//! Where a server over HTTP is found, and what we show it.

use std::sync::Arc;

use toolroom::redact::Secret;
use toolroom_host::net::{Http, Request};

use crate::mcp::auth::{Challenge, Door};
use crate::mcp::protocol::error::McpError;

/// The header that says who asks.
const AUTHORIZATION: &str = "authorization";

/// Where a server over HTTP is found, and what goes with every request.
pub struct Remote {
    /// The client; its reach says which destinations are open.
    pub http: Arc<dyn Http>,
    /// The address.
    pub url: String,
    /// Headers an operator has set.
    pub headers: Vec<(String, Secret)>,
    /// Credentials.
    pub door: Arc<dyn Door>,
}

impl Remote {
    /// The token to show now. Who asks is said once: what the operator has set counts.
    pub(crate) fn token(&self) -> Option<Secret> {
        self.door.token().filter(|_| !self.is_said())
    }

    /// The request with what the operator has set and this token.
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

    /// The server lets nobody in who shows this token: says whether it makes sense to ask again. Where the operator has
    /// said who asks, no token helps.
    pub(crate) async fn challenged(
        &self,
        challenge: &Challenge,
        shown: Option<&Secret>,
    ) -> Result<bool, McpError> {
        Ok(!self.is_said() && self.door.challenged(challenge, shown).await?)
    }

    fn is_said(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION))
    }
}
