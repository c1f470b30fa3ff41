//! Changes of projects, keys, signed-in browsers and stored replies.

use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use crate::statements::{self, Bound};
use crate::{KeyRecord, ProjectRecord, ReplyName, RetiredKey, SignInKind, StoredReply};

/// How long a reply is stored.
const REPLY_LIFETIME: Duration = Duration::from_hours(24);

#[derive(Debug)]
pub(crate) enum IdentityChange {
    SetProject(ProjectRecord),
    RemoveProject(ProjectId),
    AddKey { key: Box<KeyRecord>, retired: Option<RetiredKey> },
    ExpireKey { project: ProjectId, retired: RetiredKey },
    AllowSignIn { kind: SignInKind, sha256: String, project: ProjectId, until: Timestamp },
    EndSignIn { kind: SignInKind, sha256: String },
    ClaimReply { name: ReplyName, request: String },
    StoreReply { name: ReplyName, reply: Option<StoredReply> },
}

impl IdentityChange {
    /// Whether cached settings become stale.
    pub(crate) const fn is_standing(&self) -> bool {
        match self {
            Self::SetProject(_) | Self::RemoveProject(_) | Self::AddKey { .. } | Self::ExpireKey { .. } => {
                true
            }
            Self::AllowSignIn { .. }
            | Self::EndSignIn { .. }
            | Self::ClaimReply { .. }
            | Self::StoreReply { .. } => false,
        }
    }

    /// Writes the change inside the open transaction. Returns the number of changed rows.
    pub(crate) async fn write(
        &self,
        connection: &mut SqliteConnection,
        now: Timestamp,
    ) -> Result<u64, sqlx::Error> {
        let mut changed = 0;
        for query in self.queries(now) {
            changed = query.execute(&mut *connection).await?.rows_affected();
        }
        Ok(changed)
    }

    /// The statements, of which the last one's row count is reported.
    fn queries(&self, now: Timestamp) -> Vec<Bound> {
        match self {
            Self::SetProject(project) => vec![
                statements::SET_PROJECT
                    .query()
                    .bind(project.id.as_str().to_owned())
                    .bind(project.name.clone())
                    .bind(i64::from(project.host_tools))
                    .bind(project.created_at.as_micros()),
            ],
            Self::RemoveProject(id) => vec![
                statements::DELETE_KEYS.query().bind(id.as_str().to_owned()),
                statements::DELETE_PROJECT.query().bind(id.as_str().to_owned()),
            ],
            Self::AddKey { key, retired } => {
                let retired = retired.iter().map(|retired| expire(&key.project, retired));
                retired.chain([insert(key)]).collect()
            }
            Self::ExpireKey { project, retired } => vec![expire(project, retired)],
            Self::AllowSignIn { kind, sha256, project, until } => vec![
                statements::DELETE_OLD_SIGN_INS.query().bind(now.as_micros()),
                statements::INSERT_SIGN_IN
                    .query()
                    .bind(sha256.clone())
                    .bind(kind.as_str())
                    .bind(project.as_str().to_owned())
                    .bind(now.as_micros())
                    .bind(until.as_micros()),
            ],
            Self::EndSignIn { kind, sha256 } => {
                let query = statements::DELETE_SIGN_IN.query().bind(sha256.clone()).bind(kind.as_str());
                vec![query.bind(now.as_micros())]
            }
            Self::ClaimReply { name, request } => vec![
                statements::DELETE_OLD_REPLIES.query().bind(now.before(REPLY_LIFETIME).as_micros()),
                bind_name(statements::CLAIM_REPLY.query(), name).bind(request.clone()).bind(now.as_micros()),
            ],
            Self::StoreReply { name, reply: Some(reply) } => vec![
                bind_name(statements::STORE_REPLY.query(), name)
                    .bind(i64::from(reply.status))
                    .bind(reply.body.clone()),
            ],
            Self::StoreReply { name, reply: None } => vec![bind_name(statements::DROP_REPLY.query(), name)],
        }
    }
}

fn bind_name(query: Bound, name: &ReplyName) -> Bound {
    query.bind(name.project.as_str().to_owned()).bind(name.caller.clone()).bind(name.name.clone())
}

fn expire(project: &ProjectId, retired: &RetiredKey) -> Bound {
    let query = statements::EXPIRE_KEY.query().bind(project.as_str().to_owned());
    query.bind(retired.id.clone()).bind(retired.until.as_micros())
}

fn insert(key: &KeyRecord) -> Bound {
    let texts = |texts: &[String]| serde_json::Value::from(texts).to_string();
    statements::INSERT_KEY
        .query()
        .bind(key.id.clone())
        .bind(key.project.as_str().to_owned())
        .bind(key.name.clone())
        .bind(key.environment.clone())
        .bind(key.sha256.clone())
        .bind(key.hint.clone())
        .bind(texts(&key.permissions))
        .bind(texts(&key.origins))
        .bind(key.created_at.as_micros())
        .bind(key.expires_at.map(Timestamp::as_micros))
}
