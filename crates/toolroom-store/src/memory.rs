//! What agents remember of their users, and what of it became part of their prompts.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::conversation::AgentId;
use toolroom::ledger::LedgerError;
use toolroom::memory::{Category, Memories, Memory, PROMOTION_HITS, Promotion, Remember};
use toolroom::policy::Provenance;
use toolroom::scope::Scope;

use crate::instance::Instance;
use crate::journal::user;
use crate::row::{count, size, without_nul};
use crate::statements::{Bound, Statement};
use crate::writer::{Outcome, Work};
use crate::{Store, StoreError, statements};

/// A change of what one user's agents remember. Rare, so each is a few statements of its own.
#[derive(Debug)]
pub(crate) struct MemoryChange {
    scope: Scope,
    key: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
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
            let kind = Kind::Remember { content, category, source, stored_under };
            let memory = self.change(scope, &key, kind).await;
            let memory = memory.and_then(|outcome| memory_of(outcome)?.ok_or(StoreError::Closed));
            memory.map_err(|error| LedgerError::new("remember", error))
        })
    }

    fn forget<'a>(&'a self, scope: &'a Scope, key: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            let forgotten = self.change(scope, key, Kind::Forget).await.and_then(memory_of);
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
            let memory = self.change(scope, key, Kind::Reinforce).await.and_then(memory_of);
            memory.map_err(|error| LedgerError::new("reinforce the memory", error))
        })
    }

    fn memory<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Memory>, LedgerError>> {
        Box::pin(async move {
            let row = self.reader().row(of(statements::MEMORY, scope).bind(without_nul(key))).await;
            let memory = row.and_then(|row| {
                row.map(|row| read_memory(&row)).transpose().map_err(|error| self.reader().failed(error))
            });
            memory.map_err(|error| LedgerError::new("read the memory", error))
        })
    }

    fn memories<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Memory>, LedgerError>> {
        Box::pin(async move {
            let rows = self.reader().rows(of(statements::MEMORIES, scope)).await;
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
            let kind = Kind::Promote { agent: agent.clone(), addition: addition.to_owned() };
            let promotion = self.change(scope, key, kind).await.and_then(promotion_of);
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
            let kind = Kind::Demote { agent: agent.clone() };
            let promotion = self.change(scope, key, kind).await.and_then(promotion_of);
            promotion.map_err(|error| LedgerError::new("take the promotion back", error))
        })
    }

    fn promotions<'a>(
        &'a self,
        scope: &'a Scope,
        agent: &'a AgentId,
    ) -> BoxFuture<'a, Result<Vec<Promotion>, LedgerError>> {
        Box::pin(async move {
            let query = of(statements::PROMOTIONS, scope).bind(agent.as_str().to_owned());
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
    async fn change(&self, scope: &Scope, key: &str, kind: Kind) -> Result<Outcome, StoreError> {
        let change = MemoryChange { scope: scope.clone(), key: without_nul(key), kind };
        Ok(self.submit(Work::Memory(Box::new(change))).await?)
    }
}

impl MemoryChange {
    /// Writes it inside the open transaction.
    pub(crate) async fn write(
        &self,
        connection: &mut SqliteConnection,
        instance: &Instance,
    ) -> Result<Outcome, sqlx::Error> {
        let now = instance.now();
        match &self.kind {
            Kind::Remember { content, category, source, stored_under } => {
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
            Kind::Forget => self.memory(connection, self.bind(statements::DELETE_MEMORY)).await,
            Kind::Reinforce => {
                let query = self.bind(statements::REINFORCE_MEMORY).bind(now.as_micros());
                self.memory(connection, query).await
            }
            Kind::Promote { agent, addition } => {
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
            Kind::Demote { agent } => {
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

    /// Whose, and the key.
    fn bind(&self, statement: Statement) -> Bound {
        of(statement, &self.scope).bind(self.key.clone())
    }

    async fn memory(&self, connection: &mut SqliteConnection, query: Bound) -> Result<Outcome, sqlx::Error> {
        let row = query.fetch_optional(connection).await?;
        row.map(|row| read_memory(&row)).transpose().map(Outcome::Memory)
    }

    /// Unless there is one of that key.
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

/// A statement whose first parameters are project and user.
fn of(statement: Statement, scope: &Scope) -> Bound {
    statement.query().bind(scope.project.as_str().to_owned()).bind(user(scope))
}

fn memory_of(outcome: Outcome) -> Result<Option<Memory>, StoreError> {
    match outcome {
        Outcome::Memory(memory) => Ok(memory),
        // Nothing else comes of it.
        _ => Err(StoreError::Closed),
    }
}

fn promotion_of(outcome: Outcome) -> Result<Option<Promotion>, StoreError> {
    match outcome {
        Outcome::Promotion(promotion) => Ok(promotion.map(|promotion| *promotion)),
        // Nothing else comes of it.
        _ => Err(StoreError::Closed),
    }
}

/// Nothing, where nothing was read.
fn provenance_text(provenance: Provenance) -> Option<String> {
    (!provenance.is_none()).then(|| serde_json::json!(provenance).to_string())
}

/// The memory in a row of `memory_columns!`. A category of another version is no reason to forget the rest.
fn read_memory(row: &SqliteRow) -> Result<Memory, sqlx::Error> {
    Ok(Memory {
        key: row.try_get(0)?,
        content: row.try_get(1)?,
        category: Category::from_name(row.try_get(2)?).unwrap_or_default(),
        hits: size(row, 3)?,
        source: row.try_get(4)?,
        created_at: Timestamp::from_micros(row.try_get(5)?),
        updated_at: Timestamp::from_micros(row.try_get(6)?),
        stored_under: match row.try_get::<Option<&str>, _>(7)? {
            Some(text) => serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))?,
            None => Provenance::NONE,
        },
    })
}

fn read_promotion(row: &SqliteRow) -> Result<Promotion, sqlx::Error> {
    Ok(Promotion {
        memory: read_memory(row)?,
        agent: AgentId::new(row.try_get(8)?),
        addition: row.try_get(9)?,
        at: Timestamp::from_micros(row.try_get(10)?),
    })
}
