//! What was granted for a server, in the vault.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use toolroom::BoxFuture;
use toolroom::scope::ProjectId;
use toolroom_host::folder_lock::FolderLock;
use toolroom_host::folders::make_private;
use toolroom_store::{Store, StoreError};
use toolroom_tools::mcp::McpError;
use toolroom_tools::mcp::oauth::{Grant, Grants, Turn};

use crate::vault::{SecretRecord, Vault};

/// How long another process may renew.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the names of secrets begin with that were made for a server.
pub(crate) fn secrets_of(server: &str) -> String {
    format!("mcp.{server}.")
}

/// What the names of those begin with that were granted: entries name none of them.
pub(super) fn granted_to(server: &str) -> String {
    format!("{}oauth.", secrets_of(server))
}

/// Forgets what was granted for a server; says whether anything was.
pub(crate) async fn forget_grants(
    store: &Store,
    project: &ProjectId,
    server: &str,
) -> Result<bool, StoreError> {
    forget(store, project, &granted_to(server)).await
}

/// Forgets every secret that was made for a server alone.
pub(crate) async fn forget_secrets(
    store: &Store,
    project: &ProjectId,
    server: &str,
) -> Result<bool, StoreError> {
    forget(store, project, &secrets_of(server)).await
}

async fn forget(store: &Store, project: &ProjectId, beginning: &str) -> Result<bool, StoreError> {
    let mut any = false;
    for secret in store.secrets(project).await? {
        if secret.name.starts_with(beginning) {
            any |= store.remove_secret(project, &secret.name).await?;
        }
    }
    Ok(any)
}

/// Where grants of one server are kept.
pub(super) struct KeptGrants {
    pub(super) vault: Arc<Vault>,
    pub(super) project: ProjectId,
    pub(super) server: String,
    /// A folder of its own, which whoever renews has alone.
    pub(super) folder: PathBuf,
}

impl KeptGrants {
    fn secret(&self) -> String {
        format!("{}grant", granted_to(&self.server))
    }
}

impl Grants for KeptGrants {
    fn kept(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>> {
        Box::pin(async move {
            let seen = self.vault.seen(&self.project).await.map_err(|error| unkept(&error))?;
            let Some(found) = seen.into_iter().find(|seen| seen.name == self.secret()) else {
                return Ok(None);
            };
            let sealed = found.opened.map_err(|error| unkept(&error))?;
            // What is none, or from before, is as good as nothing: a person signs in again.
            Ok(SecretRecord::read(sealed.expose()))
        })
    }

    fn keep<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let text = SecretRecord::text(grant, grant.secrets()).map_err(|error| unkept(&error))?;
            let kept = self.vault.set_secret(&self.project, &self.secret(), &text).await;
            kept.map(drop).map_err(|error| unkept(&error))
        })
    }

    fn turn(&self) -> BoxFuture<'_, Result<Turn, McpError>> {
        Box::pin(async move {
            let waited = async {
                loop {
                    let folder = self.folder.clone();
                    let alone = spawn_blocking(move || {
                        make_private(&folder)?;
                        FolderLock::exclusive(&folder)
                    });
                    match alone.await.map_err(|error| unkept(&error))?.map_err(|error| unkept(&error))? {
                        Some(turn) => return Ok(Box::new(turn) as Turn),
                        None => sleep(LOOK_EVERY).await,
                    }
                }
            };
            let busy = "another process renews the token, and does not come to an end; try again";
            timeout(PATIENCE, waited).await.map_err(|_| McpError::Unauthorized { why: busy.to_owned() })?
        })
    }
}

fn unkept(error: &dyn std::fmt::Display) -> McpError {
    McpError::Unauthorized { why: format!("the token is not kept: {error}") }
}
