//! Finds the caller of a request from its credentials.

use std::sync::Arc;
use std::time::Duration;

use toolroom::clock::{Clock, SystemClock, Timestamp};
use toolroom::ledger::Seal;
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{KeyRecord, SignInKind, Store, StoreError};

use super::caller::{Caller, Who};
use super::key::{hash_of, holds, key_of, secret_text};
use super::origin::WebOrigin;
use super::permission::{Permission, Permissions};
use super::token::EndUser;

/// Lifetime of a sign-in link, which works once.
const LINK_LIFETIME: Duration = Duration::from_mins(15);

/// Lifetime of a signed-in browser.
pub(crate) const BROWSER_LIFETIME: Duration = Duration::from_hours(12);

/// What a request presents.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Credentials<'a> {
    /// A key or a token.
    pub(crate) bearer: Option<&'a str>,
    /// The cookie of a browser.
    pub(crate) cookie: Option<&'a str>,
    /// The page it comes from, if it is not one of ours.
    pub(crate) foreign_origin: Option<&'a WebOrigin>,
}

/// Why a request has no caller.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthenticationError {
    #[error("no API key: send `Authorization: Bearer trk_…`; create a key with `toolroom keys create`")]
    Missing,
    #[error("this {} is unknown, expired or revoked; {}", .0.name(), .0.remedy())]
    Invalid(CredentialKind),
    #[error("pages of `{0}` may not use this key; add the origin to the key, or create a token for it")]
    Origin(WebOrigin),
    #[error("cannot read API keys")]
    Store(#[from] StoreError),
}

/// The kinds of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CredentialKind {
    Key,
    Token,
    Browser,
}

impl CredentialKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Token => "token",
            Self::Browser => "browser session",
        }
    }

    /// How to get a valid one.
    const fn remedy(self) -> &'static str {
        match self {
            Self::Key => "create one with `toolroom keys create`",
            Self::Token => "the app creates a new one with `POST /v1/tokens`",
            Self::Browser => "sign in with the link that `toolroom serve` prints",
        }
    }
}

/// Finds out who the caller is.
pub(crate) struct Authenticator {
    store: Store,
    seal: Arc<dyn Seal>,
    clock: Arc<dyn Clock>,
}

impl Authenticator {
    pub(crate) fn new(store: Store, seal: Arc<dyn Seal>) -> Self {
        Self { store, seal, clock: Arc::new(SystemClock) }
    }

    /// The caller that presents these credentials.
    pub(crate) async fn identify(&self, credentials: Credentials<'_>) -> Result<Caller, AuthenticationError> {
        let origin = credentials.foreign_origin;
        // Most callers are programs with a key. The other futures are boxed, so that this one stays small.
        match (credentials.bearer, credentials.cookie) {
            (Some(text), _) if EndUser::is_token(text) => Box::pin(self.end_user(text, origin)).await,
            (Some(text), _) => self.program(text, origin).await,
            (None, Some(cookie)) => Box::pin(self.browser(cookie, origin)).await,
            (None, None) => Err(AuthenticationError::Missing),
        }
    }

    async fn program(&self, text: &str, origin: Option<&WebOrigin>) -> Result<Caller, AuthenticationError> {
        let unknown = AuthenticationError::Invalid(CredentialKind::Key);
        let Some(key) = key_of(text) else { return Err(unknown) };
        let key = self.store.key_of_hash(&hash_of(key)).await?.ok_or(unknown)?;
        if !holds(&key, self.clock.now()) {
            return Err(AuthenticationError::Invalid(CredentialKind::Key));
        }
        if let Some(origin) = origin
            && !allows_origin(&key, origin)
        {
            return Err(AuthenticationError::Origin(origin.clone()));
        }
        // Unknown permissions, of a newer version, are ignored.
        let permissions = key.permissions.iter().filter_map(|name| name.parse::<Permission>().ok()).collect();
        let scope = Scope { project: key.project.clone(), user: None };
        Ok(Caller::new(scope, Who::Key(key), permissions))
    }

    async fn end_user(&self, token: &str, origin: Option<&WebOrigin>) -> Result<Caller, AuthenticationError> {
        let unknown = || AuthenticationError::Invalid(CredentialKind::Token);
        let user = EndUser::read(token, self.seal.as_ref()).ok_or_else(unknown)?;
        let now = self.clock.now();
        let keys = self.store.keys(&user.project).await?;
        let key = keys.iter().find(|key| key.id == user.key && holds(key, now)).ok_or_else(unknown)?;
        if now >= user.expires_at {
            return Err(unknown());
        }
        let allowed = origin.is_none_or(|origin| match &user.origin {
            Some(own) => own == origin,
            None => allows_origin(key, origin),
        });
        if let (false, Some(origin)) = (allowed, origin) {
            return Err(AuthenticationError::Origin(origin.clone()));
        }
        let scope = Scope { project: user.project.clone(), user: Some(user.user.clone()) };
        let permissions = Permissions::from_iter([Permission::Chat, Permission::Answer]);
        Ok(Caller::new(scope, Who::EndUser(Arc::new(user)), permissions))
    }

    async fn browser(&self, cookie: &str, origin: Option<&WebOrigin>) -> Result<Caller, AuthenticationError> {
        if let Some(origin) = origin {
            return Err(AuthenticationError::Origin(origin.clone()));
        }
        let known = self.store.signed_in(SignInKind::Browser, &hash_of(cookie), self.clock.now()).await?;
        let project = known.ok_or(AuthenticationError::Invalid(CredentialKind::Browser))?;
        let scope = Scope { project, user: None };
        Ok(Caller::new(scope, Who::Owner, Permission::ALL.into_iter().collect()))
    }

    /// Whether the key of this caller is still valid. A browser has none.
    pub(crate) async fn is_still_valid(&self, caller: &Caller) -> Result<bool, StoreError> {
        let id = match &caller.who {
            Who::Owner => return Ok(true),
            Who::Key(key) => &key.id,
            Who::EndUser(user) => &user.key,
        };
        let (keys, now) = (self.store.keys(&caller.scope.project).await?, self.clock.now());
        Ok(keys.iter().any(|key| key.id == *id && holds(key, now)))
    }

    /// Whether pages of this origin may use any key: a browser asks before it sends one.
    pub(crate) async fn knows_origin(&self, origin: &WebOrigin) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let keys = self.store.all_keys().await?;
        Ok(keys.iter().any(|key| holds(key, now) && allows_origin(key, origin)))
    }

    /// A secret that signs in one browser of the owner.
    pub(crate) async fn sign_in_link(&self) -> Result<String, StoreError> {
        self.allow(SignInKind::Link, self.clock.now().after(LINK_LIFETIME)).await
    }

    /// Uses up a sign-in link. Returns the cookie of the browser.
    pub(crate) async fn sign_in(&self, link: &str) -> Result<Option<String>, StoreError> {
        let hash = hash_of(link);
        // A wrong guess costs a read and no write.
        let known = self.store.signed_in(SignInKind::Link, &hash, self.clock.now()).await?;
        if known.is_none() || !self.store.end_sign_in(SignInKind::Link, &hash).await? {
            return Ok(None);
        }
        self.allow(SignInKind::Browser, self.clock.now().after(BROWSER_LIFETIME)).await.map(Some)
    }

    /// Signs a browser out.
    pub(crate) async fn sign_out(&self, cookie: &str) -> Result<bool, StoreError> {
        self.store.end_sign_in(SignInKind::Browser, &hash_of(cookie)).await
    }

    async fn allow(&self, kind: SignInKind, until: Timestamp) -> Result<String, StoreError> {
        let text = secret_text(self.clock.as_ref());
        self.store.allow_sign_in(kind, &hash_of(&text), &ProjectId::default(), until).await?;
        Ok(text)
    }
}

fn allows_origin(key: &KeyRecord, origin: &WebOrigin) -> bool {
    key.origins.iter().any(|allowed| *allowed == origin.to_string())
}
