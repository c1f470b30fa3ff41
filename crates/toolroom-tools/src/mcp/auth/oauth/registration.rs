//! Who we are to those who give out tokens.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_host::net::{Http, Request};

use super::discovery::AuthorizationServer;
use super::exchange::answered;
use super::refused;
use crate::mcp::protocol::error::McpError;

/// An answer may not be larger.
const MAX_BYTES: u64 = 64 * 1024;

/// Ways to show who we are that we know, best first.
const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

/// What an operator knows of us there.
#[derive(Clone, Default)]
pub struct Known {
    /// An id, and a secret with it, that were given out by hand.
    pub client: Option<(String, Option<String>)>,
    /// An address where we are described, which can stand for an id.
    pub metadata_url: Option<String>,
}

/// Who we are to one issuer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// Our id.
    pub id: String,
    /// Our secret, if there is one.
    pub secret: Option<String>,
    /// How we show who we are.
    pub method: String,
    /// Where a person has to come back to; anywhere, if the id was given out by hand.
    #[serde(default)]
    pub redirect: Option<String>,
}

impl Registered {
    /// Whether this is who we are to somebody who comes back there.
    pub(super) fn fits(&self, redirect: &str) -> bool {
        self.redirect.as_deref().is_none_or(|own| own == redirect)
    }
}

pub(super) async fn registered(
    http: &dyn Http,
    server: &AuthorizationServer,
    known: &Known,
    redirect: &str,
) -> Result<Registered, McpError> {
    if let Some((id, secret)) = &known.client {
        return Ok(Registered {
            id: id.clone(),
            secret: secret.clone(),
            method: method(server, secret.is_some()),
            redirect: None,
        });
    }
    if let Some(url) = known.metadata_url.as_ref().filter(|_| server.client_id_metadata_document_supported) {
        return Ok(Registered { id: url.clone(), secret: None, method: "none".to_owned(), redirect: None });
    }
    let Some(endpoint) = &server.registration_endpoint else {
        return Err(refused(
            "who gives out its tokens takes nobody by itself; register Toolroom there, and give the id with `toolroom \
             mcp login --client-id`",
        ));
    };
    let supported = &server.token_endpoint_auth_methods_supported;
    let wanted = METHODS.iter().find(|method| supported.iter().any(|supported| supported == *method));
    let body = json!({
        "client_name": "Toolroom",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": "native",
        "token_endpoint_auth_method": wanted.unwrap_or(&"none"),
    });
    let request = Request::post(endpoint.clone(), body.to_string())
        .unfollowed()
        .header("content-type", "application/json")?
        .header("accept", "application/json")?;
    let (status, bytes) = answered(http, request, MAX_BYTES).await?;
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = text("client_id").filter(|_| status.is_success());
    let id = id.ok_or_else(|| refused(format!("we are not taken there (status {})", status.as_u16())))?;
    let secret = text("client_secret");
    let given = text("token_endpoint_auth_method").filter(|method| METHODS.contains(&method.as_str()));
    let method = given.unwrap_or_else(|| method(server, secret.is_some()));
    Ok(Registered { id, secret, method, redirect: Some(redirect.to_owned()) })
}

/// How to show who we are, where nobody has said it.
fn method(server: &AuthorizationServer, has_secret: bool) -> String {
    let supported =
        |method: &str| server.token_endpoint_auth_methods_supported.iter().any(|known| known == method);
    let method = match has_secret {
        false => "none",
        true if supported("client_secret_post") && !supported("client_secret_basic") => "client_secret_post",
        true => "client_secret_basic",
    };
    method.to_owned()
}
