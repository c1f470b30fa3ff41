//! What calls offered to the client of whoever made them.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::ledger::CallRecord;
use toolroom::tool::Offer;

use crate::statements;

/// Where it stands in a row of the journal: behind the columns of the call.
pub(crate) const IN_JOURNAL: usize = 25;

/// Writes what a call offers inside the open transaction. The call has to be there already.
pub(crate) async fn keep(connection: &mut SqliteConnection, call: &CallRecord) -> Result<(), sqlx::Error> {
    let offers = serde_json::to_string(&call.offers).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    let query = statements::KEEP_OFFERS.query().bind(call.id.as_str().to_owned()).bind(offers);
    query.execute(connection).await?;
    Ok(())
}

/// What a call offered. Whatever this version does not know is left out: it must not hide the call.
pub(crate) fn read(row: &SqliteRow, column: usize) -> Result<Vec<Offer>, sqlx::Error> {
    let text = row.try_get::<Option<&str>, _>(column)?;
    Ok(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
}
