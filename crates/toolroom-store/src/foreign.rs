//! Servers that bring tools of their own, what was accepted of these, and what was last seen of those.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::foreign::{DefinitionRecord, ForeignServers, ServerCondition, ServerRecord};
use toolroom::ledger::LedgerError;
use toolroom::scope::ProjectId;

use crate::row::ReadError;
use crate::setting::Setting;
use crate::{Store, StoreError, statements};

/// A change of what is kept of a server. Rare, so each is a few statements of its own.
#[derive(Debug)]
pub(crate) enum ServerChange {
    /// What a person said about it.
    Record(String),
    /// It is forgotten.
    Remove,
    /// What was seen of it.
    Condition(String),
    /// Tool, what was accepted, what is offered.
    Definitions(Vec<(String, Option<String>, Option<String>)>),
}

impl ServerChange {
    /// Writes it inside the open transaction; gives the number of servers that were changed.
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
        match self {
            Self::Record(record) => {
                let query = of_server(statements::SET_SERVER).bind(record.clone()).bind(now.as_micros());
                Ok(query.execute(connection).await?.rows_affected())
            }
            Self::Remove => {
                of_server(statements::DELETE_DEFINITIONS).execute(&mut *connection).await?;
                Ok(of_server(statements::DELETE_SERVER).execute(connection).await?.rows_affected())
            }
            Self::Condition(condition) => {
                let query = of_server(statements::SET_CONDITION).bind(condition.clone());
                Ok(query.execute(connection).await?.rows_affected())
            }
            Self::Definitions(definitions) => {
                of_server(statements::DELETE_DEFINITIONS).execute(&mut *connection).await?;
                for (tool, accepted, offered) in definitions {
                    let query = of_server(statements::INSERT_DEFINITION).bind(tool.clone());
                    let query = query.bind(accepted.clone()).bind(offered.clone()).bind(now.as_micros());
                    query.execute(&mut *connection).await?;
                }
                Ok(1)
            }
        }
    }
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
        changed.await.map_err(|error| LedgerError::new("keep the server", error))
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
        let query = statements::SERVERS.query().bind(project.as_str().to_owned());
        Box::pin(self.server_rows(query, |row| parsed(row, "record", row.try_get(1)?)))
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
        let read = |row: &SqliteRow| {
            let document = |column: usize, name| {
                let text: Option<&str> = row.try_get(column)?;
                text.map(|text| parsed(row, name, text)).transpose()
            };
            let (accepted, offered) = (document(1, "accepted")?, document(2, "offered")?);
            Ok(DefinitionRecord { tool: row.try_get(0)?, accepted, offered })
        };
        Box::pin(self.server_rows(query.bind(server.to_owned()), read))
    }

    fn set_definitions<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
        definitions: &'a [DefinitionRecord],
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            let text = |document: &Option<serde_json::Value>| document.as_ref().map(ToString::to_string);
            let rows = definitions.iter();
            let rows = rows.map(|row| (row.tool.clone(), text(&row.accepted), text(&row.offered))).collect();
            self.change_server(project, server, Ok(ServerChange::Definitions(rows))).await.map(drop)
        })
    }

    fn condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
    ) -> BoxFuture<'a, Result<ServerCondition, LedgerError>> {
        Box::pin(async move {
            let query = statements::CONDITION.query().bind(project.as_str().to_owned());
            let read = |row: &SqliteRow| {
                let text: Option<&str> = row.try_get(0)?;
                text.map(|text| parsed(row, "condition", text)).transpose()
            };
            let found = self.server_rows(query.bind(server.to_owned()), read).await?;
            Ok(found.into_iter().flatten().next().unwrap_or_default())
        })
    }

    fn set_condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
        condition: &'a ServerCondition,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            let change = serde_json::to_string(condition).map(ServerChange::Condition);
            self.change_server(project, server, change).await.map(drop)
        })
    }
}

/// What cannot be read is an error, not a gap: a lock that is not seen would hold nothing.
fn parsed<T: serde::de::DeserializeOwned>(
    row: &SqliteRow,
    column: &'static str,
    text: &str,
) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|error| {
        let (id, value) = (row.try_get(0).unwrap_or_default(), error.to_string());
        ReadError::Unknown(StoreError::Unreadable { id, column, value })
    })
}
