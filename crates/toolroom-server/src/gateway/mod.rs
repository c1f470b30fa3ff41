//! MCP servers: the gateway of `toolroom-tools`, with the vault and the workspace.

mod check;
mod entries;
mod grants;
mod stored;

use std::path::PathBuf;
use std::sync::Arc;

use toolroom::BoxFuture;
use toolroom::catalog::Catalog;
use toolroom::clock::SystemClock;
use toolroom::foreign::{ServerRecord, Transport};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom::scope::{LOCAL_PROJECT, ProjectId};
use toolroom_host::environment;
use toolroom_host::files::Projects;
use toolroom_host::folders::Folders;
use toolroom_host::net::{EgressRule, Http};
use toolroom_host::process::Supervisor;
use toolroom_store::Store;
use toolroom_tools::mcp::oauth::{OAuthClientConfig, OAuthCredentials, ServerAddress};
use toolroom_tools::mcp::{
    Credentials, Gateway, GatewayServices, LaunchEnvironment, McpError, ServerSecrets,
};

use self::grants::VaultGrant;
use crate::vault::Vault;

pub(crate) use self::check::{
    check_encryption, check_headers, check_variables, checked_url, is_plain, is_secret, is_unnamed_secret,
    process_list_warning, secret_argument, with_query_values,
};
pub(crate) use self::entries::{entry, forget, is_same_server};
pub(crate) use self::grants::{forget_grants, secret_prefix};
pub(crate) use self::stored::StoredSecrets;

/// The gateway of the owner's project. Starts nothing.
pub(crate) fn gateway(
    folders: &Folders,
    files: &Projects,
    store: &Store,
    vault: &Arc<Vault>,
    catalog: &Arc<Catalog>,
    openings: &[EgressRule],
    disk_bytes: u64,
) -> Gateway {
    let workspace = files.workspace(LOCAL_PROJECT);
    let launch_environment = LaunchEnvironment {
        workspace: workspace.path().to_owned(),
        programs_read: workspace.programs_read().to_vec(),
        hidden: vec![folders.config.clone(), folders.data.clone()],
        homes: folders.data.join(SERVERS),
        disk_bytes,
        openings: openings.to_vec(),
    };
    let services = GatewayServices {
        store: Arc::new(store.clone()),
        secrets: Arc::new(VaultSecrets::new(vault, folders)),
        supervisor: Supervisor::new(environment::own_program()),
        launch_environment,
        clock: Arc::new(SystemClock),
        catalog: Arc::downgrade(catalog),
    };
    Gateway::new(ProjectId::default(), services)
}

/// Parent of the servers' folders in the data folder.
pub(crate) const SERVERS: &str = "mcp";

/// The folder of a server. It contains the home folder of its programs.
pub(crate) fn folder_of(folders: &Folders, server: &str) -> PathBuf {
    folders.data.join(SERVERS).join(server)
}

/// Secrets and credentials of servers, from the vault.
pub(crate) struct VaultSecrets {
    vault: Arc<Vault>,
    folders: Folders,
}

impl VaultSecrets {
    pub(crate) fn new(vault: &Arc<Vault>, folders: &Folders) -> Self {
        Self { vault: Arc::clone(vault), folders: folders.clone() }
    }

    /// The OAuth credentials of a server over HTTP.
    pub(crate) async fn oauth_credentials(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        http: Arc<dyn Http>,
        client: OAuthClientConfig,
    ) -> Result<OAuthCredentials, McpError> {
        let address = match &server.transport {
            Transport::Http(address) | Transport::Sse(address) => {
                ServerAddress { url: address.url.clone(), is_internal: address.is_internal }
            }
            Transport::Stdio(_) => ServerAddress { url: String::new(), is_internal: false },
        };
        let grant = VaultGrant {
            vault: Arc::clone(&self.vault),
            project: project.clone(),
            server: server.name.clone(),
            folder: folder_of(&self.folders, &server.name),
        };
        OAuthCredentials::open(http, address, client, Arc::new(grant), None).await
    }
}

impl ServerSecrets for VaultSecrets {
    fn credentials<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        http: Arc<dyn Http>,
    ) -> BoxFuture<'a, Result<Arc<dyn Credentials>, McpError>> {
        Box::pin(async move {
            let client = OAuthClientConfig::default();
            let credentials = self.oauth_credentials(project, server, http, client).await?;
            Ok(Arc::new(credentials) as Arc<dyn Credentials>)
        })
    }

    fn secret<'a>(&'a self, project: &'a ProjectId, name: &'a str) -> BoxFuture<'a, Result<Secret, String>> {
        Box::pin(async move {
            let seen = self.vault.list(project).await.map_err(|error| error.to_string())?;
            let found = seen.into_iter().find(|seen| seen.name == name);
            let missing =
                || format!("the secret `{name}` is not set; set it with `toolroom secrets set {name}`");
            found.ok_or_else(missing)?.opened.map_err(|error| error.to_string())
        })
    }

    fn redact<'a>(&'a self, project: &'a ProjectId, text: String) -> BoxFuture<'a, String> {
        Box::pin(async move {
            if text.is_empty() {
                return text;
            }
            match self.vault.redacted_values(project).await {
                Ok(secrets) => Redactor::new(secrets, Patterns::Keys).redact_text(&text).into_owned(),
                // Text that cannot be redacted is dropped.
                Err(error) => {
                    tracing::warn!(%error, "dropped the output of an MCP server: cannot read the secrets to redact");
                    String::new()
                }
            }
        })
    }
}
