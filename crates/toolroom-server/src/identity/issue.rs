//! Making, replacing and taking back keys, and making tokens: the same on every surface.

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
use super::token::{EndUser, LONGEST, TokenOrder, USUAL};

/// Most web pages that a key may name.
const ORIGINS: usize = 100;

/// Keys of a project that hold at the same time.
const KEYS: usize = 1_000;

/// Characters of a user's name.
const USER_CHARS: usize = 200;

/// Shortest span for which a token is of use.
const SHORTEST: Duration = Duration::from_secs(10);

/// Why no key or token was made. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IssueError {
    /// What is asked for makes no sense.
    #[error("{0}")]
    Order(String),
    /// It names something that is not there.
    #[error("{0}")]
    Missing(String),
    /// It does not go with how things stand.
    #[error("{0}")]
    Standing(String),
    /// Whoever asks would get more than they have.
    #[error("{0}")]
    Beyond(String),
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The token cannot be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// A key that was just made.
pub(crate) struct Issued {
    /// The whole key.
    pub(crate) key: String,
    /// What is kept of it.
    pub(crate) record: KeyRecord,
}

/// Makes a key. `giver` is what whoever asks may do themselves: nobody gives more.
pub(crate) async fn make_key(
    store: &Store,
    clock: &dyn Clock,
    new: NewKey,
    giver: Permissions,
) -> Result<Issued, IssueError> {
    check_name(&new.name).map_err(IssueError::Order)?;
    if new.origins.len() > ORIGINS {
        return Err(IssueError::Order(format!("a key may name up to {ORIGINS} origins")));
    }
    if new.permissions.is_empty() {
        return Err(IssueError::Order("a key without a scope is good for nothing; name one".to_owned()));
    }
    refuse_more_than(giver, &new.permissions)?;
    if project(store, new.project.as_str()).await?.is_none() {
        let text = format!("there is no project `{}`; see `toolroom projects`", new.project);
        return Err(IssueError::Missing(text));
    }
    let (keys, now) = (store.keys(&new.project).await?, clock.now());
    if keys.iter().filter(|key| holds(key, now)).count() >= KEYS {
        return Err(IssueError::Standing(format!(
            "a project has up to {KEYS} keys; revoke those nobody uses"
        )));
    }
    let (key, record) = new.make(clock);
    store.add_key(record.clone(), None).await?;
    Ok(Issued { key, record })
}

/// How a key is replaced.
pub(crate) struct Rotation {
    /// How long the old one holds beside the new one.
    pub(crate) overlap: Duration,
    /// Until when the new one holds.
    pub(crate) expires_at: Option<Timestamp>,
    /// What the new one may do beside what the old one may.
    pub(crate) added: Vec<Permission>,
}

/// Makes a key that may do what another may, and what is added to it; the other one soon holds no longer.
pub(crate) async fn rotate_key(
    store: &Store,
    clock: &dyn Clock,
    old: &KeyRecord,
    rotation: Rotation,
    giver: Permissions,
) -> Result<Issued, IssueError> {
    let now = clock.now();
    if !holds(old, now) {
        return Err(IssueError::Standing(format!("`{}` no longer holds; make a new key", old.name)));
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

/// What a key may do; names we do not know are left out.
fn permissions_of(key: &KeyRecord) -> Vec<Permission> {
    key.permissions.iter().filter_map(|name| name.parse().ok()).collect()
}

fn refuse_more_than(giver: Permissions, wanted: &[Permission]) -> Result<(), IssueError> {
    match wanted.iter().find(|permission| !giver.has(**permission)) {
        None => Ok(()),
        Some(permission) => Err(IssueError::Beyond(format!(
            "you do not have the scope `{permission}`, so you cannot give it"
        ))),
    }
}

/// A key of a project by its id, the end of it, or its name among those that hold.
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
            Err(IssueError::Order(format!("several keys fit `{name}`; give more of the id")))
        }
        (None, _) => Err(IssueError::Missing(format!("there is no key `{name}`; see `toolroom keys`"))),
    }
}

/// Makes a token for an end user. The caller has made sure that the agent exists.
pub(crate) fn make_token(
    seal: &dyn Seal,
    clock: &dyn Clock,
    key: &KeyRecord,
    order: TokenOrder,
) -> Result<(String, Timestamp), IssueError> {
    let TokenOrder { user, agent, origin, expires_in } = order;
    let is_user = !user.trim().is_empty() && !user.chars().any(char::is_control);
    if !is_user || user.chars().nth(USER_CHARS).is_some() {
        return Err(IssueError::Order(format!("a user is one line of up to {USER_CHARS} characters")));
    }
    let lasts = expires_in.map_or(USUAL, Duration::from_secs);
    if !(SHORTEST..=LONGEST).contains(&lasts) {
        let (least, most) = (SHORTEST.as_secs(), LONGEST.as_secs());
        return Err(IssueError::Order(format!("a token holds for {least} to {most} seconds")));
    }
    if let Some(origin) = &origin
        && !key.origins.is_empty()
        && !key.origins.contains(&origin.to_string())
    {
        return Err(IssueError::Beyond(format!("pages of `{origin}` may not use this key, nor its tokens")));
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
