//! Artifacts: whole results and files. Contents are stored once per project; the owner of the call may read them.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use tokio::task::{JoinHandle, spawn_blocking};
use toolroom::BoxFuture;
use toolroom::ledger::{Artifact, ArtifactId, Artifacts, CallId, LedgerError};
use toolroom::scope::{Scope, UserId};
use toolroom::tool::Offer;

use crate::sqlite::journal::read_offers;
use crate::sqlite::row::{shared, size, timestamp, user};
use crate::{ArtifactFacts, Store, StoreError, StoredArtifact, statements};

impl Artifacts for Store {
    fn artifact<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<Artifact>, LedgerError>> {
        Box::pin(async move {
            let query = bind_artifact(statements::ARTIFACT, scope, id);
            let reader = self.reader();
            let row = reader.row(query).await;
            row.and_then(|row| {
                let artifact = row.map(|row| read_artifact(&row, scope, id)).transpose();
                artifact.map_err(|error| reader.failed(error))
            })
            .map_err(|error| LedgerError::new("read the artifact", error))
        })
    }
}

impl Store {
    /// Metadata of an artifact in this scope. Its content is not read.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn artifact_facts(
        &self,
        scope: &Scope,
        id: &ArtifactId,
    ) -> Result<Option<ArtifactFacts>, StoreError> {
        let row = self.reader().row(bind_artifact(statements::ARTIFACT_FACTS, scope, id)).await?;
        row.as_ref().map(read_facts).transpose().map_err(|error| self.reader().failed(error))
    }

    /// A range of bytes of an artifact in this scope, cut off at its end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn artifact_part(
        &self,
        scope: &Scope,
        id: &ArtifactId,
        part: Range<u64>,
    ) -> Result<Option<Bytes>, StoreError> {
        let number = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let query = bind_artifact(statements::ARTIFACT_PART, scope, id)
            .bind(number(part.start.saturating_add(1)))
            .bind(number(part.end.saturating_sub(part.start)));
        let row = self.reader().row(query).await?;
        let bytes = row.map(|row| row.try_get::<Vec<u8>, _>("part")).transpose();
        Ok(bytes.map_err(|error| self.reader().failed(error))?.map(Bytes::from))
    }

    /// The artifacts in this scope, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stored_artifacts(
        &self,
        scope: &Scope,
        limit: u32,
    ) -> Result<Vec<StoredArtifact>, StoreError> {
        let query = statements::ARTIFACTS.query();
        let query = query.bind(scope.project.as_str().to_owned()).bind(user(scope)).bind(i64::from(limit));
        let reader = self.reader();
        let rows = reader.rows(query).await?;
        rows.iter().map(|row| read_stored(row).map_err(|error| reader.failed(error))).collect()
    }
}

/// Binds $1 id, $2 project, $3 user.
fn bind_artifact(statement: statements::Statement, scope: &Scope, id: &ArtifactId) -> statements::Bound {
    let (id, project) = (id.as_str().to_owned(), scope.project.as_str().to_owned());
    statement.query().bind(id).bind(project).bind(user(scope))
}

fn read_artifact(row: &SqliteRow, scope: &Scope, id: &ArtifactId) -> Result<Artifact, sqlx::Error> {
    let media_type = match row.try_get::<&str, _>("media_type")? {
        Artifact::TEXT => Cow::Borrowed(Artifact::TEXT),
        Artifact::JSON => Cow::Borrowed(Artifact::JSON),
        other => Cow::Owned(other.to_owned()),
    };
    Ok(Artifact {
        id: id.clone(),
        call: CallId::new(row.try_get("call_id")?),
        scope: Scope {
            project: scope.project.clone(),
            user: row.try_get::<Option<&str>, _>("user_id")?.map(UserId::new),
        },
        media_type,
        bytes: row.try_get::<Vec<u8>, _>("bytes")?.into(),
        kept_at: timestamp(row, "kept_at")?,
    })
}

fn read_facts(row: &SqliteRow) -> Result<ArtifactFacts, sqlx::Error> {
    Ok(ArtifactFacts {
        call: CallId::new(row.try_get("call_id")?),
        media_type: row.try_get("media_type")?,
        kept_at: timestamp(row, "kept_at")?,
        bytes: size(row, "bytes")?,
    })
}

fn read_stored(row: &SqliteRow) -> Result<StoredArtifact, sqlx::Error> {
    let id = ArtifactId::new(row.try_get("id")?);
    let offers = read_offers(row)?;
    let file = offers.iter().filter_map(Offer::file).find(|file| file.artifact == id);
    Ok(StoredArtifact {
        name: file.map(|file| file.name.clone()),
        id,
        call: CallId::new(row.try_get("call_id")?),
        tool: shared(row, "tool")?,
        media_type: row.try_get("media_type")?,
        bytes: size(row, "bytes")?,
        kept_at: timestamp(row, "kept_at")?,
    })
}

/// Larger contents are hashed and copied on the blocking pool.
const MAX_INLINE_BYTES: usize = 1 << 20;

/// The hashes of a call's artifacts, in their order.
#[derive(Debug)]
pub(crate) enum Hashes {
    Ready(Vec<String>),
    /// Large artifacts are hashed while the writer commits other units.
    Pending(JoinHandle<Vec<String>>),
}

impl Hashes {
    pub(crate) fn start(artifacts: &[Artifact]) -> Self {
        let all = |contents: &[Bytes]| contents.iter().map(|bytes| sha256(bytes)).collect();
        let contents: Vec<Bytes> = artifacts.iter().map(|artifact| artifact.bytes.clone()).collect();
        let total = contents.iter().map(Bytes::len).sum::<usize>();
        match total > MAX_INLINE_BYTES {
            false => Self::Ready(all(&contents)),
            true => Self::Pending(spawn_blocking(move || all(&contents))),
        }
    }

    /// Waits until they are ready.
    pub(crate) async fn settle(&mut self) {
        if let Self::Pending(hashes) = self {
            // After a failure, `write_artifact` computes each hash itself.
            *self = Self::Ready(hashes.await.unwrap_or_default());
        }
    }

    /// Whether [`Hashes::settle`] returns at once.
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            Self::Ready(_) => true,
            Self::Pending(hashes) => hashes.is_finished(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        match self {
            Self::Ready(hashes) => hashes.get(index).map(String::as_str),
            Self::Pending(_) => None,
        }
    }
}

/// Writes one artifact inside the open transaction. The row of its call has to exist.
pub(crate) async fn write_artifact(
    connection: &mut SqliteConnection,
    artifact: &Artifact,
    hash: Option<&str>,
) -> Result<(), sqlx::Error> {
    let bytes = artifact.bytes.clone();
    let copy = match bytes.len() > MAX_INLINE_BYTES {
        false => bytes.to_vec(),
        true => spawn_blocking(move || bytes.to_vec()).await.map_err(|_| sqlx::Error::WorkerCrashed)?,
    };
    statements::WRITE_ARTIFACT
        .query()
        .bind(artifact.scope.project.as_str().to_owned())
        .bind(hash.map_or_else(|| sha256(&artifact.bytes), str::to_owned))
        .bind(copy)
        .bind(artifact.id.as_str().to_owned())
        .bind(user(&artifact.scope))
        .bind(artifact.call.as_str().to_owned())
        .bind(artifact.media_type.to_string())
        .bind(artifact.kept_at.as_micros())
        .execute(connection)
        .await?;
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
