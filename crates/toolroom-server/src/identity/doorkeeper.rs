//! Who a request is from.

use std::sync::Arc;

use toolroom::clock::{Clock, SystemClock, Timestamp};
use toolroom::ledger::Seal;
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{KeyRecord, SignInKind, Store, StoreError};

use super::caller::{Caller, Who};
use super::key::{hash_of, holds, key_of, secret_text};
use super::origin::WebOrigin;
use super::permission::{Permission, Permissions};
use super::sign_in::{BROWSER_LASTS, LINK_LASTS};
use super::token::EndUser;

/// What a request shows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown<'a> {
    /// A key or a token.
    pub(crate) bearer: Option<&'a str>,
    /// The cookie of a browser.
    pub(crate) cookie: Option<&'a str>,
    /// The page it comes from, if it is not one of ours.
    pub(crate) foreign_page: Option<&'a WebOrigin>,
}

/// Why nobody was recognised.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unidentified {
    /// It shows nothing.
    #[error(
        "no key was shown; send `Authorization: Bearer trk_…`, and make a key with `toolroom keys create`"
    )]
    Nothing,
    /// What it shows is not ours, or no longer holds.
    #[error("this {} is unknown or no longer holds; {}", .0.name(), .0.next())]
    Unknown(Pass),
    /// The page it comes from is not among those of the key.
    #[error("pages of `{0}` may not use this key; add the origin to the key, or make a token for it")]
    Page(WebOrigin),
    /// It cannot be told.
    #[error("keys cannot be read")]
    Store(#[from] StoreError),
}

/// What somebody may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    Key,
    Token,
    Browser,
}

impl Pass {
    const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Token => "token",
            Self::Browser => "browser",
        }
    }

    /// How to come by one that holds.
    const fn next(self) -> &'static str {
        match self {
            Self::Key => "make one with `toolroom keys create`",
            Self::Token => "whoever made it makes another one with `POST /v1/tokens`",
            Self::Browser => "sign in with the link that `toolroom serve` prints",
        }
    }
}

/// Recognises callers.
pub(crate) struct Doorkeeper {
    store: Store,
    seal: Arc<dyn Seal>,
    clock: Arc<dyn Clock>,
}

impl Doorkeeper {
    pub(crate) fn new(store: Store, seal: Arc<dyn Seal>) -> Self {
        Self { store, seal, clock: Arc::new(SystemClock) }
    }

    /// Who it is.
    pub(crate) async fn identify(&self, shown: Shown<'_>) -> Result<Caller, Unidentified> {
        let page = shown.foreign_page;
        // Most are programs: what others need takes no room in each request.
        match (shown.bearer, shown.cookie) {
            (Some(text), _) if EndUser::is_token(text) => Box::pin(self.end_user(text, page)).await,
            (Some(text), _) => self.program(text, page).await,
            (None, Some(cookie)) => Box::pin(self.browser(cookie, page)).await,
            (None, None) => Err(Unidentified::Nothing),
        }
    }

    async fn program(&self, text: &str, page: Option<&WebOrigin>) -> Result<Caller, Unidentified> {
        let unknown = Unidentified::Unknown(Pass::Key);
        let Some(key) = key_of(text) else { return Err(unknown) };
        let key = self.store.key_of_hash(&hash_of(key)).await?.ok_or(unknown)?;
        if !holds(&key, self.clock.now()) {
            return Err(Unidentified::Unknown(Pass::Key));
        }
        if let Some(page) = page
            && !may_be_used_by(&key, page)
        {
            return Err(Unidentified::Page(page.clone()));
        }
        // A name we do not know is one less thing it may do.
        let permissions = key.permissions.iter().filter_map(|name| name.parse::<Permission>().ok()).collect();
        let scope = Scope { project: key.project.clone(), user: None };
        Ok(Caller::new(scope, Who::Key(key), permissions))
    }

    async fn end_user(&self, token: &str, page: Option<&WebOrigin>) -> Result<Caller, Unidentified> {
        let unknown = || Unidentified::Unknown(Pass::Token);
        let user = EndUser::read(token, self.seal.as_ref()).ok_or_else(unknown)?;
        let now = self.clock.now();
        let keys = self.store.keys(&user.project).await?;
        let key = keys.iter().find(|key| key.id == user.key && holds(key, now)).ok_or_else(unknown)?;
        if now >= user.expires_at {
            return Err(unknown());
        }
        let allowed = page.is_none_or(|page| match &user.origin {
            Some(own) => own == page,
            None => may_be_used_by(key, page),
        });
        if let (false, Some(page)) = (allowed, page) {
            return Err(Unidentified::Page(page.clone()));
        }
        let scope = Scope { project: user.project.clone(), user: Some(user.user.clone()) };
        let permissions = Permissions::from_iter([Permission::Chat, Permission::Answer]);
        Ok(Caller::new(scope, Who::EndUser(Arc::new(user)), permissions))
    }

    async fn browser(&self, cookie: &str, page: Option<&WebOrigin>) -> Result<Caller, Unidentified> {
        if let Some(page) = page {
            return Err(Unidentified::Page(page.clone()));
        }
        let known = self.store.signed_in(SignInKind::Browser, &hash_of(cookie), self.clock.now()).await?;
        let project = known.ok_or(Unidentified::Unknown(Pass::Browser))?;
        let scope = Scope { project, user: None };
        Ok(Caller::new(scope, Who::Owner, Permission::ALL.into_iter().collect()))
    }

    /// Whether the key with which somebody came in still holds. A browser has none.
    pub(crate) async fn still_knows(&self, caller: &Caller) -> Result<bool, StoreError> {
        let id = match &caller.who {
            Who::Owner => return Ok(true),
            Who::Key(key) => &key.id,
            Who::EndUser(user) => &user.key,
        };
        let (keys, now) = (self.store.keys(&caller.scope.project).await?, self.clock.now());
        Ok(keys.iter().any(|key| key.id == *id && holds(key, now)))
    }

    /// Whether pages of this origin may use any key at all: a browser asks before it shows one.
    pub(crate) async fn knows_page(&self, page: &WebOrigin) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let keys = self.store.all_keys().await?;
        Ok(keys.iter().any(|key| holds(key, now) && may_be_used_by(key, page)))
    }

    /// A text that signs one browser of the owner in.
    pub(crate) async fn sign_in_link(&self) -> Result<String, StoreError> {
        self.allow(SignInKind::Link, self.clock.now().after(LINK_LASTS)).await
    }

    /// Uses up such a text; gives the cookie of the browser.
    pub(crate) async fn sign_in(&self, link: &str) -> Result<Option<String>, StoreError> {
        let hash = hash_of(link);
        // A guess costs a look, and no write.
        let known = self.store.signed_in(SignInKind::Link, &hash, self.clock.now()).await?;
        if known.is_none() || !self.store.end_sign_in(SignInKind::Link, &hash).await? {
            return Ok(None);
        }
        self.allow(SignInKind::Browser, self.clock.now().after(BROWSER_LASTS)).await.map(Some)
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

fn may_be_used_by(key: &KeyRecord, page: &WebOrigin) -> bool {
    key.origins.iter().any(|origin| *origin == page.to_string())
}
