//! Tracks: the stored provenance of a conversation, session or caller.

use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use toolroom::BoxFuture;
use toolroom::ledger::LedgerError;
use toolroom::provenance::{Track, TrackChange, Tracks};
use toolroom::scope::{Scope, UserId};

use crate::sqlite::row::without_nul;
use crate::sqlite::writer::{Outcome, Work};
use crate::{Store, statements};

/// Tracks without a conversation are deleted when they were not touched for this long. The kernel touches a track in use
/// once a day, and `policy.provenance.direct_calls` is at most half of this.
const TRACK_LIFETIME: Duration = Duration::from_hours(60 * 24);

impl Tracks for Store {
    fn track<'a>(
        &'a self,
        scope: &'a Scope,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Track>, LedgerError>> {
        Box::pin(async move {
            let row = self.reader().row(statements::TRACK.query().bind(id(scope, name))).await;
            let track = row.and_then(|row| {
                row.map(|row| read(row.try_get("track")?))
                    .transpose()
                    .map_err(|error| self.reader().failed(error))
            });
            track.map_err(|error| LedgerError::new("read the track", error))
        })
    }

    fn add_to_track(&self, change: TrackChange) -> BoxFuture<'static, Result<(), LedgerError>> {
        let written = self.submit(Work::Track(Box::new(change)));
        Box::pin(async move {
            let written = written.await.map(drop);
            written.map_err(|error| LedgerError::new("write the track", error))
        })
    }
}

/// Adds to a track inside the open transaction.
pub(crate) async fn write_track(
    connection: &mut SqliteConnection,
    change: &TrackChange,
) -> Result<Outcome, sqlx::Error> {
    let id = id(&change.scope, &change.name);
    let row = statements::TRACK.query().bind(id.clone()).fetch_optional(&mut *connection).await?;
    if row.is_none() {
        let old = change.at.before(TRACK_LIFETIME).as_micros();
        statements::DELETE_OLD_TRACKS.query().bind(old).execute(&mut *connection).await?;
        statements::DELETE_OLD_LIFTS.query().bind(old).execute(&mut *connection).await?;
    }
    let known = row.map(|row| read(row.try_get("track")?)).transpose()?;
    let track = Track::with(known, change);
    let text = serde_json::to_string(&track).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let set = statements::SET_TRACK.query().bind(id).bind(conversation(&change.name)).bind(text);
    set.bind(track.touched_at.as_micros()).execute(connection).await?;
    Ok(Outcome::Written)
}

fn id(scope: &Scope, name: &str) -> String {
    let user = scope.user.as_ref().map(UserId::as_str);
    serde_json::json!([scope.project.as_str(), user, without_nul(name)]).to_string()
}

/// The conversation a track belongs to.
fn conversation(name: &str) -> Option<String> {
    name.strip_prefix("conversation/").map(without_nul)
}

fn read(text: &str) -> Result<Track, sqlx::Error> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}
