//! Creates and rotates keys, and creates tokens, for every interface.

use std::sync::Arc;
use std::time::Duration;

use toolroom::clock::{Clock, Timestamp};
use toolroom::conversation::AgentId;
use toolroom::ledger::{Seal, SealError};
use toolroom::scope::{ProjectId, UserId};
use toolroom_store::{KeyRecord, RetiredKey, Store, StoreError};

use super::key::{Environment, NewKey, holds};
use super::origin::WebOrigin;
use super::permission::{Permission, Permissions};
use super::project::{check_name, project};
use super::token::{DEFAULT_LIFETIME, EndUser, MAX_LIFETIME, TokenOrder};

/// Origins of one key.
const MAX_ORIGINS: usize = 100;

/// Valid keys of a project.
const MAX_KEYS: usize = 1_000;

/// Longest name of a user.
const USER_CHARS: usize = 200;

/// Shortest lifetime of a token.
const MIN_LIFETIME: Duration = Duration::from_secs(10);

/// Why no key or token was created. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IssueError {
    /// The order is invalid.
    #[error("{0}")]
    Order(String),
    /// It names something that does not exist.
    #[error("{0}")]
    Missing(String),
    /// It conflicts with the current state.
    #[error("{0}")]
    Conflict(String),
    /// It asks for more permissions than the caller has.
    #[error("{0}")]
    Forbidden(String),
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The token cannot be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// A new key.
pub(crate) struct Issued {
    /// The whole key.
    pub(crate) key: String,
    /// Its stored record.
    pub(crate) record: KeyRecord,
}

/// Creates a key with no more permissions than `giver`, those of the caller.
pub(crate) async fn make_key(
    store: &Store,
    clock: &dyn Clock,
    new: NewKey,
    giver: Permissions,
) -> Result<Issued, IssueError> {
    check_name(&new.name).map_err(IssueError::Order)?;
    if new.origins.len() > MAX_ORIGINS {
        return Err(IssueError::Order(format!("a key may name up to {MAX_ORIGINS} origins")));
    }
    if new.permissions.is_empty() {
        return Err(IssueError::Order("a key needs at least one scope".to_owned()));
    }
    refuse_more_than(giver, &new.permissions)?;
    if project(store, new.project.as_str()).await?.is_none() {
        let text = format!("there is no project `{}`; see `toolroom projects`", new.project);
        return Err(IssueError::Missing(text));
    }
    let (keys, now) = (store.keys(&new.project).await?, clock.now());
    if keys.iter().filter(|key| holds(key, now)).count() >= MAX_KEYS {
        return Err(IssueError::Conflict(format!("a project has up to {MAX_KEYS} keys; revoke unused ones")));
    }
    let (key, record) = new.make(clock);
    store.add_key(record.clone(), None).await?;
    Ok(Issued { key, record })
}

/// How a key is replaced.
pub(crate) struct Rotation {
    /// How long the old key stays valid.
    pub(crate) overlap: Duration,
    /// When the new key expires.
    pub(crate) expires_at: Option<Timestamp>,
    /// Permissions of the new key in addition to those of the old one.
    pub(crate) added: Vec<Permission>,
}

/// Replaces a key. The old one expires after the overlap.
pub(crate) async fn rotate_key(
    store: &Store,
    clock: &dyn Clock,
    old: &KeyRecord,
    rotation: Rotation,
    giver: Permissions,
) -> Result<Issued, IssueError> {
    let now = clock.now();
    if !holds(old, now) {
        return Err(IssueError::Conflict(format!(
            "`{}` has expired or was revoked; create a new key",
            old.name
        )));
    }
    let mut permissions: Vec<Permission> = permissions_of(old);
    permissions.extend(rotation.added);
    refuse_more_than(giver, &permissions)?;
    let origins = old.origins.iter().filter_map(|origin| origin.parse::<WebOrigin>().ok()).collect();
    let new = NewKey {
        project: old.project.clone(),
        name: old.name.clone(),
        environment: old.environment.parse().unwrap_or(Environment::Prod),
        permissions,
        origins,
        expires_at: rotation.expires_at,
    };
    let (key, record) = new.make(clock);
    let retired = RetiredKey { id: old.id.clone(), until: now.after(rotation.overlap) };
    store.add_key(record.clone(), Some(retired)).await?;
    Ok(Issued { key, record })
}

/// The permissions of a key, without unknown ones of a newer version.
fn permissions_of(key: &KeyRecord) -> Vec<Permission> {
    key.permissions.iter().filter_map(|name| name.parse().ok()).collect()
}

fn refuse_more_than(giver: Permissions, wanted: &[Permission]) -> Result<(), IssueError> {
    match wanted.iter().find(|permission| !giver.has(**permission)) {
        None => Ok(()),
        Some(permission) => Err(IssueError::Forbidden(format!(
            "you cannot grant the scope `{permission}`, because you do not have it"
        ))),
    }
}

/// A key of a project, by its id, the end of its id, or the name of a valid key.
pub(crate) async fn find_key(
    store: &Store,
    clock: &dyn Clock,
    project: &ProjectId,
    name: &str,
) -> Result<Arc<KeyRecord>, IssueError> {
    let (keys, now) = (store.keys(project).await?, clock.now());
    if let Some(key) = keys.iter().find(|key| key.id == name) {
        return Ok(Arc::clone(key));
    }
    let fits = |key: &&Arc<KeyRecord>| !name.is_empty() && (key.id.ends_with(name) || key.name == name);
    let mut found = keys.iter().filter(fits).filter(|key| holds(key, now));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(Arc::clone(only)),
        (Some(_), Some(_)) => {
            Err(IssueError::Order(format!("several keys match `{name}`; use more of the id")))
        }
        (None, _) => Err(IssueError::Missing(format!("there is no key `{name}`; see `toolroom keys`"))),
    }
}

/// Creates a token for an end user. The agent has to exist.
pub(crate) fn make_token(
    seal: &dyn Seal,
    clock: &dyn Clock,
    key: &KeyRecord,
    order: TokenOrder,
) -> Result<(String, Timestamp), IssueError> {
    let TokenOrder { user, agent, origin, expires_in } = order;
    let is_user = !user.trim().is_empty() && !user.chars().any(char::is_control);
    if !is_user || user.chars().nth(USER_CHARS).is_some() {
        return Err(IssueError::Order(format!("`user` must be one line of up to {USER_CHARS} characters")));
    }
    let lasts = expires_in.map_or(DEFAULT_LIFETIME, Duration::from_secs);
    if !(MIN_LIFETIME..=MAX_LIFETIME).contains(&lasts) {
        let (least, most) = (MIN_LIFETIME.as_secs(), MAX_LIFETIME.as_secs());
        return Err(IssueError::Order(format!("a token must be valid for {least} to {most} seconds")));
    }
    if let Some(origin) = &origin
        && !key.origins.is_empty()
        && !key.origins.contains(&origin.to_string())
    {
        return Err(IssueError::Forbidden(format!(
            "pages of `{origin}` may not use this key, nor its tokens"
        )));
    }
    let expires_at = clock.now().after(lasts);
    let end_user = EndUser {
        key: key.id.clone(),
        project: key.project.clone(),
        user: UserId::new(&user),
        agent: AgentId::new(&agent),
        origin,
        expires_at,
    };
    Ok((end_user.token(seal)?, expires_at))
}
