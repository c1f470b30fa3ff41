//! Authorization requests and tokens.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolroom_host::net::{self, Http, Url};

use super::discovery::AuthorizationServer;

use super::registration::ClientRegistration;
use super::{fetch_bounded, unauthorized};
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::shortened;

/// The largest token response.
const MAX_BYTES: u64 = 256 * 1024;

/// Entropy of `state` and of the PKCE verifier.
const RANDOM_BYTES: usize = 32;

/// Tokens that one issuer granted for one server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The server's URL, as configured. The token is sent to no other server.
    pub server: String,
    /// The authorization server.
    pub issuer: String,
    /// Endpoint for refreshing.
    pub token_endpoint: String,
    /// Our registration at the issuer.
    pub client: ClientRegistration,
    /// Sent to the server.
    pub access_token: String,
    /// Exchanged for a new access token.
    pub refresh_token: Option<String>,
    /// The granted scopes.
    pub scope: Option<String>,
}

/// An authorization request that waits for the user.
pub(super) struct AuthorizationRequest {
    /// The page where the user consents.
    pub(super) url: String,
    redirect: String,
    resource: String,
    scope: Option<String>,
    state: String,
    verifier: String,
}

impl Grant {
    /// All secret parts, for redaction.
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        [Some(&self.access_token), self.refresh_token.as_ref(), self.client.secret.as_ref()]
            .into_iter()
            .flatten()
    }
}

impl AuthorizationRequest {
    pub(super) fn new(
        server: &AuthorizationServer,
        client: &ClientRegistration,
        resource: &str,
        redirect: &str,
        scope: Option<&str>,
    ) -> Result<Self, McpError> {
        let (state, verifier) = (random_token()?, random_token()?);
        let mut url = Url::parse(&server.authorization_endpoint)
            .map_err(|_| unauthorized("the authorization endpoint is no valid URL"))?;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", redirect)
            .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)))
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", &state)
            .append_pair("resource", resource)
            .extend_pairs(scope.map(|scope| ("scope", scope)));
        Ok(Self {
            url: url.into(),
            redirect: redirect.to_owned(),
            resource: resource.to_owned(),
            scope: scope.map(str::to_owned),
            state,
            verifier,
        })
    }

    /// The code in the redirect, after `state` and `iss` were checked (RFC 9207).
    pub(super) fn code(&self, server: &AuthorizationServer, redirected: &str) -> Result<String, McpError> {
        let redirected = Url::parse(redirected).map_err(|_| unauthorized("the redirect is no valid URL"))?;
        let get = |wanted: &str| {
            let found = redirected.query_pairs().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.into_owned())
        };
        if get("state").as_deref() != Some(self.state.as_str()) {
            return Err(unauthorized("the `state` of the redirect does not match"));
        }
        match get("iss") {
            // Compared byte by byte, as RFC 9207 demands.
            Some(issuer) if issuer != server.issuer => {
                return Err(unauthorized("the redirect comes from another issuer"));
            }
            None if server.authorization_response_iss_parameter_supported => {
                return Err(unauthorized("the redirect lacks the required `iss` parameter"));
            }
            Some(_) | None => {}
        }
        if let Some(error) = get("error") {
            let why = get("error_description").unwrap_or_default();
            return Err(unauthorized(format!(
                "authorization was denied: {} {}",
                shortened(&error, 60),
                shortened(&why, 200)
            )));
        }
        get("code").ok_or_else(|| unauthorized("the redirect contains no code"))
    }
}

/// Exchanges an authorization code for tokens.
pub(super) async fn exchange_code(
    http: &dyn Http,
    server: &AuthorizationServer,
    client: ClientRegistration,
    request: &AuthorizationRequest,
    code: &str,
    url: &str,
) -> Result<Grant, McpError> {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &request.redirect),
        ("code_verifier", &request.verifier),
        ("resource", &request.resource),
    ];
    let answer = request_token(http, &server.token_endpoint, &client, &fields).await?;
    let answer = answer.map_err(|why| unauthorized(format!("the token request failed: {why}")))?;
    Ok(Grant {
        server: url.to_owned(),
        issuer: server.issuer.clone(),
        token_endpoint: server.token_endpoint.clone(),
        client,
        access_token: answer.access_token,
        refresh_token: answer.refresh_token,
        scope: answer.scope.or_else(|| request.scope.clone()),
    })
}

/// Refreshes an access token. `None` if the user has to sign in again.
pub(super) async fn refresh(
    http: &dyn Http,
    grant: &Grant,
    resource: &str,
) -> Result<Option<Grant>, McpError> {
    let Some(refresh_token) = &grant.refresh_token else { return Ok(None) };
    let fields =
        [("grant_type", "refresh_token"), ("refresh_token", refresh_token.as_str()), ("resource", resource)];
    let Ok(answer) = request_token(http, &grant.token_endpoint, &grant.client, &fields).await? else {
        return Ok(None);
    };
    Ok(Some(Grant {
        access_token: answer.access_token,
        refresh_token: answer.refresh_token.or_else(|| grant.refresh_token.clone()),
        scope: answer.scope.or_else(|| grant.scope.clone()),
        ..grant.clone()
    }))
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    refresh_token: Option<String>,
    scope: Option<String>,
}

/// Sends a token request. The inner error is the reason of a rejection; it contains nothing that was sent.
async fn request_token(
    http: &dyn Http,
    endpoint: &str,
    client: &ClientRegistration,
    fields: &[(&str, &str)],
) -> Result<Result<TokenResponse, String>, McpError> {
    let mut fields: Vec<(&str, &str)> = fields.to_vec();
    let secret = client.secret.as_deref().unwrap_or_default();
    let is_basic = client.method == "client_secret_basic";
    if !is_basic {
        fields.push(("client_id", &client.id));
    }
    if client.method == "client_secret_post" {
        fields.push(("client_secret", secret));
    }
    let mut request = net::Request::post(endpoint, form(&fields))
        .unfollowed()
        .header("content-type", "application/x-www-form-urlencoded")?
        .header("accept", "application/json")?;
    if is_basic {
        let credentials = STANDARD.encode(format!("{}:{}", escaped(&client.id), escaped(secret)));
        request = request.secret_header("authorization", &format!("Basic {credentials}"))?;
    }
    let (status, bytes) = fetch_bounded(http, request, MAX_BYTES).await?;
    if status.is_success()
        && let Ok(token) = serde_json::from_slice::<TokenResponse>(&bytes)
    {
        return Ok(Ok(token));
    }
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let error = answer.get("error").and_then(Value::as_str).unwrap_or("no reason given");
    Ok(Err(format!("{} (status {})", shortened(error, 60), status.as_u16())))
}

/// Encodes fields as `application/x-www-form-urlencoded`.
fn form(fields: &[(&str, &str)]) -> String {
    // The query of a URL has the same encoding.
    let Ok(mut url) = Url::parse("http://form/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

fn escaped(text: &str) -> String {
    form(&[("", text)]).trim_start_matches('=').to_owned()
}

/// An unguessable token.
fn random_token() -> Result<String, McpError> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| unauthorized(format!("cannot get random bytes: {error}")))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
