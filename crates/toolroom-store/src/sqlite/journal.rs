//! Reading the journal: calls and what they offered to their client.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallFilter, CallId, CallRecord, CallStatus, Journal, LedgerError, ToolUsage};
use toolroom::scope::Scope;
use toolroom::tool::Offer;

use crate::sqlite::call_row::read_call;
use crate::sqlite::reader::Reader;
use crate::sqlite::row::{shared, size, timestamp, user};
use crate::{Store, StoreError, statements};

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
            usage.map_err(|error| LedgerError::new("count calls by tool", error))
        })
    }
}

async fn count_usage(reader: &Reader, scope: &Scope) -> Result<Vec<ToolUsage>, StoreError> {
    let query = statements::USAGE.query().bind(scope.project.as_str().to_owned()).bind(user(scope));
    let rows = reader.rows(query).await?;
    let read = |row: &SqliteRow| -> Result<ToolUsage, sqlx::Error> {
        Ok(ToolUsage {
            tool: shared(row, "tool")?,
            calls: size(row, "calls")?,
            last_at: timestamp(row, "last_at")?,
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
    rows.iter().map(|row| read_record(reader, row)).collect()
}

async fn find(reader: &Reader, scope: &Scope, id: &CallId) -> Result<Option<CallRecord>, StoreError> {
    let query = statements::CALL
        .query()
        .bind(id.as_str().to_owned())
        .bind(scope.project.as_str().to_owned())
        .bind(user(scope));
    let row = reader.row(query).await?;
    row.map(|row| read_record(reader, &row)).transpose()
}

/// A call with its offers.
fn read_record(reader: &Reader, row: &SqliteRow) -> Result<CallRecord, StoreError> {
    let call = read_call(row).and_then(|call| Ok(CallRecord { offers: read_offers(row)?, ..call }));
    call.map_err(|error| reader.failed(error))
}

/// The offers of a call. Offers that this version cannot read are left out: they must not hide the call.
pub(crate) fn read_offers(row: &SqliteRow) -> Result<Vec<Offer>, sqlx::Error> {
    let text = row.try_get::<Option<&str>, _>("offers")?;
    Ok(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
}

/// Writes the offers of a call inside the open transaction. The row of the call has to exist.
pub(crate) async fn write_offers(
    connection: &mut SqliteConnection,
    call: &CallRecord,
) -> Result<(), sqlx::Error> {
    let offers = serde_json::to_string(&call.offers).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    let query = statements::WRITE_OFFERS.query().bind(call.id.as_str().to_owned()).bind(offers);
    query.execute(connection).await?;
    Ok(())
}
