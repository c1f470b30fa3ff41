//! Memories, and those that were promoted to an agent's prompt.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::conversation::AgentId;
use toolroom::ledger::LedgerError;
use toolroom::memory::{Category, Memories, Memory, PROMOTION_HITS, Promotion, Remember};
use toolroom::policy::Provenance;
use toolroom::scope::Scope;

use crate::sqlite::instance::Instance;
use crate::sqlite::row::{count, size, timestamp, user, without_nul};
use crate::sqlite::writer::{Outcome, Work};
use crate::statements::{Bound, Statement};
use crate::{Store, StoreError, statements};

/// A change of the memories of one user. Rare, so each is a few statements of its own.
#[derive(Debug)]
pub(crate) struct MemoryChange {
    scope: Scope,
    key: String,
    action: MemoryAction,
}

#[derive(Debug)]
enum MemoryAction {
    Remember { content: String, category: Option<Category>, source: Option<String>, stored_under: Provenance },
    Forget,
    Reinforce,
    Promote { agent: AgentId, addition: String },
    Demote { agent: AgentId },
}

impl Memories for Store {
    fn remember<'a>(
        &'a self,
        scope: &'a Scope,
        what: Remember,
    ) -> BoxFuture<'a, Result<Memory, LedgerError>> {
        Box::pin(async move {
            let Remember { key, content, category, source, stored_under } = what;
            let action = MemoryAction::Remember { content, category, source, stored_under };
            let memory = self.change(scope, &key, action).await;
            let memory = memory.and_then(|outcome| memory_of(outcome)?.ok_or(StoreError::Closed));
            memory.map_err(|error| LedgerError::new("remember", error))
        })
    }

    fn forget<'a>(&'a self, scope: &'a Scope, key: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            let forgotten = self.change(scope, key, MemoryAction::Forget).await.and_then(memory_of);
            forgotten
                .map(|memory| memory.is_some())
                .map_err(|error| LedgerError::new("forget the memory", error))
        })
    }

    fn reinforce<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Memory>, LedgerError>> {
        Box::pin(async move {
            let memory = self.change(scope, key, MemoryAction::Reinforce).await.and_then(memory_of);
            memory.map_err(|error| LedgerError::new("reinforce the memory", error))
        })
    }

    fn memory<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Memory>, LedgerError>> {
        Box::pin(async move {
            let row = self.reader().row(bind_scope(statements::MEMORY, scope).bind(without_nul(key))).await;
            let memory = row.and_then(|row| {
                row.map(|row| read_memory(&row)).transpose().map_err(|error| self.reader().failed(error))
            });
            memory.map_err(|error| LedgerError::new("read the memory", error))
        })
    }

    fn memories<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Memory>, LedgerError>> {
        Box::pin(async move {
            let rows = self.reader().rows(bind_scope(statements::MEMORIES, scope)).await;
            let memories = rows.and_then(|rows| {
                rows.iter().map(|row| read_memory(row).map_err(|error| self.reader().failed(error))).collect()
            });
            memories.map_err(|error| LedgerError::new("list memories", error))
        })
    }

    fn promote<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
        agent: &'a AgentId,
        addition: &'a str,
    ) -> BoxFuture<'a, Result<Option<Promotion>, LedgerError>> {
        Box::pin(async move {
            let action = MemoryAction::Promote { agent: agent.clone(), addition: addition.to_owned() };
            let promotion = self.change(scope, key, action).await.and_then(promotion_of);
            promotion.map_err(|error| LedgerError::new("promote the memory", error))
        })
    }

    fn demote<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
        agent: &'a AgentId,
    ) -> BoxFuture<'a, Result<Option<Promotion>, LedgerError>> {
        Box::pin(async move {
            let action = MemoryAction::Demote { agent: agent.clone() };
            let promotion = self.change(scope, key, action).await.and_then(promotion_of);
            promotion.map_err(|error| LedgerError::new("undo the promotion", error))
        })
    }

    fn promotions<'a>(
        &'a self,
        scope: &'a Scope,
        agent: &'a AgentId,
    ) -> BoxFuture<'a, Result<Vec<Promotion>, LedgerError>> {
        Box::pin(async move {
            let query = bind_scope(statements::PROMOTIONS, scope).bind(agent.as_str().to_owned());
            let rows = self.reader().rows(query).await;
            let promotions = rows.and_then(|rows| {
                let read = |row| read_promotion(row).map_err(|error| self.reader().failed(error));
                rows.iter().map(read).collect()
            });
            promotions.map_err(|error| LedgerError::new("list promotions", error))
        })
    }
}

impl Store {
    async fn change(&self, scope: &Scope, key: &str, action: MemoryAction) -> Result<Outcome, StoreError> {
        let change = MemoryChange { scope: scope.clone(), key: without_nul(key), action };
        Ok(self.submit(Work::Memory(Box::new(change))).await?)
    }
}

impl MemoryChange {
    /// Writes the change inside the open transaction.
    pub(crate) async fn write(
        &self,
        connection: &mut SqliteConnection,
        instance: &Instance,
    ) -> Result<Outcome, sqlx::Error> {
        let now = instance.now();
        match &self.action {
            MemoryAction::Remember { content, category, source, stored_under } => {
                let category = category.map(Category::as_str);
                let (content, source) = (without_nul(content), source.as_deref().map(without_nul));
                let changed = self
                    .bind(statements::CHANGE_MEMORY)
                    .bind(content.clone())
                    .bind(category)
                    .bind(source.clone())
                    .bind(now.as_micros())
                    .bind(provenance_text(*stored_under));
                if let Some(row) = changed.fetch_optional(&mut *connection).await? {
                    return read_memory(&row).map(Some).map(Outcome::Memory);
                }
                let memory = Memory {
                    key: self.key.clone(),
                    content,
                    category: category.and_then(Category::from_name).unwrap_or_default(),
                    hits: 1,
                    source,
                    stored_under: *stored_under,
                    created_at: now,
                    updated_at: now,
                };
                self.insert(connection, &memory).await?;
                Ok(Outcome::Memory(Some(memory)))
            }
            MemoryAction::Forget => self.memory(connection, self.bind(statements::DELETE_MEMORY)).await,
            MemoryAction::Reinforce => {
                let query = self.bind(statements::REINFORCE_MEMORY).bind(now.as_micros());
                self.memory(connection, query).await
            }
            MemoryAction::Promote { agent, addition } => {
                let query = self
                    .bind(statements::PROMOTE_MEMORY)
                    .bind(count(PROMOTION_HITS))
                    .bind(instance.fresh_id("promo"))
                    .bind(agent.as_str().to_owned())
                    .bind(without_nul(addition))
                    .bind(now.as_micros());
                let Some(row) = query.fetch_optional(&mut *connection).await? else {
                    return Ok(Outcome::Promotion(None));
                };
                self.bind(statements::DELETE_MEMORY).execute(connection).await?;
                read_promotion(&row).map(|promotion| Outcome::Promotion(Some(Box::new(promotion))))
            }
            MemoryAction::Demote { agent } => {
                let query = self.bind(statements::DELETE_PROMOTION).bind(agent.as_str().to_owned());
                let Some(row) = query.fetch_optional(&mut *connection).await? else {
                    return Ok(Outcome::Promotion(None));
                };
                let promotion = read_promotion(&row)?;
                self.insert(connection, &promotion.memory).await?;
                Ok(Outcome::Promotion(Some(Box::new(promotion))))
            }
        }
    }

    /// Binds $1 project, $2 user, $3 key.
    fn bind(&self, statement: Statement) -> Bound {
        bind_scope(statement, &self.scope).bind(self.key.clone())
    }

    async fn memory(&self, connection: &mut SqliteConnection, query: Bound) -> Result<Outcome, sqlx::Error> {
        let row = query.fetch_optional(connection).await?;
        row.map(|row| read_memory(&row)).transpose().map(Outcome::Memory)
    }

    /// Does nothing if the key exists.
    async fn insert(&self, connection: &mut SqliteConnection, memory: &Memory) -> Result<(), sqlx::Error> {
        self.bind(statements::INSERT_MEMORY)
            .bind(memory.content.clone())
            .bind(memory.category.as_str())
            .bind(memory.source.clone())
            .bind(count(memory.hits))
            .bind(memory.created_at.as_micros())
            .bind(memory.updated_at.as_micros())
            .bind(provenance_text(memory.stored_under))
            .execute(connection)
            .await?;
        Ok(())
    }
}

/// Binds $1 project, $2 user.
fn bind_scope(statement: Statement, scope: &Scope) -> Bound {
    statement.query().bind(scope.project.as_str().to_owned()).bind(user(scope))
}

fn memory_of(outcome: Outcome) -> Result<Option<Memory>, StoreError> {
    match outcome {
        Outcome::Memory(memory) => Ok(memory),
        // Impossible.
        _ => Err(StoreError::Closed),
    }
}

fn promotion_of(outcome: Outcome) -> Result<Option<Promotion>, StoreError> {
    match outcome {
        Outcome::Promotion(promotion) => Ok(promotion.map(|promotion| *promotion)),
        // Impossible.
        _ => Err(StoreError::Closed),
    }
}

/// NULL for no provenance.
fn provenance_text(provenance: Provenance) -> Option<String> {
    (!provenance.is_none()).then(|| serde_json::json!(provenance).to_string())
}

/// The memory in a row with `memory_columns!`. An unknown category becomes the default.
fn read_memory(row: &SqliteRow) -> Result<Memory, sqlx::Error> {
    Ok(Memory {
        key: row.try_get("key")?,
        content: row.try_get("content")?,
        category: Category::from_name(row.try_get("category")?).unwrap_or_default(),
        hits: size(row, "hits")?,
        source: row.try_get("source")?,
        created_at: timestamp(row, "created_at")?,
        updated_at: timestamp(row, "updated_at")?,
        stored_under: match row.try_get::<Option<&str>, _>("stored_under")? {
            Some(text) => serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))?,
            None => Provenance::NONE,
        },
    })
}

fn read_promotion(row: &SqliteRow) -> Result<Promotion, sqlx::Error> {
    Ok(Promotion {
        memory: read_memory(row)?,
        agent: AgentId::new(row.try_get("agent")?),
        addition: row.try_get("addition")?,
        at: timestamp(row, "promoted_at")?,
    })
}
