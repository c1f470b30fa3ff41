//! Agents that users define.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::BoxFuture;
use toolroom::agent::{AgentRecord, Agents};
use toolroom::conversation::AgentId;
use toolroom::ledger::LedgerError;
use toolroom::scope::ProjectId;

use crate::sqlite::row::{ReadError, decode};
use crate::sqlite::settings::Setting;
use crate::{Store, StoreError, statements};

impl Agents for Store {
    fn agents<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Vec<AgentRecord>, LedgerError>> {
        Box::pin(async move {
            let rows = self.reader().rows(statements::AGENTS.query().bind(project.as_str().to_owned())).await;
            let agents = rows.and_then(|rows| {
                rows.iter().map(|row| read(row).map_err(|error| self.reader().failed(error))).collect()
            });
            agents.map_err(|error| LedgerError::new("read the agents", error))
        })
    }

    fn set_agent<'a>(
        &'a self,
        project: &'a ProjectId,
        agent: &'a AgentRecord,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            let failed = |error| LedgerError::new("write the agent", error);
            let record =
                serde_json::to_string(agent).map_err(|error| failed(StoreError::at_encoding(error)))?;
            let setting =
                Setting::Agent { project: project.clone(), id: agent.id.clone(), record: Some(record) };
            self.set(setting).await.map(drop).map_err(failed)
        })
    }

    fn remove_agent<'a>(
        &'a self,
        project: &'a ProjectId,
        id: &'a AgentId,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            let removed = Setting::Agent { project: project.clone(), id: id.clone(), record: None };
            let rows = self.set(removed).await;
            rows.map(|rows| rows > 0).map_err(|error| LedgerError::new("remove the agent", error))
        })
    }
}

/// Fails on a record that cannot be read: skipping it would let another agent, with other tools, take its id.
fn read(row: &SqliteRow) -> Result<AgentRecord, ReadError> {
    decode(row.try_get("id")?, "record", row.try_get("record")?)
}
