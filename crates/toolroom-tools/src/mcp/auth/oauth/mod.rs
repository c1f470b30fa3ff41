//! OAuth with PKCE: discovery, registration, authorization, token refresh.
//!
//! All requests use the guarded client. Metadata of an issuer must come from that issuer. A token is sent only to the
//! server it was granted for, and client credentials only to the issuer they belong to.

mod discovery;
mod grant;
mod registration;

use std::any::Any;
use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;
use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom_host::net::{self, Bytes, Http, StatusCode};

use self::discovery::{AuthorizationServer, ProtectedResource};
pub use self::grant::Grant;
use self::grant::{AuthorizationRequest, exchange_code, refresh};
use self::registration::register;
pub use self::registration::{ClientRegistration, OAuthClientConfig};
use crate::mcp::auth::{Challenge, Credentials};
use crate::mcp::protocol::error::McpError;

/// Timeout of requests to authorization servers. It is shorter than that of tool calls.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Asks the user for consent.
pub trait Consent: Send + Sync {
    /// Where the browser is redirected to afterwards.
    fn redirect_uri(&self) -> String;

    /// Opens `url` for the user and returns the URL of the redirect.
    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, McpError>>;
}

/// Stores the grant of one server. Processes share it.
pub trait GrantStore: Send + Sync {
    /// The stored grant.
    fn load(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>>;

    /// Stores a grant, sealed, and replaces the previous one.
    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>>;

    /// Locks out refreshes by other processes until the lock is dropped. An issuer that sees a refresh token twice takes
    /// it for stolen.
    fn lock_refresh(&self) -> BoxFuture<'_, Result<RefreshLock, McpError>>;
}

/// Held while a token is refreshed.
pub type RefreshLock = Box<dyn Any + Send>;

/// The server to sign in at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// Its URL, as configured.
    pub url: String,
    /// Whether the user allows its host name to resolve to internal addresses.
    pub is_internal: bool,
}

/// The credentials of one server.
pub struct OAuthCredentials {
    http: Arc<dyn Http>,
    address: ServerAddress,
    client: OAuthClientConfig,
    consent: Option<Arc<dyn Consent>>,
    store: Arc<dyn GrantStore>,
    grant: Lock<Option<Grant>>,
    /// The last challenge that no grant has answered yet.
    challenge: Lock<Option<Challenge>>,
    /// Serializes refreshes and sign-ins of this process.
    signing_in: Mutex<()>,
}

impl OAuthCredentials {
    /// Loads the stored grant. Without `consent`, tokens are only refreshed until [`OAuthCredentials::sign_in`].
    pub async fn open(
        http: Arc<dyn Http>,
        address: ServerAddress,
        client: OAuthClientConfig,
        store: Arc<dyn GrantStore>,
        consent: Option<Arc<dyn Consent>>,
    ) -> Result<Self, McpError> {
        let grant = Lock::default();
        let credentials = Self {
            http,
            address,
            client,
            consent,
            store,
            grant,
            challenge: Lock::default(),
            signing_in: Mutex::new(()),
        };
        let stored = credentials.stored_grant().await?;
        *lock(&credentials.grant) = stored;
        Ok(credentials)
    }

    /// Asks the user for consent to what the server last demanded. Returns whether it had demanded anything.
    ///
    /// # Errors
    /// If the user declines, or the authorization server cannot be trusted.
    pub async fn sign_in(&self, consent: &dyn Consent) -> Result<bool, McpError> {
        let _guard = self.signing_in.lock().await;
        let Some(challenge) = lock(&self.challenge).clone() else { return Ok(false) };
        let resource = ProtectedResource::discover(self.http.as_ref(), &self.address, &challenge).await?;
        self.authorize(consent, &challenge, &resource).await?;
        // Only now: after a refusal the user can be asked again.
        *lock(&self.challenge) = None;
        Ok(true)
    }

    fn grant(&self) -> Option<Grant> {
        lock(&self.grant).clone()
    }

    /// The stored grant, if it is for this URL and for the configured client id.
    async fn stored_grant(&self) -> Result<Option<Grant>, McpError> {
        let is_ours =
            |grant: &Grant| self.client.client.as_ref().is_none_or(|(id, _)| *id == grant.client.id);
        let stored = self.store.load().await?;
        Ok(stored.filter(|grant| grant.server == self.address.url && is_ours(grant)))
    }

    async fn save(&self, grant: Grant) -> Result<(), McpError> {
        self.store.save(&grant).await?;
        *lock(&self.grant) = Some(grant);
        Ok(())
    }

    /// `rejected` is the token that the server rejected: only that one is refreshed.
    async fn obtain_token(&self, challenge: &Challenge, rejected: Option<&Secret>) -> Result<bool, McpError> {
        let token = |grant: &Option<Grant>| grant.as_ref().map(|grant| grant.access_token.clone());
        let rejected = rejected.map(|rejected| rejected.expose().to_owned());
        // Another request got a newer token already: there is no need to wait for a sign-in.
        let is_replaced = || token(&self.grant()) != rejected;
        if is_replaced() {
            return Ok(true);
        }
        let _guard = self.signing_in.lock().await;
        if is_replaced() {
            return Ok(true);
        }
        *lock(&self.challenge) = Some(challenge.clone());
        let refresh_lock = self.store.lock_refresh().await?;
        let before = self.stored_grant().await?;
        if before.is_some() && token(&before) != rejected {
            // Another process got a newer token.
            *lock(&self.grant) = before;
            return Ok(true);
        }
        let resource = ProtectedResource::discover(self.http.as_ref(), &self.address, challenge).await?;
        // A refresh token of another issuer is not sent to this one.
        let renewable = before.filter(|grant| grant.issuer == resource.issuer && challenge.status == 401);
        if let Some(grant) = renewable
            && let Some(refreshed) = refresh(self.http.as_ref(), &grant, &resource.resource).await?
        {
            self.save(refreshed).await?;
            return Ok(true);
        }
        drop(refresh_lock);
        let Some(consent) = &self.consent else { return Ok(false) };
        self.authorize(consent.as_ref(), challenge, &resource).await?;
        Ok(true)
    }

    async fn authorize(
        &self,
        consent: &dyn Consent,
        challenge: &Challenge,
        resource: &ProtectedResource,
    ) -> Result<(), McpError> {
        let http = self.http.as_ref();
        let server = AuthorizationServer::discover(http, &self.address, &resource.issuer).await?;
        let redirect = consent.redirect_uri();
        let before = self.grant().filter(|grant| grant.issuer == resource.issuer);
        let is_usable =
            |client: &ClientRegistration| self.client.client.is_none() && client.allows_redirect(&redirect);
        let client = match before.as_ref().map(|grant| &grant.client).filter(|client| is_usable(client)) {
            Some(client) => client.clone(),
            None => register(http, &server, &self.client, &redirect).await?,
        };
        let scope = scope(challenge, before.as_ref(), resource, &server);
        let request =
            AuthorizationRequest::new(&server, &client, &resource.resource, &redirect, scope.as_deref())?;
        let redirected = consent.ask(&request.url).await?;
        let code = request.code(&server, &redirected)?;
        let grant = exchange_code(http, &server, client, &request, &code, &self.address.url).await?;
        self.save(grant).await
    }
}

impl Credentials for OAuthCredentials {
    fn token(&self) -> Option<Secret> {
        self.grant().map(|grant| Secret::new("token", grant.access_token))
    }

    fn handle_challenge<'a>(
        &'a self,
        challenge: &'a Challenge,
        token: Option<&'a Secret>,
    ) -> BoxFuture<'a, Result<bool, McpError>> {
        Box::pin(self.obtain_token(challenge, token))
    }
}

/// The scopes to request: those of the challenge plus those granted before, or else all that the server supports.
fn scope(
    challenge: &Challenge,
    before: Option<&Grant>,
    resource: &ProtectedResource,
    server: &AuthorizationServer,
) -> Option<String> {
    let mut scopes: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        for scope in text.split_whitespace() {
            if !scopes.iter().any(|known| known == scope) {
                scopes.push(scope.to_owned());
            }
        }
    };
    match &challenge.scope {
        Some(wanted) => {
            before.and_then(|grant| grant.scope.as_deref()).into_iter().for_each(&mut add);
            add(wanted);
        }
        None => resource.scopes.iter().for_each(|scope| add(scope)),
    }
    // Allows a refresh while the user is absent.
    if server.scopes.iter().any(|scope| scope == "offline_access") {
        add("offline_access");
    }
    (!scopes.is_empty()).then(|| scopes.join(" "))
}

fn lock<T>(lock: &Lock<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a request and reads the whole response of at most `max_bytes`.
async fn fetch_bounded(
    http: &dyn Http,
    request: net::Request,
    max_bytes: u64,
) -> Result<(StatusCode, Bytes), McpError> {
    let response = async {
        let response = http.send(request).await?;
        let status = response.status;
        Ok((status, response.body.bytes_up_to(max_bytes).await?))
    };
    let late = |_| {
        unauthorized(format!(
            "its authorization server has not answered within {} s",
            REQUEST_TIMEOUT.as_secs()
        ))
    };
    timeout(REQUEST_TIMEOUT, response).await.map_err(late)?
}

fn unauthorized(why: impl Into<String>) -> McpError {
    McpError::Unauthorized { why: why.into() }
}

#[cfg(test)]
mod oauth_tests;
