//! Where a server over HTTP is found, and what we show it.

use std::sync::Arc;

use toolroom::redact::Secret;
use toolroom_host::net::{Http, Request};

use super::door::Door;
use super::error::McpError;

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
    /// The request with what the operator has set and what was granted. Who asks is said once: what the operator has set
    /// counts.
    pub(super) fn with_credentials(&self, mut request: Request) -> Result<Request, McpError> {
        for (name, value) in &self.headers {
            request = request.secret_header(name, value.expose())?;
        }
        let is_said = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION));
        match self.door.token().filter(|_| !is_said) {
            Some(token) => Ok(request.secret_header(AUTHORIZATION, &format!("Bearer {}", token.expose()))?),
            None => Ok(request),
        }
    }
}
