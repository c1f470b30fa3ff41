//! OAuth grants of servers, stored in the vault.

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
use toolroom_tools::mcp::oauth::{Grant, GrantStore, RefreshLock};

use crate::vault::{SecretRecord, Vault};

/// How long another process may take to refresh a token.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Prefix of the names of secrets that belong to a server.
pub(crate) fn secret_prefix(server: &str) -> String {
    format!("mcp.{server}.")
}

/// Prefix of the names of OAuth secrets. Entries cannot refer to them.
pub(super) fn oauth_prefix(server: &str) -> String {
    format!("{}oauth.", secret_prefix(server))
}

/// Deletes the grant of a server. Returns whether there was one.
pub(crate) async fn forget_grants(
    store: &Store,
    project: &ProjectId,
    server: &str,
) -> Result<bool, StoreError> {
    forget(store, project, &oauth_prefix(server)).await
}

/// Deletes all secrets that belong to a server.
pub(crate) async fn forget_secrets(
    store: &Store,
    project: &ProjectId,
    server: &str,
) -> Result<bool, StoreError> {
    forget(store, project, &secret_prefix(server)).await
}

async fn forget(store: &Store, project: &ProjectId, prefix: &str) -> Result<bool, StoreError> {
    let mut any = false;
    for secret in store.secrets(project).await? {
        if secret.name.starts_with(prefix) {
            any |= store.remove_secret(project, &secret.name).await?;
        }
    }
    Ok(any)
}

/// The grant of one server in the vault.
pub(super) struct VaultGrant {
    pub(super) vault: Arc<Vault>,
    pub(super) project: ProjectId,
    pub(super) server: String,
    /// The server's folder; locked during a refresh.
    pub(super) folder: PathBuf,
}

impl VaultGrant {
    fn secret(&self) -> String {
        format!("{}grant", oauth_prefix(&self.server))
    }
}

impl GrantStore for VaultGrant {
    fn load(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>> {
        Box::pin(async move {
            let seen = self.vault.list(&self.project).await.map_err(|error| storage_error(&error))?;
            let Some(found) = seen.into_iter().find(|seen| seen.name == self.secret()) else {
                return Ok(None);
            };
            let sealed = found.opened.map_err(|error| storage_error(&error))?;
            // `None` for an invalid or older record: the user signs in again.
            Ok(SecretRecord::read(sealed.expose()))
        })
    }

    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let text = SecretRecord::text(grant, grant.secrets()).map_err(|error| storage_error(&error))?;
            let stored = self.vault.set_secret(&self.project, &self.secret(), &text).await;
            stored.map(drop).map_err(|error| storage_error(&error))
        })
    }

    fn lock_refresh(&self) -> BoxFuture<'_, Result<RefreshLock, McpError>> {
        Box::pin(async move {
            let locked = async {
                loop {
                    let folder = self.folder.clone();
                    let attempt = spawn_blocking(move || {
                        make_private(&folder)?;
                        FolderLock::exclusive(&folder)
                    });
                    let attempt = attempt.await.map_err(|error| storage_error(&error))?;
                    match attempt.map_err(|error| storage_error(&error))? {
                        Some(lock) => return Ok(Box::new(lock) as RefreshLock),
                        None => sleep(POLL_INTERVAL).await,
                    }
                }
            };
            let busy = "another process has been refreshing the token for too long; try again";
            timeout(LOCK_TIMEOUT, locked)
                .await
                .map_err(|_| McpError::Unauthorized { why: busy.to_owned() })?
        })
    }
}

fn storage_error(error: &dyn std::fmt::Display) -> McpError {
    McpError::Unauthorized { why: format!("the token cannot be stored or read: {error}") }
}
