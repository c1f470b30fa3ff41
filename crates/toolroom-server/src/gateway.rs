//! Other servers' tools: the gateway of `toolroom-tools`, joined to the vault and to where programs run here.

use std::sync::Arc;

use toolroom::BoxFuture;
use toolroom::catalog::Catalog;
use toolroom::clock::SystemClock;
use toolroom::foreign::{Reached, ServerRecord};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom::scope::{LOCAL_PROJECT, ProjectId};
use toolroom_host::environment;
use toolroom_host::files::Projects;
use toolroom_host::folders::Folders;
use toolroom_host::net::Http;
use toolroom_host::process::Supervisor;
use toolroom_store::Store;
use toolroom_tools::mcp::oauth::{Consent, Grant, Grants, Known, OAuthDoor};
use toolroom_tools::mcp::{Door, Gateway, Grounds, McpError, Safe, Surroundings};

use crate::app::COMMANDS_HOME;
use crate::vault::Vault;

/// Other servers, whose programs run where commands do. Starts nothing.
pub(crate) fn gateway(
    folders: &Folders,
    files: &Projects,
    store: &Store,
    vault: &Arc<Vault>,
    catalog: &Arc<Catalog>,
) -> Gateway {
    let grounds = Grounds {
        workspace: files.workspace(LOCAL_PROJECT).path().to_owned(),
        hidden: vec![folders.config.clone(), folders.data.clone()],
        home: folders.data.join(COMMANDS_HOME),
    };
    let around = Surroundings {
        kept: Arc::new(store.clone()),
        safe: Arc::new(Safekeeping(Arc::clone(vault))),
        supervisor: Supervisor::new(environment::own_program()),
        grounds,
        clock: Arc::new(SystemClock),
        catalog: Arc::downgrade(catalog),
    };
    Gateway::new(ProjectId::default(), around)
}

/// The vault, as servers may use it.
pub(crate) struct Safekeeping(pub(crate) Arc<Vault>);

impl Safekeeping {
    /// What was granted for a server, if anything was.
    async fn grant(&self, project: &ProjectId, server: &str) -> Option<Grant> {
        let open = async |part| self.secret(project, &secret_of(server, part)).await.ok();
        let rest = open(REST).await?;
        let mut grant: Grant = serde_json::from_str(rest.expose()).ok()?;
        open(ACCESS).await?.expose().clone_into(&mut grant.access_token);
        grant.refresh_token = open(REFRESH).await.map(|token| token.expose().to_owned());
        Some(grant)
    }

    /// The credentials of a server, with somebody who can say yes or without.
    pub(crate) async fn credentials(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        http: Arc<dyn Http>,
        known: Known,
        consent: Option<Arc<dyn Consent>>,
    ) -> Arc<dyn Door> {
        let url = match &server.reached {
            Reached::Http(address) | Reached::Sse(address) => address.url.clone(),
            Reached::Stdio(_) => String::new(),
        };
        let grant = self.grant(project, &server.name).await;
        let vault = Arc::clone(&self.0);
        let kept = KeptGrants { vault, project: project.clone(), server: server.name.clone() };
        Arc::new(OAuthDoor::new(http, url, known, grant, Arc::new(kept), consent))
    }
}

/// The parts of a grant, each a secret of its own, so that tokens are hidden wherever they turn up.
const ACCESS: &str = "access";
const REFRESH: &str = "refresh";
const REST: &str = "client";

/// The name of a secret that was made for a server.
fn secret_of(server: &str, part: &str) -> String {
    format!("mcp.{server}.oauth.{part}")
}

/// Where grants of one server are kept.
struct KeptGrants {
    vault: Arc<Vault>,
    project: ProjectId,
    server: String,
}

impl Grants for KeptGrants {
    fn keep<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>> {
        Box::pin(async move {
            let unkept =
                |why: String| McpError::Unauthorized { why: format!("the token cannot be kept: {why}") };
            let rest = Grant { access_token: String::new(), refresh_token: None, ..grant.clone() };
            let rest = serde_json::to_string(&rest).map_err(|error| unkept(error.to_string()))?;
            let parts = [
                (ACCESS, Some(&grant.access_token)),
                (REFRESH, grant.refresh_token.as_ref()),
                (REST, Some(&rest)),
            ];
            for (part, value) in parts {
                let Some(value) = value else { continue };
                let name = secret_of(&self.server, part);
                let kept = self.vault.set_secret(&self.project, &name, value).await;
                kept.map_err(|error| unkept(error.to_string()))?;
            }
            Ok(())
        })
    }
}

impl Safe for Safekeeping {
    fn door<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        http: Arc<dyn Http>,
    ) -> BoxFuture<'a, Arc<dyn Door>> {
        Box::pin(self.credentials(project, server, http, Known::default(), None))
    }

    fn secret<'a>(&'a self, project: &'a ProjectId, name: &'a str) -> BoxFuture<'a, Result<Secret, String>> {
        Box::pin(async move {
            let seen = self.0.seen(project).await.map_err(|error| error.to_string())?;
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
            match self.0.secrets(project).await {
                Ok(mut secrets) => {
                    secrets.extend(self.0.hidden_values());
                    Redactor::new(secrets, Patterns::Keys).redact_text(&text).into_owned()
                }
                // What cannot be hidden is not kept.
                Err(error) => {
                    tracing::warn!(%error, "what a server printed is not kept");
                    String::new()
                }
            }
        })
    }
}
