//! Whole results and files beside them: kept once per content and project, read by whoever owns the call.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use tokio::task::{JoinHandle, spawn_blocking};
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::ledger::{Artifact, ArtifactId, Artifacts, CallId, LedgerError};
use toolroom::scope::{Scope, UserId};

use crate::journal::user;
use crate::{Store, StoreError, statements};

impl Artifacts for Store {
    fn artifact<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<Artifact>, LedgerError>> {
        Box::pin(async move {
            let query = of(statements::ARTIFACT, scope, id);
            let reader = self.reader();
            let row = reader.row(query).await;
            row.and_then(|row| {
                let read = row.map(|row| read(&row, scope, id)).transpose();
                read.map_err(|error| reader.failed(error))
            })
            .map_err(|error| LedgerError::new("read the artifact", error))
        })
    }
}

/// What an artifact is, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactFacts {
    /// The call it came from.
    pub call: CallId,
    /// What kind of content it is.
    pub media_type: String,
    /// How large it is.
    pub bytes: u64,
    /// When it was kept.
    pub kept_at: Timestamp,
}

impl Store {
    /// What an artifact is, if whoever asks may read it. Its content is not touched.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn artifact_facts(
        &self,
        scope: &Scope,
        id: &ArtifactId,
    ) -> Result<Option<ArtifactFacts>, StoreError> {
        let row = self.reader().row(of(statements::ARTIFACT_FACTS, scope, id)).await?;
        let read = |row: &SqliteRow| {
            Ok::<_, sqlx::Error>(ArtifactFacts {
                call: CallId::new(row.try_get(0)?),
                media_type: row.try_get(1)?,
                kept_at: Timestamp::from_micros(row.try_get(2)?),
                bytes: u64::try_from(row.try_get::<i64, _>(3)?).unwrap_or(0),
            })
        };
        row.as_ref().map(read).transpose().map_err(|error| self.reader().failed(error))
    }

    /// Some bytes of an artifact, as far as it has them, if whoever asks may read it.
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
        let query = of(statements::ARTIFACT_PART, scope, id)
            .bind(number(part.start.saturating_add(1)))
            .bind(number(part.end.saturating_sub(part.start)));
        let row = self.reader().row(query).await?;
        let read = row.map(|row| row.try_get::<Vec<u8>, _>(0)).transpose();
        Ok(read.map_err(|error| self.reader().failed(error))?.map(Bytes::from))
    }
}

/// An artifact that whoever asks may read.
fn of(statement: statements::Statement, scope: &Scope, id: &ArtifactId) -> statements::Bound {
    let (id, project) = (id.as_str().to_owned(), scope.project.as_str().to_owned());
    statement.query().bind(id).bind(project).bind(user(scope))
}

fn read(row: &SqliteRow, scope: &Scope, id: &ArtifactId) -> Result<Artifact, sqlx::Error> {
    let media_type = match row.try_get::<&str, _>(2)? {
        Artifact::TEXT => Cow::Borrowed(Artifact::TEXT),
        Artifact::JSON => Cow::Borrowed(Artifact::JSON),
        other => Cow::Owned(other.to_owned()),
    };
    Ok(Artifact {
        id: id.clone(),
        call: CallId::new(row.try_get(1)?),
        scope: Scope {
            project: scope.project.clone(),
            user: row.try_get::<Option<&str>, _>(0)?.map(UserId::new),
        },
        media_type,
        bytes: row.try_get::<Vec<u8>, _>(4)?.into(),
        kept_at: Timestamp::from_micros(row.try_get(3)?),
    })
}

/// What is larger is hashed and copied where that holds nobody up.
const QUICK_BYTES: usize = 1 << 20;

/// The hashes of a call's artifacts, in their order.
#[derive(Debug)]
pub(crate) enum Hashes {
    Known(Vec<String>),
    /// Those of large ones are made while others are written.
    Coming(JoinHandle<Vec<String>>),
}

impl Hashes {
    pub(crate) fn of(artifacts: &[Artifact]) -> Self {
        let all = |contents: &[Bytes]| contents.iter().map(|bytes| sha256(bytes)).collect();
        let contents: Vec<Bytes> = artifacts.iter().map(|artifact| artifact.bytes.clone()).collect();
        let total = contents.iter().map(Bytes::len).sum::<usize>();
        match total > QUICK_BYTES {
            false => Self::Known(all(&contents)),
            true => Self::Coming(spawn_blocking(move || all(&contents))),
        }
    }

    /// Waits until they are there.
    pub(crate) async fn settle(&mut self) {
        if let Self::Coming(hashes) = self {
            // Each that is missing then is made when it is needed.
            *self = Self::Known(hashes.await.unwrap_or_default());
        }
    }

    /// Whether nobody has to wait for them.
    pub(crate) fn are_there(&self) -> bool {
        match self {
            Self::Known(_) => true,
            Self::Coming(hashes) => hashes.is_finished(),
        }
    }

    pub(crate) fn get(&self, place: usize) -> Option<&str> {
        match self {
            Self::Known(hashes) => hashes.get(place).map(String::as_str),
            Self::Coming(_) => None,
        }
    }
}

/// Writes one artifact inside the open transaction. Its call has to be there already.
pub(crate) async fn keep(
    connection: &mut SqliteConnection,
    artifact: &Artifact,
    hash: Option<&str>,
) -> Result<(), sqlx::Error> {
    let bytes = artifact.bytes.clone();
    let copy = match bytes.len() > QUICK_BYTES {
        false => bytes.to_vec(),
        true => spawn_blocking(move || bytes.to_vec()).await.map_err(|_| sqlx::Error::WorkerCrashed)?,
    };
    statements::KEEP_ARTIFACT
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
