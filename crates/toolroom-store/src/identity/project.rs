//! Projects: the walls between owners.

use std::sync::Arc;

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use super::IdentityChange;
use crate::reader::Reader;
use crate::setting::Setting;
use crate::{Store, StoreError, statements};

/// A project as it is kept. The local one exists without a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRecord {
    /// Its id.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// Whether its callers may use the tools that reach into this machine.
    pub host_tools: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Store {
    /// Every project that somebody made or changed, by id, as of now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn projects(&self) -> Result<Arc<Vec<ProjectRecord>>, StoreError> {
        self.standing_reader().projects().await
    }

    /// Keeps a project, in the place of another with its id, which keeps its age.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_project(&self, project: ProjectRecord) -> Result<(), StoreError> {
        self.set(Setting::Identity(IdentityChange::SetProject(project))).await.map(drop)
    }

    /// Takes a project out, and its keys with it. What was done in it stays. Says whether there was one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_project(&self, id: &ProjectId) -> Result<bool, StoreError> {
        let rows = self.set(Setting::Identity(IdentityChange::RemoveProject(id.clone()))).await?;
        Ok(rows > 0)
    }
}

pub(crate) async fn read_projects(reader: &Reader) -> Result<Vec<ProjectRecord>, StoreError> {
    let rows = reader.rows(statements::PROJECTS.query()).await?;
    rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
}

fn read(row: &SqliteRow) -> Result<ProjectRecord, sqlx::Error> {
    Ok(ProjectRecord {
        id: ProjectId::new(row.try_get(0)?),
        name: row.try_get(1)?,
        host_tools: row.try_get::<i64, _>(2)? != 0,
        created_at: Timestamp::from_micros(row.try_get(3)?),
    })
}
