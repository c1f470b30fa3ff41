//! What is kept of calls beside the journal, told without its content.

use serde::Serialize;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;
use toolroom::ledger::{ArtifactId, CallId};
use toolroom::scope::Scope;
use toolroom::tool::Offer;

use crate::journal::user;
use crate::row::{shared, size};
use crate::{Store, StoreError, offer, statements};

/// A whole result, or a file that came with one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptArtifact {
    /// Its id.
    pub id: ArtifactId,
    /// The call it came from.
    pub call: CallId,
    /// The tool of that call.
    pub tool: std::sync::Arc<str>,
    /// What to call it, if it was offered as a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    pub media_type: String,
    /// How large it is.
    pub bytes: u64,
    /// When it was kept.
    pub kept_at: Timestamp,
}

impl Store {
    /// What is kept for somebody, the newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn kept_artifacts(&self, scope: &Scope, limit: u32) -> Result<Vec<KeptArtifact>, StoreError> {
        let query = statements::KEPT_ARTIFACTS.query();
        let query = query.bind(scope.project.as_str().to_owned()).bind(user(scope)).bind(i64::from(limit));
        let reader = self.reader();
        let rows = reader.rows(query).await?;
        rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
    }
}

fn read(row: &SqliteRow) -> Result<KeptArtifact, sqlx::Error> {
    let id = ArtifactId::new(row.try_get(0)?);
    let offers = offer::read(row, 6)?;
    let file = offers.iter().filter_map(Offer::file).find(|file| file.artifact == id);
    Ok(KeptArtifact {
        name: file.map(|file| file.name.clone()),
        id,
        call: CallId::new(row.try_get(1)?),
        tool: shared(row, 2)?,
        media_type: row.try_get(3)?,
        bytes: size(row, 4)?,
        kept_at: Timestamp::from_micros(row.try_get(5)?),
    })
}
