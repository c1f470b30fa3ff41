//! Whole results: kept once per content and project, read by whoever owns the call.

use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::ledger::{Artifact, ArtifactId, Artifacts, CallId, LedgerError};
use toolroom::scope::{Scope, UserId};

use crate::journal::user;
use crate::{Store, statements};

impl Artifacts for Store {
    fn artifact<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<Artifact>, LedgerError>> {
        Box::pin(async move {
            let query = statements::ARTIFACT
                .query()
                .bind(id.as_str().to_owned())
                .bind(scope.project.as_str().to_owned())
                .bind(user(scope));
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

fn read(row: &SqliteRow, scope: &Scope, id: &ArtifactId) -> Result<Artifact, sqlx::Error> {
    let media_type = match row.try_get::<&str, _>(2)? {
        Artifact::TEXT => Artifact::TEXT,
        _ => Artifact::JSON,
    };
    Ok(Artifact {
        id: id.clone(),
        call: CallId::new(row.try_get(1)?),
        scope: Scope {
            project: scope.project.clone(),
            user: row.try_get::<Option<&str>, _>(0)?.map(UserId::new),
        },
        media_type,
        bytes: row.try_get::<&[u8], _>(4)?.into(),
        kept_at: Timestamp::from_micros(row.try_get(3)?),
    })
}

/// Writes one artifact inside the open transaction. Its call has to be there already.
pub(crate) async fn keep(connection: &mut SqliteConnection, artifact: &Artifact) -> Result<(), sqlx::Error> {
    statements::KEEP_ARTIFACT
        .query()
        .bind(artifact.scope.project.as_str().to_owned())
        .bind(sha256(&artifact.bytes))
        .bind(artifact.bytes.to_vec())
        .bind(artifact.id.as_str().to_owned())
        .bind(user(&artifact.scope))
        .bind(artifact.call.as_str().to_owned())
        .bind(artifact.media_type)
        .bind(artifact.kept_at.as_micros())
        .execute(connection)
        .await?;
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
