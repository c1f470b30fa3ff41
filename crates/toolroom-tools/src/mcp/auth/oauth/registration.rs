//! Registration of this client at an authorization server.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_host::net::{Http, Request};

use super::discovery::AuthorizationServer;
use super::{fetch_bounded, unauthorized};
use crate::mcp::protocol::error::McpError;

/// The largest registration response.
const MAX_BYTES: u64 = 64 * 1024;

/// Supported client authentication methods, best first.
const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

/// What the operator configured about this client.
#[derive(Clone, Default)]
pub struct OAuthClientConfig {
    /// A client id that was registered by hand, and its secret.
    pub client: Option<(String, Option<String>)>,
    /// URL of a client id metadata document, which replaces registration where it is supported.
    pub metadata_url: Option<String>,
}

/// Our registration at one issuer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRegistration {
    /// The client id.
    pub id: String,
    /// The client secret, if there is one.
    pub secret: Option<String>,
    /// The client authentication method.
    pub method: String,
    /// The registered redirect URI. `None` allows any: the client was registered by hand.
    #[serde(default)]
    pub redirect: Option<String>,
}

impl ClientRegistration {
    pub(super) fn allows_redirect(&self, redirect: &str) -> bool {
        self.redirect.as_deref().is_none_or(|own| own == redirect)
    }
}

pub(super) async fn register(
    http: &dyn Http,
    server: &AuthorizationServer,
    config: &OAuthClientConfig,
    redirect: &str,
) -> Result<ClientRegistration, McpError> {
    if let Some((id, secret)) = &config.client {
        return Ok(ClientRegistration {
            id: id.clone(),
            secret: secret.clone(),
            method: auth_method(server, secret.is_some()),
            redirect: None,
        });
    }
    if let Some(url) = config.metadata_url.as_ref().filter(|_| server.client_id_metadata_document_supported) {
        return Ok(ClientRegistration {
            id: url.clone(),
            secret: None,
            method: "none".to_owned(),
            redirect: None,
        });
    }
    let Some(endpoint) = &server.registration_endpoint else {
        return Err(unauthorized(
            "its authorization server does not support automatic registration; register Toolroom there, and pass the \
             client id with `toolroom mcp login --client-id`",
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
    let (status, bytes) = fetch_bounded(http, request, MAX_BYTES).await?;
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = text("client_id").filter(|_| status.is_success());
    let id =
        id.ok_or_else(|| unauthorized(format!("client registration failed (status {})", status.as_u16())))?;
    let secret = text("client_secret");
    let given = text("token_endpoint_auth_method").filter(|method| METHODS.contains(&method.as_str()));
    let method = given.unwrap_or_else(|| auth_method(server, secret.is_some()));
    Ok(ClientRegistration { id, secret, method, redirect: Some(redirect.to_owned()) })
}

/// The authentication method where the server has not chosen one.
fn auth_method(server: &AuthorizationServer, has_secret: bool) -> String {
    let supported =
        |method: &str| server.token_endpoint_auth_methods_supported.iter().any(|known| known == method);
    let method = match has_secret {
        false => "none",
        true if supported("client_secret_post") && !supported("client_secret_basic") => "client_secret_post",
        true => "client_secret_basic",
    };
    method.to_owned()
}
