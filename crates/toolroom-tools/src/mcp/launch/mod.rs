//! Starts or connects to a server as its entry says.

pub(crate) mod program;
pub(crate) mod secret_reference;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use toolroom::BoxFuture;
use toolroom::foreign::{AddressEntry, EntryValue, ProgramEntry, ServerRecord, Transport};
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom_host::folders::make_workspace;
use toolroom_host::net::{self, EgressRule, Http, Proxy, Url};
use toolroom_host::process::{Order, ProcessError, Supervisor, Variables};
use toolroom_host::sandbox::{
    Confinement, NamedProfile, Network, Profile, Sandbox, SandboxRequest, make_home,
};

use crate::mcp::auth::Credentials;
use crate::mcp::client::Client;
use crate::mcp::client::pending::ClientHandler;
use crate::mcp::launch::program::{ResolveError, has_network, resolve};
use crate::mcp::launch::secret_reference::{named_secret, names_secret};
use crate::mcp::protocol::Era;
use crate::mcp::protocol::error::McpError;
use crate::mcp::transport::remote::{Remote, egress_policy};

/// Buffered bytes of standard error.
const STDERR_BYTES: usize = 64 * 1024;

/// Secrets and credentials of server entries.
pub trait ServerSecrets: Send + Sync {
    /// The value of a secret, or why it is not available.
    fn secret<'a>(&'a self, project: &'a ProjectId, name: &'a str) -> BoxFuture<'a, Result<Secret, String>>;

    /// Removes all secrets from a text. Empty if the secrets cannot be read.
    fn redact<'a>(&'a self, project: &'a ProjectId, text: String) -> BoxFuture<'a, String>;

    /// OAuth credentials of a server over HTTP.
    fn credentials<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        http: Arc<dyn Http>,
    ) -> BoxFuture<'a, Result<Arc<dyn Credentials>, McpError>>;
}

/// Where servers' programs run and what they may access.
#[derive(Debug, Clone)]
pub struct LaunchEnvironment {
    /// Working folder and writable folder of the programs.
    pub workspace: PathBuf,
    /// Hidden from the programs: our own files.
    pub hidden: Vec<PathBuf>,
    /// Credentials in the workspace that programs may read.
    pub programs_read: Vec<String>,
    /// Parent of the home folders. Each server has its own.
    pub homes: PathBuf,
    /// Disk quota of a program.
    pub disk_bytes: u64,
    /// Openings to private networks in the configuration.
    pub openings: Vec<EgressRule>,
}

impl LaunchEnvironment {
    /// The home folder of a server's programs.
    #[must_use]
    pub fn home_of(&self, server: &str) -> PathBuf {
        self.homes.join(server).join("home")
    }
}

/// Starts servers.
pub(crate) struct Launcher {
    supervisor: Supervisor,
    environment: LaunchEnvironment,
    sandbox: OnceCell<Sandbox>,
    pub(crate) secrets: Arc<dyn ServerSecrets>,
}

/// A running server, and the proxy it reaches the network through.
pub(crate) struct StartedServer {
    pub(crate) client: Client,
    pub(crate) _proxy: Option<Proxy>,
}

impl Launcher {
    pub(crate) fn new(
        supervisor: Supervisor,
        environment: LaunchEnvironment,
        secrets: Arc<dyn ServerSecrets>,
    ) -> Self {
        Self { supervisor, environment, sandbox: OnceCell::new(), secrets }
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.environment.workspace
    }

    pub(crate) async fn start(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        known: Option<Era>,
        handler: Arc<dyn ClientHandler>,
    ) -> Result<StartedServer, McpError> {
        match &server.transport {
            Transport::Stdio(program) => {
                let (order, proxy) = self.order(project, &server.name, program).await?;
                let client = Client::start(&self.supervisor, order, known, handler).await;
                let client = client.map_err(|error| with_sandbox_hint(error, &server.name, program))?;
                Ok(StartedServer { client, _proxy: proxy })
            }
            Transport::Http(address) => {
                let remote = self.remote(project, server, address).await?;
                Ok(StartedServer { client: Client::connect(remote, known, handler).await?, _proxy: None })
            }
            Transport::Sse(address) => {
                let remote = self.remote(project, server, address).await?;
                Ok(StartedServer { client: Client::listen(remote, handler).await?, _proxy: None })
            }
        }
    }

    async fn remote(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        address: &AddressEntry,
    ) -> Result<Remote, McpError> {
        let policy = egress_policy(address, &self.environment.openings);
        let http: Arc<dyn Http> = Arc::new(net::Client::new(policy));
        let headers = values(self.secrets.as_ref(), project, &address.headers).await?;
        let credentials = self.secrets.credentials(project, server, Arc::clone(&http)).await?;
        let url = filled_address(self.secrets.as_ref(), project, address).await?;
        Ok(Remote { http, url, headers, credentials })
    }

    async fn order(
        &self,
        project: &ProjectId,
        server: &str,
        entry: &ProgramEntry,
    ) -> Result<(Order, Option<Proxy>), McpError> {
        let refused = |reason: String| McpError::Confinement { reason };
        let profile: NamedProfile = entry.profile.parse().map_err(|error| refused(format!("{error}")))?;
        let folder = entry.folder.as_ref().map_or_else(|| self.environment.workspace.clone(), PathBuf::from);
        let has_network = has_network(&profile);
        let resolved = {
            let (server, entry) = (server.to_owned(), entry.clone());
            let workspace = self.environment.workspace.clone();
            spawn_blocking(move || resolve(&server, &entry, &workspace, has_network)).await
        };
        let resolved =
            resolved.map_err(|error| refused(error.to_string()))?.map_err(|error| match error {
                ResolveError::NotFound => {
                    McpError::Start(ProcessError::NotFound { program: entry.command.clone() })
                }
                ResolveError::Unusable(reason) => refused(reason),
            })?;
        let mut variables = Variables::clean();
        if let Some(folder) = &resolved.programs {
            variables = variables.with_programs_of(folder);
        }
        for (name, value) in values(self.secrets.as_ref(), project, &entry.environment).await? {
            variables = variables.with(&name, value.expose()).map_err(|error| refused(error.to_string()))?;
        }
        let proxy = match &profile {
            NamedProfile::Network(hosts) => {
                Some(Proxy::open(hosts).map_err(|error| refused(error.to_string()))?)
            }
            NamedProfile::Workspace | NamedProfile::ReadOnly | NamedProfile::Off => None,
        };
        let mut arguments = Vec::with_capacity(resolved.arguments.len());
        for argument in &resolved.arguments {
            arguments.push(filled(self.secrets.as_ref(), project, argument).await?);
        }
        let mut order = Order::new(resolved.program.as_os_str(), folder).with_arguments(arguments);
        order.confinement =
            self.confinement(&profile, server, entry, resolved.readable, proxy.as_ref()).await?;
        order.variables = variables;
        order.kept_bytes = STDERR_BYTES;
        // A server may run for days. Limits of memory and processes stay.
        order.limits.cpu = None;
        order.limits.output_bytes = None;
        order.limits.disk_bytes = Some(self.environment.disk_bytes);
        Ok((order, proxy))
    }

    async fn confinement(
        &self,
        profile: &NamedProfile,
        server: &str,
        entry: &ProgramEntry,
        readable: Vec<PathBuf>,
        proxy: Option<&Proxy>,
    ) -> Result<Option<Confinement>, McpError> {
        let refused = |reason: String| McpError::Confinement { reason };
        if *profile == NamedProfile::Off {
            return Ok(None);
        }
        let find = || Sandbox::find(&self.supervisor, SandboxRequest::default());
        let sandbox = self.sandbox.get_or_try_init(find).await;
        let sandbox = sandbox.map_err(|error| refused(error.to_string()))?.clone();
        let home = self.environment.home_of(server);
        let mut confined = Profile {
            hidden: self.environment.hidden.clone(),
            programs_read: self.environment.programs_read.clone(),
            home: Some(home.clone()),
            readable,
            temporary_bytes: self.environment.disk_bytes,
            ..Profile::bare()
        };
        confined.readable.extend(entry.readable.iter().map(PathBuf::from));
        match profile {
            NamedProfile::ReadOnly => confined.readable.push(self.environment.workspace.clone()),
            NamedProfile::Workspace | NamedProfile::Network(_) | NamedProfile::Off => {
                confined.writable.push(self.environment.workspace.clone());
            }
        }
        if let Some(proxy) = proxy {
            confined.network = Network::Proxy { socket: proxy.socket().to_owned() };
        }
        let workspace = self.environment.workspace.clone();
        let is_ours = self.environment.hidden.iter().any(|folder| workspace.starts_with(folder));
        let confined = spawn_blocking(move || {
            // Our own workspace folder is created on first use.
            if is_ours {
                make_workspace(&workspace).map_err(|error| error.to_string())?;
            }
            make_home(&home, &workspace).map_err(|error| error.to_string())?;
            sandbox.confine(&confined).map(Some).map_err(|error| error.to_string())
        });
        confined.await.map_err(|error| refused(error.to_string()))?.map_err(refused)
    }
}

/// The values of environment variables or headers, with secrets filled in.
///
/// # Errors
/// If a secret is not available.
pub async fn values(
    secrets: &dyn ServerSecrets,
    project: &ProjectId,
    values: &BTreeMap<String, EntryValue>,
) -> Result<Vec<(String, Secret)>, McpError> {
    let mut opened = Vec::with_capacity(values.len());
    for (name, value) in values {
        let value = match value {
            EntryValue::Plain(value) => Secret::new(name.clone(), value.clone()),
            EntryValue::Secret(secret) => opened_secret(secrets, project, secret).await?,
            EntryValue::Around { before, secret, after } => {
                let inner = opened_secret(secrets, project, secret).await?;
                Secret::new(secret.clone(), format!("{before}{}{after}", inner.expose()))
            }
        };
        opened.push((name.clone(), value));
    }
    Ok(opened)
}

async fn opened_secret(
    secrets: &dyn ServerSecrets,
    project: &ProjectId,
    name: &str,
) -> Result<Secret, McpError> {
    secrets.secret(project, name).await.map_err(|reason| McpError::Closed { why: reason })
}

/// An argument with its secret reference filled in.
async fn filled(secrets: &dyn ServerSecrets, project: &ProjectId, word: &str) -> Result<String, McpError> {
    let Some((before, name)) = named_secret(word) else { return Ok(word.to_owned()) };
    Ok(format!("{before}{}", opened_secret(secrets, project, name).await?.expose()))
}

/// The URL of an entry, with secret references in its query filled in.
///
/// # Errors
/// If a secret is not available, or the URL is invalid.
pub async fn filled_address(
    secrets: &dyn ServerSecrets,
    project: &ProjectId,
    address: &AddressEntry,
) -> Result<String, McpError> {
    let mut url =
        Url::parse(&address.url).map_err(|_| McpError::Protocol("its URL is invalid".to_owned()))?;
    if !url.query_pairs().any(|(_, value)| names_secret(&value)) {
        return Ok(address.url.clone());
    }
    let mut filled_in = Vec::new();
    for (name, value) in url.query_pairs() {
        filled_in.push((name.into_owned(), filled(secrets, project, &value).await?));
    }
    url.query_pairs_mut().clear().extend_pairs(filled_in);
    Ok(url.into())
}

/// Adds a hint to the error of a program that ended at once: its sandbox may be too narrow.
fn with_sandbox_hint(error: McpError, server: &str, entry: &ProgramEntry) -> McpError {
    let hint = match entry.profile.as_str() {
        "off" => return error,
        profile if profile.starts_with("network:") => {
            format!(
                "it runs in the sandbox profile `{profile}` and cannot access other hosts or folders; grant more with \
                 `toolroom mcp set {server}`"
            )
        }
        profile => format!(
            "it runs in the sandbox profile `{profile}` without network access; grant hosts with `toolroom mcp set \
             {server} --profile network:HOST`, and folders with `--read FOLDER`"
        ),
    };
    match error {
        McpError::Exited { how } => McpError::Exited { how: format!("{how} ({hint})") },
        error => error,
    }
}
