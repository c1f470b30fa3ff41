//! Foreign servers, the accepted definitions of their tools, and their last observed condition.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::foreign::{
    DefinitionChange, DefinitionRecord, ForeignServers, ServerCondition, ServerRecord, UnreadableServer,
};
use toolroom::ledger::LedgerError;
use toolroom::scope::ProjectId;

use crate::sqlite::row::ReadError;
use crate::sqlite::settings::Setting;
use crate::{ServerEntry, Store, StoreError, statements};

/// A change of a server. Rare, so each is a few statements of its own.
#[derive(Debug)]
pub(crate) enum ServerChange {
    /// Its record, encoded.
    Record(String),
    /// A checked entry of a batch of settings.
    Enter(Box<ServerEntry>),
    /// Its record, if it still is `before`.
    Replace { before: Box<ServerRecord>, after: Box<ServerRecord> },
    /// Enables or disables it.
    Switch(bool, Timestamp),
    /// Deletes it.
    Remove,
    /// Its condition, encoded, if the record is the same.
    Condition(Box<ServerRecord>, String),
    /// Definitions of its tools, if the record is the same.
    Definitions(Box<ServerRecord>, Vec<DefinitionChange>),
}

impl ServerChange {
    /// Whether cached settings become stale: secrets are deleted with it.
    pub(crate) fn is_standing(&self) -> bool {
        matches!(self, Self::Enter(entry) if entry.deleted_secrets.is_some())
    }

    /// Why the change cannot be written to the database as it is, if so.
    pub(crate) async fn refusal(
        &self,
        connection: &mut SqliteConnection,
        project: &ProjectId,
    ) -> Result<Option<StoreError>, sqlx::Error> {
        let Self::Enter(entry) = self else { return Ok(None) };
        let name = &entry.record.name;
        let query = statements::SERVER.query().bind(project.as_str().to_owned()).bind(name.clone());
        let row = query.fetch_optional(connection).await?;
        let stored = row.as_ref().and_then(read_record).filter(|stored| stored.name == *name);
        Ok((stored != entry.before).then(|| StoreError::ServerChanged { name: name.clone() }))
    }

    /// Writes the change inside the open transaction. Returns the number of changed servers or definitions. What it compares
    /// with is read in the same transaction.
    pub(crate) async fn write(
        &self,
        connection: &mut SqliteConnection,
        project: &ProjectId,
        name: &str,
        now: Timestamp,
    ) -> Result<u64, sqlx::Error> {
        let of_server = |statement: statements::Statement| {
            statement.query().bind(project.as_str().to_owned()).bind(name.to_owned())
        };
        let set = |record: &ServerRecord| {
            let record = serde_json::to_string(record).map_err(|error| sqlx::Error::Encode(error.into()))?;
            Ok::<_, sqlx::Error>(of_server(statements::SET_SERVER).bind(record).bind(now.as_micros()))
        };
        let row = of_server(statements::SERVER).fetch_optional(&mut *connection).await?;
        let stored = row.as_ref().and_then(read_record);
        match self {
            Self::Record(record) => {
                let query = of_server(statements::SET_SERVER).bind(record.clone()).bind(now.as_micros());
                Ok(query.execute(connection).await?.rows_affected())
            }
            Self::Enter(entry) => {
                let changed = set(&entry.record)?.execute(&mut *connection).await?.rows_affected();
                if let Some(prefix) = &entry.deleted_secrets {
                    let query = statements::DELETE_SECRETS_FROM.query().bind(project.as_str().to_owned());
                    query.bind(prefix.clone()).execute(&mut *connection).await?;
                }
                if let Some(row) = row.filter(|_| entry.is_other_server) {
                    let has_listed = condition(&row).ok().flatten().is_some_and(|seen| seen.has_listed);
                    let fresh = ServerCondition { has_listed, ..ServerCondition::default() };
                    let fresh =
                        serde_json::to_string(&fresh).map_err(|error| sqlx::Error::Encode(error.into()))?;
                    of_server(statements::SET_CONDITION).bind(fresh).execute(connection).await?;
                }
                Ok(changed)
            }
            Self::Switch(is_enabled, at) => {
                let (Some(record), Some(row)) = (stored, row) else { return Ok(0) };
                let seen = condition(&row);
                let has_failed =
                    matches!(&seen, Ok(Some(seen)) if seen.is_given_up || !seen.failures.is_empty());
                // No change, no new `changed_at`.
                if record.is_enabled == *is_enabled && !has_failed {
                    return Ok(1);
                }
                let record = ServerRecord { is_enabled: *is_enabled, changed_at: *at, ..record };
                if *is_enabled && let Ok(Some(seen)) = seen {
                    let (era, is_given_up, failures) = (None, false, Vec::new());
                    let seen = ServerCondition { era, is_given_up, failures, ..seen };
                    let seen =
                        serde_json::to_string(&seen).map_err(|error| sqlx::Error::Encode(error.into()))?;
                    of_server(statements::SET_CONDITION).bind(seen).execute(&mut *connection).await?;
                }
                Ok(set(&record)?.execute(connection).await?.rows_affected())
            }
            Self::Replace { before, .. } if stored.as_ref() != Some(before) => Ok(0),
            Self::Replace { after, .. } => Ok(set(after)?.execute(connection).await?.rows_affected()),
            Self::Remove => {
                of_server(statements::DELETE_DEFINITIONS).execute(&mut *connection).await?;
                Ok(of_server(statements::DELETE_SERVER).execute(connection).await?.rows_affected())
            }
            Self::Condition(of, _) | Self::Definitions(of, _) if stored.as_ref() != Some(of) => Ok(0),
            Self::Condition(_, condition) => {
                let query = of_server(statements::SET_CONDITION).bind(condition.clone());
                Ok(query.execute(connection).await?.rows_affected())
            }
            Self::Definitions(_, changes) => {
                let rows = of_server(statements::DEFINITIONS).fetch_all(&mut *connection).await?;
                let known: Vec<DefinitionRecord> =
                    rows.iter().filter_map(|row| definition(row).ok()).collect();
                let mut changed = 0;
                for DefinitionChange { before, after } in changes {
                    let Some(tool) = after.as_ref().or(before.as_ref()).map(|record| &record.tool) else {
                        continue;
                    };
                    if known.iter().find(|record| record.tool == *tool) != before.as_ref() {
                        continue;
                    }
                    let query = match after {
                        Some(after) => of_server(statements::SET_DEFINITION)
                            .bind(tool.clone())
                            .bind(after.accepted.as_ref().map(ToString::to_string))
                            .bind(after.offered.as_ref().map(ToString::to_string))
                            .bind(now.as_micros()),
                        None => of_server(statements::DELETE_DEFINITION).bind(tool.clone()),
                    };
                    changed += query.execute(&mut *connection).await?.rows_affected();
                }
                Ok(changed)
            }
        }
    }
}

/// The record of a server, if it can be read.
fn read_record(row: &SqliteRow) -> Option<ServerRecord> {
    parsed(row, "name", "record", row.try_get("record").ok()?).ok()
}

impl Store {
    async fn change_server(
        &self,
        project: &ProjectId,
        name: &str,
        change: Result<ServerChange, serde_json::Error>,
    ) -> Result<u64, LedgerError> {
        let changed = async {
            let change = change.map_err(StoreError::at_encoding)?;
            self.set(Setting::Server { project: project.clone(), name: name.to_owned(), change }).await
        };
        changed.await.map_err(|error| LedgerError::new("write the server", error))
    }

    /// Each record, or why it cannot be read.
    async fn entries(
        &self,
        project: &ProjectId,
    ) -> Result<Vec<Result<ServerRecord, UnreadableServer>>, LedgerError> {
        let query = statements::SERVERS.query().bind(project.as_str().to_owned());
        let read = |row: &SqliteRow| {
            let (name, record): (String, &str) = (row.try_get("name")?, row.try_get("record")?);
            let record = serde_json::from_str::<ServerRecord>(record).map_err(|error| error.to_string());
            let is_own = |record: &ServerRecord| record.name == name;
            let other = || "it is the record of another server".to_owned();
            let record = record.and_then(|record| if is_own(&record) { Ok(record) } else { Err(other()) });
            Ok(record.map_err(|why| UnreadableServer { name, why }))
        };
        self.server_rows(query, read).await
    }

    async fn server_rows<T>(
        &self,
        query: statements::Bound,
        read: impl Fn(&SqliteRow) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, LedgerError> {
        let rows = self.reader().rows(query).await;
        let read = rows.and_then(|rows| {
            rows.iter().map(|row| read(row).map_err(|error| self.reader().failed(error))).collect()
        });
        read.map_err(|error| LedgerError::new("read the servers", error))
    }
}

impl ForeignServers for Store {
    fn servers<'a>(
        &'a self,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<Vec<ServerRecord>, LedgerError>> {
        Box::pin(async move {
            let entries = self.entries(project).await?;
            Ok(entries.into_iter().filter_map(Result::ok).collect())
        })
    }

    fn unreadable<'a>(
        &'a self,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<Vec<UnreadableServer>, LedgerError>> {
        Box::pin(async move {
            let entries = self.entries(project).await?;
            Ok(entries.into_iter().filter_map(Result::err).collect())
        })
    }

    fn set_server<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            let change = serde_json::to_string(server).map(ServerChange::Record);
            self.change_server(project, &server.name, change).await.map(drop)
        })
    }

    fn replace_server<'a>(
        &'a self,
        project: &'a ProjectId,
        before: &'a ServerRecord,
        after: &'a ServerRecord,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let change =
            Ok(ServerChange::Replace { before: Box::new(before.clone()), after: Box::new(after.clone()) });
        Box::pin(async move { Ok(self.change_server(project, &before.name, change).await? > 0) })
    }

    fn switch_server<'a>(
        &'a self,
        project: &'a ProjectId,
        name: &'a str,
        is_enabled: bool,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let change = Ok(ServerChange::Switch(is_enabled, at));
        Box::pin(async move { Ok(self.change_server(project, name, change).await? > 0) })
    }

    fn remove_server<'a>(
        &'a self,
        project: &'a ProjectId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move { Ok(self.change_server(project, name, Ok(ServerChange::Remove)).await? > 0) })
    }

    fn definitions<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<DefinitionRecord>, LedgerError>> {
        let query = statements::DEFINITIONS.query().bind(project.as_str().to_owned());
        Box::pin(self.server_rows(query.bind(server.to_owned()), definition))
    }

    fn change_definitions<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        changes: &'a [DefinitionChange],
    ) -> BoxFuture<'a, Result<u64, LedgerError>> {
        Box::pin(async move {
            let change = ServerChange::Definitions(Box::new(server.clone()), changes.to_vec());
            self.change_server(project, &server.name, Ok(change)).await
        })
    }

    fn condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
    ) -> BoxFuture<'a, Result<ServerCondition, LedgerError>> {
        Box::pin(async move {
            let query = statements::SERVER.query().bind(project.as_str().to_owned());
            let found = self.server_rows(query.bind(server.to_owned()), condition).await?;
            Ok(found.into_iter().flatten().next().unwrap_or_default())
        })
    }

    fn set_condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        condition: &'a ServerCondition,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            let change = serde_json::to_string(condition)
                .map(|condition| ServerChange::Condition(Box::new(server.clone()), condition));
            Ok(self.change_server(project, &server.name, change).await? > 0)
        })
    }
}

fn definition(row: &SqliteRow) -> Result<DefinitionRecord, ReadError> {
    let document = |column| {
        let text: Option<&str> = row.try_get(column)?;
        text.map(|text| parsed(row, "tool", column, text)).transpose()
    };
    let (accepted, offered) = (document("accepted")?, document("offered")?);
    Ok(DefinitionRecord { tool: row.try_get("tool")?, accepted, offered })
}

/// The condition of a server; `None` if it is unknown or cannot be read. It guards nothing.
fn condition(row: &SqliteRow) -> Result<Option<ServerCondition>, ReadError> {
    let text: Option<&str> = row.try_get("condition")?;
    Ok(text.and_then(|text| {
        let unread = |error: &_| tracing::warn!(%error, "the condition of a server cannot be read");
        serde_json::from_str(text).inspect_err(unread).ok()
    }))
}

/// Fails on a definition that cannot be read: skipping it would unlock the tool.
fn parsed<T: serde::de::DeserializeOwned>(
    row: &SqliteRow,
    id: &str,
    column: &'static str,
    text: &str,
) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|error| {
        let (id, value) = (row.try_get(id).unwrap_or_default(), error.to_string());
        ReadError::Unknown(StoreError::Unreadable { id, column, value })
    })
}
