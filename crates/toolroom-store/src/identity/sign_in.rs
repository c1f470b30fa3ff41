//! Browsers of the owner: a link that works once, and what the browser shows afterwards. Only hashes are kept.

use sqlx::Row;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use super::IdentityChange;
use crate::setting::Setting;
use crate::{Store, StoreError, statements};

/// What somebody shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInKind {
    /// A link that signs in one browser.
    Link,
    /// A browser that is signed in.
    Browser,
}

impl SignInKind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Browser => "browser",
        }
    }
}

impl Store {
    /// Keeps the hash of what will be shown until then.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn allow_sign_in(
        &self,
        kind: SignInKind,
        sha256: &str,
        project: &ProjectId,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let (sha256, project) = (sha256.to_owned(), project.clone());
        self.set(Setting::Identity(IdentityChange::AllowSignIn { kind, sha256, project, until }))
            .await
            .map(drop)
    }

    /// The project of what is shown, if it holds now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn signed_in(
        &self,
        kind: SignInKind,
        sha256: &str,
        now: Timestamp,
    ) -> Result<Option<ProjectId>, StoreError> {
        let query = statements::SIGN_IN.query().bind(sha256.to_owned()).bind(kind.as_str());
        let row = self.reader().row(query.bind(now.as_micros())).await?;
        let project = row.map(|row| row.try_get(0).map(ProjectId::new)).transpose();
        project.map_err(|error| self.reader().failed(error))
    }

    /// Uses it up. Says whether it held until now; of several who show it at once one hears yes.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn end_sign_in(&self, kind: SignInKind, sha256: &str) -> Result<bool, StoreError> {
        let ended = IdentityChange::EndSignIn { kind, sha256: sha256.to_owned() };
        Ok(self.set(Setting::Identity(ended)).await? > 0)
    }
}
