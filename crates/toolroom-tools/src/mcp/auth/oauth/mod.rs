//! Signing in at a server: OAuth with PKCE, found by discovery.
//!
//! A server that lets nobody in says where it is described; that says who gives out its tokens, and that one says where.
//! Every address is asked over the guarded client, what is said about an issuer has to come from that issuer, a token
//! is for one server and never shown to another, and credentials belong to the issuer that gave them.

mod discovery;
mod exchange;
mod grant;
mod registration;

use std::any::Any;
use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};

use tokio::sync::Mutex;
use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom_host::net::Http;

use self::discovery::{AuthorizationServer, ProtectedResource};
pub use self::grant::Grant;
use self::grant::{Request, exchanged, refreshed};
use self::registration::registered;
pub use self::registration::{Known, Registered};
use crate::mcp::auth::{Challenge, Door};
use crate::mcp::protocol::error::McpError;

/// Somebody who can say yes at the place where tokens are given out.
pub trait Consent: Send + Sync {
    /// Where they come back to.
    fn redirect_uri(&self) -> String;

    /// Sends them to an address, and gives the whole address they come back with.
    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, McpError>>;
}

/// Keeps what was granted for one server. Several processes share it.
pub trait Grants: Send + Sync {
    /// What is kept now, whoever kept it.
    fn kept(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>>;

    /// Keeps it, sealed, in the place of all that was kept before.
    fn keep<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>>;

    /// Waits until no other process renews, and keeps the others waiting for as long as what comes back lives: a token
    /// that is used twice to renew another one is taken for stolen.
    fn turn(&self) -> BoxFuture<'_, Result<Turn, McpError>>;
}

/// A turn at renewing, which ends with it.
pub type Turn = Box<dyn Any + Send>;

/// The server that lets us in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Its address, as its entry has it.
    pub url: String,
    /// Whether a person has said that its name may lead inside a network.
    pub is_internal: bool,
}

/// The credentials of one server.
pub struct OAuthDoor {
    http: Arc<dyn Http>,
    site: Site,
    known: Known,
    consent: Option<Arc<dyn Consent>>,
    grants: Arc<dyn Grants>,
    grant: Lock<Option<Grant>>,
    /// What the server said when it last let nobody in.
    challenge: Lock<Option<Challenge>>,
    /// One asks at a time; others find what came of it.
    asking: Mutex<()>,
}

impl OAuthDoor {
    /// Credentials for a server, with what was granted before. Without somebody who can say yes at any time, tokens are
    /// only renewed until [`OAuthDoor::sign_in`].
    pub async fn open(
        http: Arc<dyn Http>,
        site: Site,
        known: Known,
        grants: Arc<dyn Grants>,
        consent: Option<Arc<dyn Consent>>,
    ) -> Result<Self, McpError> {
        let grant = Lock::default();
        let door = Self {
            http,
            site,
            known,
            consent,
            grants,
            grant,
            challenge: Lock::default(),
            asking: Mutex::new(()),
        };
        let kept = door.kept().await?;
        *held(&door.grant) = kept;
        Ok(door)
    }

    /// Lets somebody say yes to what the server last asked for, for as long as that takes; says whether it had asked.
    ///
    /// # Errors
    /// When they say no, or those who give out tokens are not to be trusted.
    pub async fn sign_in(&self, consent: &dyn Consent) -> Result<bool, McpError> {
        let _asking = self.asking.lock().await;
        let Some(challenge) = held(&self.challenge).clone() else { return Ok(false) };
        let resource = ProtectedResource::find(self.http.as_ref(), &self.site, &challenge).await?;
        self.consented(consent, &challenge, &resource).await?;
        // Whoever has said no can be asked again.
        *held(&self.challenge) = None;
        Ok(true)
    }

    fn granted(&self) -> Option<Grant> {
        held(&self.grant).clone()
    }

    /// What is kept for this very address: what was granted for another one is none of its business. Somebody who says
    /// who we are there wants to come as that one, and not with what another one was granted.
    async fn kept(&self) -> Result<Option<Grant>, McpError> {
        let is_us = |grant: &Grant| self.known.client.as_ref().is_none_or(|(id, _)| *id == grant.client.id);
        let kept = self.grants.kept().await?;
        Ok(kept.filter(|grant| grant.server == self.site.url && is_us(grant)))
    }

    async fn take(&self, grant: Grant) -> Result<(), McpError> {
        self.grants.keep(&grant).await?;
        *held(&self.grant) = Some(grant);
        Ok(())
    }

    /// `shown` is what was refused: only that is renewed.
    async fn let_in(&self, challenge: &Challenge, shown: Option<&Secret>) -> Result<bool, McpError> {
        let token = |grant: &Option<Grant>| grant.as_ref().map(|grant| grant.access_token.clone());
        let shown = shown.map(|shown| shown.expose().to_owned());
        // Somebody else was let in meanwhile; whoever is asked now is not waited for.
        let is_old = || token(&self.granted()) != shown;
        if is_old() {
            return Ok(true);
        }
        let _asking = self.asking.lock().await;
        if is_old() {
            return Ok(true);
        }
        *held(&self.challenge) = Some(challenge.clone());
        let turn = self.grants.turn().await?;
        let before = self.kept().await?;
        if before.is_some() && token(&before) != shown {
            // The same in another process.
            *held(&self.grant) = before;
            return Ok(true);
        }
        let resource = ProtectedResource::find(self.http.as_ref(), &self.site, challenge).await?;
        // What another issuer gave is of no use, and none of this one's business.
        let renewable = before.filter(|grant| grant.issuer == resource.issuer && challenge.status == 401);
        if let Some(grant) = renewable
            && let Some(renewed) = refreshed(self.http.as_ref(), &grant, &resource.resource).await?
        {
            self.take(renewed).await?;
            return Ok(true);
        }
        drop(turn);
        let Some(consent) = &self.consent else { return Ok(false) };
        self.consented(consent.as_ref(), challenge, &resource).await?;
        Ok(true)
    }

    async fn consented(
        &self,
        consent: &dyn Consent,
        challenge: &Challenge,
        resource: &ProtectedResource,
    ) -> Result<(), McpError> {
        let http = self.http.as_ref();
        let server = AuthorizationServer::find(http, &self.site, &resource.issuer).await?;
        let redirect = consent.redirect_uri();
        let before = self.granted().filter(|grant| grant.issuer == resource.issuer);
        let is_us = |client: &Registered| self.known.client.is_none() && client.fits(&redirect);
        let client = match before.as_ref().map(|grant| &grant.client).filter(|client| is_us(client)) {
            Some(client) => client.clone(),
            None => registered(http, &server, &self.known, &redirect).await?,
        };
        let scope = scope(challenge, before.as_ref(), resource, &server);
        let request = Request::new(&server, &client, &resource.resource, &redirect, scope.as_deref())?;
        let answer = consent.ask(&request.url).await?;
        let code = request.code(&server, &answer)?;
        let grant = exchanged(http, &server, client, &request, &code, &self.site.url).await?;
        self.take(grant).await
    }
}

impl Door for OAuthDoor {
    fn token(&self) -> Option<Secret> {
        self.granted().map(|grant| Secret::new("token", grant.access_token))
    }

    fn challenged<'a>(
        &'a self,
        challenge: &'a Challenge,
        shown: Option<&'a Secret>,
    ) -> BoxFuture<'a, Result<bool, McpError>> {
        Box::pin(self.let_in(challenge, shown))
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

fn held<T>(lock: &Lock<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused(why: impl Into<String>) -> McpError {
    McpError::Unauthorized { why: why.into() }
}

#[cfg(test)]
mod oauth_tests;
