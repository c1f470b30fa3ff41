//! Asking for a token, and renewing it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolroom_host::net::{self, Http, Url};

use super::discovery::AuthorizationServer;
use super::exchange::answered;
use super::refused;
use super::registration::Registered;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::shortened;

/// An answer may not be larger.
const MAX_BYTES: u64 = 256 * 1024;

/// Bytes of chance in what nobody may guess.
const CHANCE: usize = 32;

/// What was granted by one issuer for one server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The address of the server it is for, as its entry has it: it is shown nowhere else.
    pub server: String,
    /// Who granted it.
    pub issuer: String,
    /// Where it is renewed.
    pub token_endpoint: String,
    /// Who we are there.
    pub client: Registered,
    /// What is shown to the server.
    pub access_token: String,
    /// What it is renewed with.
    pub refresh_token: Option<String>,
    /// The rights it has.
    pub scope: Option<String>,
}

/// A request for a yes.
pub(super) struct Request {
    /// Where a person says it.
    pub(super) url: String,
    redirect: String,
    resource: String,
    scope: Option<String>,
    state: String,
    verifier: String,
}

impl Grant {
    /// The parts of it that open something.
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        [Some(&self.access_token), self.refresh_token.as_ref(), self.client.secret.as_ref()]
            .into_iter()
            .flatten()
    }
}

impl Request {
    pub(super) fn new(
        server: &AuthorizationServer,
        client: &Registered,
        resource: &str,
        redirect: &str,
        scope: Option<&str>,
    ) -> Result<Self, McpError> {
        let (state, verifier) = (chance()?, chance()?);
        let mut url = Url::parse(&server.authorization_endpoint)
            .map_err(|_| refused("where a person says yes is no address"))?;
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

    /// The code somebody came back with, if it is the answer to this request, from whom it was asked.
    pub(super) fn code(&self, server: &AuthorizationServer, answer: &str) -> Result<String, McpError> {
        let answer = Url::parse(answer).map_err(|_| refused("the way back is no address"))?;
        let get = |wanted: &str| {
            let found = answer.query_pairs().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.into_owned())
        };
        if get("state").as_deref() != Some(self.state.as_str()) {
            return Err(refused("the answer is not that to our question"));
        }
        match get("iss") {
            // Letter by letter: whoever is almost the right one is somebody else.
            Some(issuer) if issuer != server.issuer => {
                return Err(refused("the answer comes from somebody else than was asked"));
            }
            None if server.authorization_response_iss_parameter_supported => {
                return Err(refused("the answer does not say from whom it comes, which it should"));
            }
            Some(_) | None => {}
        }
        if let Some(error) = get("error") {
            let why = get("error_description").unwrap_or_default();
            return Err(refused(format!(
                "it was refused: {} {}",
                shortened(&error, 60),
                shortened(&why, 200)
            )));
        }
        get("code").ok_or_else(|| refused("the answer holds no code"))
    }
}

/// What a code is worth.
pub(super) async fn exchanged(
    http: &dyn Http,
    server: &AuthorizationServer,
    client: Registered,
    request: &Request,
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
    let answer = token(http, &server.token_endpoint, &client, &fields).await?;
    let answer = answer.map_err(|why| refused(format!("no token is given out: {why}")))?;
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

/// A new token for an old one, if that can be had without a person.
pub(super) async fn refreshed(
    http: &dyn Http,
    grant: &Grant,
    resource: &str,
) -> Result<Option<Grant>, McpError> {
    let Some(refresh) = &grant.refresh_token else { return Ok(None) };
    let fields =
        [("grant_type", "refresh_token"), ("refresh_token", refresh.as_str()), ("resource", resource)];
    let Ok(answer) = token(http, &grant.token_endpoint, &grant.client, &fields).await? else {
        // It does not hold any more: a person has to say yes again.
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
struct Token {
    access_token: String,
    refresh_token: Option<String>,
    scope: Option<String>,
}

/// Asks for a token; a refusal is in words, without anything that was sent.
async fn token(
    http: &dyn Http,
    endpoint: &str,
    client: &Registered,
    fields: &[(&str, &str)],
) -> Result<Result<Token, String>, McpError> {
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
        let shown = STANDARD.encode(format!("{}:{}", escaped(&client.id), escaped(secret)));
        request = request.secret_header("authorization", &format!("Basic {shown}"))?;
    }
    let (status, bytes) = answered(http, request, MAX_BYTES).await?;
    if status.is_success()
        && let Ok(token) = serde_json::from_slice::<Token>(&bytes)
    {
        return Ok(Ok(token));
    }
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let error = answer.get("error").and_then(Value::as_str).unwrap_or("no reason is given");
    Ok(Err(format!("{} (status {})", shortened(error, 60), status.as_u16())))
}

/// Fields as a form is sent.
fn form(fields: &[(&str, &str)]) -> String {
    // The query of an address is written the same way.
    let Ok(mut url) = Url::parse("http://form/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

fn escaped(text: &str) -> String {
    form(&[("", text)]).trim_start_matches('=').to_owned()
}

/// A word that nobody can guess.
fn chance() -> Result<String, McpError> {
    let mut bytes = [0; CHANCE];
    getrandom::fill(&mut bytes).map_err(|error| refused(format!("there is no chance to be had: {error}")))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
