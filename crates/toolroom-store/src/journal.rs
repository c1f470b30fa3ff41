//! Reading the record of calls.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallFilter, CallId, CallRecord, CallStatus, Journal, LedgerError, ToolUsage};
use toolroom::scope::{Scope, UserId};

use crate::reader::Reader;
use crate::row::{read_call, shared, size};
use crate::{Store, StoreError, offer, statements};

impl Journal for Store {
    fn calls<'a>(
        &'a self,
        scope: &'a Scope,
        filter: CallFilter,
    ) -> BoxFuture<'a, Result<Vec<CallRecord>, LedgerError>> {
        Box::pin(async move {
            let calls = list(self.reader(), scope, filter).await;
            calls.map_err(|error| LedgerError::new("list calls", error))
        })
    }

    fn call<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, LedgerError>> {
        Box::pin(async move {
            let call = find(self.reader(), scope, id).await;
            call.map_err(|error| LedgerError::new("read the call", error))
        })
    }

    fn usage<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolUsage>, LedgerError>> {
        Box::pin(async move {
            let usage = count_usage(self.reader(), scope).await;
            usage.map_err(|error| LedgerError::new("count how much tools are used", error))
        })
    }
}

async fn count_usage(reader: &Reader, scope: &Scope) -> Result<Vec<ToolUsage>, StoreError> {
    let query = statements::USAGE.query().bind(scope.project.as_str().to_owned()).bind(user(scope));
    let rows = reader.rows(query).await?;
    let read = |row: &SqliteRow| -> Result<ToolUsage, sqlx::Error> {
        Ok(ToolUsage {
            tool: shared(row, 0)?,
            calls: size(row, 1)?,
            last_at: Timestamp::from_micros(row.try_get(2)?),
        })
    };
    rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
}

async fn list(reader: &Reader, scope: &Scope, filter: CallFilter) -> Result<Vec<CallRecord>, StoreError> {
    let statement = match filter.run {
        Some(_) => statements::CALLS_OF_RUN,
        None => statements::CALLS,
    };
    let query = statement
        .query()
        .bind(scope.project.as_str().to_owned())
        .bind(user(scope))
        .bind(filter.tool)
        .bind(filter.status.map(CallStatus::as_str))
        .bind(filter.since.map(Timestamp::as_micros))
        .bind(filter.before.as_ref().map(CallId::as_str).map(str::to_owned))
        .bind(filter.id_suffix)
        .bind(i64::from(filter.limit.unwrap_or(CallFilter::DEFAULT_LIMIT)));
    let query = match filter.run {
        Some(run) => query.bind(run),
        None => query,
    };
    let rows = reader.rows(query).await?;
    rows.iter().map(|row| told(reader, row)).collect()
}

async fn find(reader: &Reader, scope: &Scope, id: &CallId) -> Result<Option<CallRecord>, StoreError> {
    let query = statements::CALL
        .query()
        .bind(id.as_str().to_owned())
        .bind(scope.project.as_str().to_owned())
        .bind(user(scope));
    let row = reader.row(query).await?;
    row.map(|row| told(reader, &row)).transpose()
}

/// A call and what it offered.
fn told(reader: &Reader, row: &SqliteRow) -> Result<CallRecord, StoreError> {
    let call = read_call(row)
        .and_then(|call| Ok(CallRecord { offers: offer::read(row, offer::IN_JOURNAL)?, ..call }));
    call.map_err(|error| reader.failed(error))
}

/// The user whose rows alone may be seen.
pub(crate) fn user(scope: &Scope) -> Option<String> {
    scope.user.as_ref().map(UserId::as_str).map(str::to_owned)
}
