//! Projects, keys, signed-in browsers, and replies under idempotency keys. What a scope means, and how a key looks, is the
//! server's business.

mod change;

use std::sync::Arc;

pub(crate) use change::IdentityChange;
use foldhash::HashMap;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use crate::sqlite::reader::Reader;
use crate::sqlite::row::{ReadError, decode};
use crate::sqlite::settings::Setting;
use crate::{
    KeyRecord, ProjectRecord, ReplyClaim, ReplyName, RetiredKey, SignInKind, Store, StoreError, StoredReply,
    statements,
};

/// All keys by their hash.
pub(crate) type Keys = HashMap<String, Arc<KeyRecord>>;

/// Projects.
impl Store {
    /// Every project that has a row, by id, as of now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn projects(&self) -> Result<Arc<Vec<ProjectRecord>>, StoreError> {
        self.standing_reader().projects().await
    }

    /// Creates or replaces a project; a replaced one keeps its time of creation.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_project(&self, project: ProjectRecord) -> Result<(), StoreError> {
        self.change_identity(IdentityChange::SetProject(project)).await.map(drop)
    }

    /// Deletes a project and its keys, but not its journal. Returns whether it existed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_project(&self, id: &ProjectId) -> Result<bool, StoreError> {
        Ok(self.change_identity(IdentityChange::RemoveProject(id.clone())).await? > 0)
    }

    async fn change_identity(&self, change: IdentityChange) -> Result<u64, StoreError> {
        self.set(Setting::Identity(change)).await
    }
}

/// Keys.
impl Store {
    /// The key with this hash, as of now, expired or not.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn key_of_hash(&self, sha256: &str) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        Ok(self.standing_reader().keys().await?.get(sha256).cloned())
    }

    /// Every key of every project.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_keys(&self) -> Result<Vec<Arc<KeyRecord>>, StoreError> {
        Ok(self.standing_reader().keys().await?.values().cloned().collect())
    }

    /// The keys of a project, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn keys(&self, project: &ProjectId) -> Result<Vec<Arc<KeyRecord>>, StoreError> {
        let keys = self.standing_reader().keys().await?;
        let mut own: Vec<_> = keys.values().filter(|key| key.project == *project).cloned().collect();
        own.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(own)
    }

    /// Inserts a key, and sets the expiry of the key it replaces.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn add_key(&self, key: KeyRecord, retired: Option<RetiredKey>) -> Result<(), StoreError> {
        self.change_identity(IdentityChange::AddKey { key: Box::new(key), retired }).await.map(drop)
    }

    /// Sets the expiry of a key. Returns whether there was one that would have been valid for longer.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn expire_key(
        &self,
        project: &ProjectId,
        id: &str,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let retired = RetiredKey { id: id.to_owned(), until };
        let change = IdentityChange::ExpireKey { project: project.clone(), retired };
        Ok(self.change_identity(change).await? > 0)
    }
}

/// Browsers of the owner: a link that works once, then a session. Only hashes are stored.
impl Store {
    /// Stores the hash of a link or session.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn allow_sign_in(
        &self,
        kind: SignInKind,
        sha256: &str,
        project: &ProjectId,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let (sha256, project) = (sha256.to_owned(), project.clone());
        self.change_identity(IdentityChange::AllowSignIn { kind, sha256, project, until }).await.map(drop)
    }

    /// The project of a link or session that is valid now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn signed_in(
        &self,
        kind: SignInKind,
        sha256: &str,
        now: Timestamp,
    ) -> Result<Option<ProjectId>, StoreError> {
        let query = statements::SIGN_IN.query().bind(sha256.to_owned()).bind(kind.as_str());
        let row = self.reader().row(query.bind(now.as_micros())).await?;
        let project = row.map(|row| row.try_get("project").map(ProjectId::new)).transpose();
        project.map_err(|error| self.reader().failed(error))
    }

    /// Ends a link or session. Returns whether it was valid until now: true for one of several concurrent callers.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn end_sign_in(&self, kind: SignInKind, sha256: &str) -> Result<bool, StoreError> {
        let ended = IdentityChange::EndSignIn { kind, sha256: sha256.to_owned() };
        Ok(self.change_identity(ended).await? > 0)
    }
}

/// Replies stored under an idempotency key: the same request gets the same reply, and is not executed again.
impl Store {
    /// Claims an idempotency key for a request, which its hash identifies.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claim_reply(&self, name: &ReplyName, request: &str) -> Result<ReplyClaim, StoreError> {
        let claim = IdentityChange::ClaimReply { name: name.clone(), request: request.to_owned() };
        if self.change_identity(claim).await? > 0 {
            return Ok(ReplyClaim::New);
        }
        let query = statements::REPLY.query().bind(name.project.as_str().to_owned());
        let query = query.bind(name.caller.clone()).bind(name.name.clone());
        let Some(row) = self.reader().row(query).await? else { return Ok(ReplyClaim::InProgress) };
        read_claim(&row, request).map_err(|error| self.reader().failed(error))
    }

    /// Stores the reply of a claimed request. `None` releases the idempotency key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn store_reply(&self, name: ReplyName, reply: Option<StoredReply>) -> Result<(), StoreError> {
        self.change_identity(IdentityChange::StoreReply { name, reply }).await.map(drop)
    }
}

pub(crate) async fn read_projects(reader: &Reader) -> Result<Vec<ProjectRecord>, StoreError> {
    let rows = reader.rows(statements::PROJECTS.query()).await?;
    rows.iter().map(|row| read_project(row).map_err(|error| reader.failed(error))).collect()
}

pub(crate) async fn read_keys(reader: &Reader) -> Result<Keys, StoreError> {
    let rows = reader.rows(statements::ALL_KEYS.query()).await?;
    let keys = rows.iter().map(|row| {
        let key = read_key(row).map_err(|error| reader.failed(error))?;
        Ok((key.sha256.clone(), Arc::new(key)))
    });
    keys.collect()
}

fn read_project(row: &SqliteRow) -> Result<ProjectRecord, sqlx::Error> {
    Ok(ProjectRecord {
        id: ProjectId::new(row.try_get("id")?),
        name: row.try_get("name")?,
        host_tools: row.try_get::<i64, _>("host_tools")? != 0,
        created_at: Timestamp::from_micros(row.try_get("created_at")?),
    })
}

/// Fails on lists that cannot be read, rather than returning a key without scopes.
fn read_key(row: &SqliteRow) -> Result<KeyRecord, ReadError> {
    let id: String = row.try_get("id")?;
    Ok(KeyRecord {
        project: ProjectId::new(row.try_get("project")?),
        name: row.try_get("name")?,
        environment: row.try_get("environment")?,
        sha256: row.try_get("sha256")?,
        hint: row.try_get("hint")?,
        permissions: decode(&id, "permissions", row.try_get("permissions")?)?,
        origins: decode(&id, "origins", row.try_get("origins")?)?,
        created_at: Timestamp::from_micros(row.try_get("created_at")?),
        expires_at: row.try_get::<Option<i64>, _>("expires_at")?.map(Timestamp::from_micros),
        id,
    })
}

fn read_claim(row: &SqliteRow, request: &str) -> Result<ReplyClaim, sqlx::Error> {
    if row.try_get::<&str, _>("request")? != request {
        return Ok(ReplyClaim::Mismatch);
    }
    let status = row.try_get::<Option<i64>, _>("status")?.and_then(|status| u16::try_from(status).ok());
    let body: Option<String> = row.try_get("body")?;
    Ok(match (status, body) {
        (Some(status), Some(body)) => ReplyClaim::Stored(StoredReply { status, body }),
        _ => ReplyClaim::InProgress,
    })
}
