//! Replies that may be asked for twice: whoever names a request gets the same reply to it again, and nothing is done
//! a second time.

use std::time::Duration;

use sqlx::Row;
use toolroom::scope::ProjectId;

use super::IdentityChange;
use crate::setting::Setting;
use crate::{Store, StoreError, statements};

/// How long a reply is kept.
pub(super) const KEPT: Duration = Duration::from_hours(24);

/// What a caller calls a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReplyName {
    /// The caller's project.
    pub project: ProjectId,
    /// Who it is: names are their own.
    pub caller: String,
    /// The name.
    pub name: String,
}

/// What was replied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptReply {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// What is known of a named request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimedReply {
    /// Nobody used the name: it is yours to work on.
    New,
    /// The same request is being worked on, or the process that did so has died.
    Open,
    /// It was replied to.
    Kept(KeptReply),
    /// The name belongs to another request.
    Other,
}

impl Store {
    /// Claims a name for a request, told apart by its hash.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claim_reply(&self, name: &ReplyName, request: &str) -> Result<ClaimedReply, StoreError> {
        let claim = IdentityChange::ClaimReply { name: name.clone(), request: request.to_owned() };
        if self.set(Setting::Identity(claim)).await? > 0 {
            return Ok(ClaimedReply::New);
        }
        let query = statements::REPLY.query().bind(name.project.as_str().to_owned());
        let query = query.bind(name.caller.clone()).bind(name.name.clone());
        let Some(row) = self.reader().row(query).await? else { return Ok(ClaimedReply::Open) };
        let read = || -> Result<_, sqlx::Error> {
            if row.try_get::<&str, _>(0)? != request {
                return Ok(ClaimedReply::Other);
            }
            let status = row.try_get::<Option<i64>, _>(1)?.and_then(|status| u16::try_from(status).ok());
            let body: Option<String> = row.try_get(2)?;
            Ok(match (status, body) {
                (Some(status), Some(body)) => ClaimedReply::Kept(KeptReply { status, body }),
                _ => ClaimedReply::Open,
            })
        };
        read().map_err(|error| self.reader().failed(error))
    }

    /// Keeps what was replied; without a reply the name is free again.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn keep_reply(&self, name: ReplyName, reply: Option<KeptReply>) -> Result<(), StoreError> {
        self.set(Setting::Identity(IdentityChange::KeepReply { name, reply })).await.map(drop)
    }
}
