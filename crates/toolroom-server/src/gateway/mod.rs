//! Other servers' tools: the gateway of `toolroom-tools`, joined to the vault and to where programs run here.

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
use toolroom_tools::mcp::oauth::{Known, OAuthDoor, Site};
use toolroom_tools::mcp::{Door, Gateway, Grounds, McpError, Safe, Surroundings};

use self::grants::KeptGrants;
use crate::vault::Vault;

pub(crate) use self::check::{
    check_headers, check_variables, check_way, checked_url, is_plain, is_secret, is_unnamed_secret,
    secret_argument, seen_by_all, with_query_values,
};
pub(crate) use self::entries::{entry, forget, is_same_server};
pub(crate) use self::grants::{forget_grants, secrets_of};
pub(crate) use self::stored::StoredSecrets;

/// Other servers, whose programs run where commands do. Starts nothing.
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
    let grounds = Grounds {
        workspace: workspace.path().to_owned(),
        programs_read: workspace.programs_read().to_vec(),
        hidden: vec![folders.config.clone(), folders.data.clone()],
        homes: folders.data.join(SERVERS),
        disk_bytes,
        openings: openings.to_vec(),
    };
    let around = Surroundings {
        kept: Arc::new(store.clone()),
        safe: Arc::new(Safekeeping::new(vault, folders)),
        supervisor: Supervisor::new(environment::own_program()),
        grounds,
        clock: Arc::new(SystemClock),
        catalog: Arc::downgrade(catalog),
    };
    Gateway::new(ProjectId::default(), around)
}

/// Where the folders of servers are, below the data folder.
pub(crate) const SERVERS: &str = "mcp";

/// The folder of one server, with the home of its programs in it.
pub(crate) fn folder_of(folders: &Folders, server: &str) -> PathBuf {
    folders.data.join(SERVERS).join(server)
}

/// The vault, as servers may use it.
pub(crate) struct Safekeeping {
    vault: Arc<Vault>,
    folders: Folders,
}

impl Safekeeping {
    pub(crate) fn new(vault: &Arc<Vault>, folders: &Folders) -> Self {
        Self { vault: Arc::clone(vault), folders: folders.clone() }
    }

    /// The credentials of a server over HTTP.
    pub(crate) async fn credentials(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        http: Arc<dyn Http>,
        known: Known,
    ) -> Result<OAuthDoor, McpError> {
        let site = match &server.transport {
            Transport::Http(address) | Transport::Sse(address) => {
                Site { url: address.url.clone(), is_internal: address.is_internal }
            }
            Transport::Stdio(_) => Site { url: String::new(), is_internal: false },
        };
        let kept = KeptGrants {
            vault: Arc::clone(&self.vault),
            project: project.clone(),
            server: server.name.clone(),
            folder: folder_of(&self.folders, &server.name),
        };
        OAuthDoor::open(http, site, known, Arc::new(kept), None).await
    }
}

impl Safe for Safekeeping {
    fn door<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        http: Arc<dyn Http>,
    ) -> BoxFuture<'a, Result<Arc<dyn Door>, McpError>> {
        Box::pin(async move {
            let door = self.credentials(project, server, http, Known::default()).await?;
            Ok(Arc::new(door) as Arc<dyn Door>)
        })
    }

    fn secret<'a>(&'a self, project: &'a ProjectId, name: &'a str) -> BoxFuture<'a, Result<Secret, String>> {
        Box::pin(async move {
            let seen = self.vault.seen(project).await.map_err(|error| error.to_string())?;
            let found = seen.into_iter().find(|seen| seen.name == name);
            let missing =
                || format!("its secret `{name}` is not kept; set it with `toolroom secrets set {name}`");
            found.ok_or_else(missing)?.opened.map_err(|error| error.to_string())
        })
    }

    fn without_secrets<'a>(&'a self, project: &'a ProjectId, text: String) -> BoxFuture<'a, String> {
        Box::pin(async move {
            if text.is_empty() {
                return text;
            }
            match self.vault.hidden(project).await {
                Ok(secrets) => Redactor::new(secrets, Patterns::Keys).redact_text(&text).into_owned(),
                // What cannot be hidden is not kept.
                Err(error) => {
                    tracing::warn!(%error, "what a server printed is not kept");
                    String::new()
                }
            }
        })
    }
}
