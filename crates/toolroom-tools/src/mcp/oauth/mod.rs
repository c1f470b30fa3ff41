//! Signing in at a server: OAuth with PKCE, found by discovery.
//!
//! A server that lets nobody in says where it is described; that says who gives out its tokens, and that one says where.
//! Every address is asked over the guarded client, what is said about an issuer has to come from that issuer, a token
//! is for one server and never shown to another, and credentials belong to the issuer that gave them.

mod discovery;
mod grant;
mod registration;

use std::sync::{Arc, Mutex as Lock, PoisonError};

use tokio::sync::Mutex;
use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom_host::net::Http;

use self::discovery::{AuthorizationServer, ProtectedResource};
pub use self::grant::Grant;
use self::grant::{Request, exchanged, refreshed};
use self::registration::registered;
pub use self::registration::{Known, Registered};
use super::door::{Challenge, Door};
use super::error::McpError;

/// Somebody who can say yes at the place where tokens are given out.
pub trait Consent: Send + Sync {
    /// Where they come back to.
    fn redirect_uri(&self) -> String;

    /// Sends them to an address, and gives the whole address they come back with.
    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, McpError>>;
}

/// Keeps what was granted.
pub trait Grants: Send + Sync {
    /// Keeps it, sealed.
    fn keep<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>>;
}

/// The credentials of one server.
pub struct OAuthDoor {
    http: Arc<dyn Http>,
    /// The server.
    url: String,
    known: Known,
    consent: Option<Arc<dyn Consent>>,
    grants: Arc<dyn Grants>,
    grant: Lock<Option<Grant>>,
    /// One asks at a time; others find what came of it.
    asking: Mutex<()>,
}

impl OAuthDoor {
    /// Credentials for the server at `url`, with what was granted before. Without somebody who can say yes, tokens are
    /// only renewed.
    #[must_use]
    pub fn new(
        http: Arc<dyn Http>,
        url: String,
        known: Known,
        grant: Option<Grant>,
        grants: Arc<dyn Grants>,
        consent: Option<Arc<dyn Consent>>,
    ) -> Self {
        Self { http, url, known, consent, grants, grant: Lock::new(grant), asking: Mutex::new(()) }
    }

    fn granted(&self) -> Option<Grant> {
        self.grant.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn take(&self, grant: Grant) -> Result<bool, McpError> {
        self.grants.keep(&grant).await?;
        *self.grant.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant);
        Ok(true)
    }

    async fn let_in(&self, challenge: &Challenge) -> Result<bool, McpError> {
        let shown = self.granted().map(|grant| grant.access_token);
        let _asking = self.asking.lock().await;
        let before = self.granted();
        if before.as_ref().map(|grant| &grant.access_token) != shown.as_ref() {
            // Somebody else was let in meanwhile.
            return Ok(true);
        }
        let http = self.http.as_ref();
        let resource = ProtectedResource::find(http, &self.url, challenge).await?;
        // What another issuer gave is of no use, and none of this one's business.
        let before = before.filter(|grant| grant.issuer == resource.issuer);
        if let Some(grant) = before.as_ref().filter(|_| challenge.status == 401)
            && let Some(renewed) = refreshed(http, grant, &resource.resource).await?
        {
            return self.take(renewed).await;
        }
        let Some(consent) = &self.consent else { return Ok(false) };
        let server = AuthorizationServer::find(http, &resource.issuer).await?;
        let redirect = consent.redirect_uri();
        let client = match before.as_ref() {
            Some(grant) => grant.client.clone(),
            None => registered(http, &server, &self.known, &redirect).await?,
        };
        let scope = scope(challenge, before.as_ref(), &resource, &server);
        let request = Request::new(&server, &client, &resource.resource, &redirect, scope.as_deref())?;
        let answer = consent.ask(&request.url).await?;
        let code = request.code(&server, &answer)?;
        let grant = exchanged(http, &server, client, &request, &code).await?;
        self.take(grant).await
    }
}

impl Door for OAuthDoor {
    fn token(&self) -> Option<Secret> {
        self.granted().map(|grant| Secret::new("token", grant.access_token))
    }

    fn challenged<'a>(&'a self, challenge: &'a Challenge) -> BoxFuture<'a, Result<bool, McpError>> {
        Box::pin(self.let_in(challenge))
    }
}

/// The rights to ask for: those the server names, with those there were; else those it knows; nothing, otherwise.
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
    // With it tokens can be renewed while nobody is there.
    if server.scopes.iter().any(|scope| scope == "offline_access") {
        add("offline_access");
    }
    (!scopes.is_empty()).then(|| scopes.join(" "))
}

fn refused(why: impl Into<String>) -> McpError {
    McpError::Unauthorized { why: why.into() }
}
