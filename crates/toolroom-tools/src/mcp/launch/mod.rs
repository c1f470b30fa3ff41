//! How a server is started or reached as its entry says, and nothing more.

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

use crate::mcp::auth::Door;
use crate::mcp::client::Client;
use crate::mcp::client::pending::Attendant;
use crate::mcp::launch::program::{Missing, has_network, look};
use crate::mcp::launch::secret_reference::{named_secret, names_secret};
use crate::mcp::protocol::era::Era;
use crate::mcp::protocol::error::McpError;
use crate::mcp::transport::reach::reach;
use crate::mcp::transport::remote::Remote;

/// What is kept of what a server prints as errors.
const KEPT_BYTES: usize = 64 * 1024;

/// Secrets that entries name, and the way to take them out of what is kept.
pub trait Safe: Send + Sync {
    /// The value of a secret; why there is none, otherwise.
    fn secret<'a>(&'a self, project: &'a ProjectId, name: &'a str) -> BoxFuture<'a, Result<Secret, String>>;

    /// The text without any secret; nothing at all, if that cannot be told.
    fn without_secrets<'a>(&'a self, project: &'a ProjectId, text: String) -> BoxFuture<'a, String>;

    /// Credentials for a server over HTTP beside its headers.
    fn door<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        http: Arc<dyn Http>,
    ) -> BoxFuture<'a, Result<Arc<dyn Door>, McpError>>;
}

/// Where servers run.
#[derive(Debug, Clone)]
pub struct Grounds {
    /// The workspace: where programs start and what they may change.
    pub workspace: PathBuf,
    /// What they never see: our own files.
    pub hidden: Vec<PathBuf>,
    /// Credentials in the workspace that they may read.
    pub programs_read: Vec<String>,
    /// Where each has a home of its own, which is not that of the user: none finds there what another one left.
    pub homes: PathBuf,
    /// How much they may add to the disk, and to their temporary folders.
    pub disk_bytes: u64,
    /// What the configuration opens in private networks.
    pub openings: Vec<EgressRule>,
}

impl Grounds {
    /// The home of one server's programs.
    #[must_use]
    pub fn home_of(&self, server: &str) -> PathBuf {
        self.homes.join(server).join("home")
    }
}

/// Starts servers.
pub(crate) struct Launcher {
    supervisor: Supervisor,
    grounds: Grounds,
    sandbox: OnceCell<Sandbox>,
    pub(crate) safe: Arc<dyn Safe>,
}

/// A server that can be asked, and its way to the network.
pub(crate) struct Started {
    pub(crate) client: Client,
    pub(crate) _way_out: Option<Proxy>,
}

impl Launcher {
    pub(crate) fn new(supervisor: Supervisor, grounds: Grounds, safe: Arc<dyn Safe>) -> Self {
        Self { supervisor, grounds, sandbox: OnceCell::new(), safe }
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.grounds.workspace
    }

    pub(crate) async fn start(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        known: Option<Era>,
        attendant: Arc<dyn Attendant>,
    ) -> Result<Started, McpError> {
        match &server.transport {
            Transport::Stdio(program) => {
                let (order, way_out) = self.order(project, &server.name, program).await?;
                let client = Client::start(&self.supervisor, order, known, attendant).await;
                let client = client.map_err(|error| told_of_sandbox(error, &server.name, program))?;
                Ok(Started { client, _way_out: way_out })
            }
            Transport::Http(address) => {
                let remote = self.remote(project, server, address).await?;
                Ok(Started { client: Client::connect(remote, known, attendant).await?, _way_out: None })
            }
            Transport::Sse(address) => {
                let remote = self.remote(project, server, address).await?;
                Ok(Started { client: Client::listen(remote, attendant).await?, _way_out: None })
            }
        }
    }

    async fn remote(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        address: &AddressEntry,
    ) -> Result<Remote, McpError> {
        let http: Arc<dyn Http> = Arc::new(net::Client::new(reach(address, &self.grounds.openings)));
        let headers = values(self.safe.as_ref(), project, &address.headers).await?;
        let door = self.safe.door(project, server, Arc::clone(&http)).await?;
        let url = filled_address(self.safe.as_ref(), project, address).await?;
        Ok(Remote { http, url, headers, door })
    }

    async fn order(
        &self,
        project: &ProjectId,
        server: &str,
        entry: &ProgramEntry,
    ) -> Result<(Order, Option<Proxy>), McpError> {
        let refused = |reason: String| McpError::Confinement { reason };
        let profile: NamedProfile = entry.profile.parse().map_err(|error| refused(format!("{error}")))?;
        let folder = entry.folder.as_ref().map_or_else(|| self.grounds.workspace.clone(), PathBuf::from);
        let has_network = has_network(&profile);
        let looked = {
            let (server, entry) = (server.to_owned(), entry.clone());
            let workspace = self.grounds.workspace.clone();
            spawn_blocking(move || look(&server, &entry, &workspace, has_network)).await
        };
        let looked =
            looked.map_err(|error| refused(error.to_string()))?.map_err(|missing| match missing {
                Missing::Program => {
                    McpError::Start(ProcessError::NotFound { program: entry.command.clone() })
                }
                Missing::Because(reason) => refused(reason),
            })?;
        let mut variables = Variables::clean();
        if let Some(folder) = &looked.programs {
            variables = variables.with_programs_of(folder);
        }
        for (name, value) in values(self.safe.as_ref(), project, &entry.environment).await? {
            variables = variables.with(&name, value.expose()).map_err(|error| refused(error.to_string()))?;
        }
        let way_out = match &profile {
            NamedProfile::Network(hosts) => {
                Some(Proxy::open(hosts).map_err(|error| refused(error.to_string()))?)
            }
            NamedProfile::Workspace | NamedProfile::ReadOnly | NamedProfile::Off => None,
        };
        let mut arguments = Vec::with_capacity(looked.arguments.len());
        for argument in &looked.arguments {
            arguments.push(filled(self.safe.as_ref(), project, argument).await?);
        }
        let mut order = Order::new(looked.program.as_os_str(), folder).with_arguments(arguments);
        order.confinement =
            self.confinement(&profile, server, entry, looked.readable, way_out.as_ref()).await?;
        order.variables = variables;
        order.kept_bytes = KEPT_BYTES;
        // It runs for as long as it is needed; memory and processes are held as for everything that is started.
        order.limits.cpu = None;
        order.limits.output_bytes = None;
        order.limits.disk_bytes = Some(self.grounds.disk_bytes);
        Ok((order, way_out))
    }

    async fn confinement(
        &self,
        profile: &NamedProfile,
        server: &str,
        entry: &ProgramEntry,
        readable: Vec<PathBuf>,
        way_out: Option<&Proxy>,
    ) -> Result<Option<Confinement>, McpError> {
        let refused = |reason: String| McpError::Confinement { reason };
        if *profile == NamedProfile::Off {
            return Ok(None);
        }
        let find = || Sandbox::find(&self.supervisor, SandboxRequest::default());
        let sandbox = self.sandbox.get_or_try_init(find).await;
        let sandbox = sandbox.map_err(|error| refused(error.to_string()))?.clone();
        let home = self.grounds.home_of(server);
        let mut confined = Profile {
            hidden: self.grounds.hidden.clone(),
            programs_read: self.grounds.programs_read.clone(),
            home: Some(home.clone()),
            readable,
            temporary_bytes: self.grounds.disk_bytes,
            ..Profile::bare()
        };
        confined.readable.extend(entry.readable.iter().map(PathBuf::from));
        match profile {
            NamedProfile::ReadOnly => confined.readable.push(self.grounds.workspace.clone()),
            NamedProfile::Workspace | NamedProfile::Network(_) | NamedProfile::Off => {
                confined.writable.push(self.grounds.workspace.clone());
            }
        }
        if let Some(proxy) = way_out {
            confined.network = Network::Proxy { socket: proxy.socket().to_owned() };
        }
        let workspace = self.grounds.workspace.clone();
        let is_ours = self.grounds.hidden.iter().any(|folder| workspace.starts_with(folder));
        let confined = spawn_blocking(move || {
            // Our own workspace is made by whoever needs it first.
            if is_ours {
                make_workspace(&workspace).map_err(|error| error.to_string())?;
            }
            make_home(&home, &workspace).map_err(|error| error.to_string())?;
            sandbox.confine(&confined).map(Some).map_err(|error| error.to_string())
        });
        confined.await.map_err(|error| refused(error.to_string()))?.map_err(refused)
    }
}

/// The values of an entry, those of secrets among them.
///
/// # Errors
/// When a secret is not kept.
pub async fn values(
    safe: &dyn Safe,
    project: &ProjectId,
    values: &BTreeMap<String, EntryValue>,
) -> Result<Vec<(String, Secret)>, McpError> {
    let mut opened = Vec::with_capacity(values.len());
    for (name, value) in values {
        let value = match value {
            EntryValue::Plain(value) => Secret::new(name.clone(), value.clone()),
            EntryValue::Secret(secret) => opened_secret(safe, project, secret).await?,
            EntryValue::Around { before, secret, after } => {
                let inner = opened_secret(safe, project, secret).await?;
                Secret::new(secret.clone(), format!("{before}{}{after}", inner.expose()))
            }
        };
        opened.push((name.clone(), value));
    }
    Ok(opened)
}

async fn opened_secret(safe: &dyn Safe, project: &ProjectId, name: &str) -> Result<Secret, McpError> {
    safe.secret(project, name).await.map_err(|reason| McpError::Closed { why: reason })
}

/// A word with the value of the secret it names in its place.
async fn filled(safe: &dyn Safe, project: &ProjectId, word: &str) -> Result<String, McpError> {
    let Some((before, name)) = named_secret(word) else { return Ok(word.to_owned()) };
    Ok(format!("{before}{}", opened_secret(safe, project, name).await?.expose()))
}

/// The address of an entry, with the values of secrets that its query names.
///
/// # Errors
/// When a secret is not kept, or the address is none.
pub async fn filled_address(
    safe: &dyn Safe,
    project: &ProjectId,
    address: &AddressEntry,
) -> Result<String, McpError> {
    let mut url =
        Url::parse(&address.url).map_err(|_| McpError::Nonsense("its address is none".to_owned()))?;
    if !url.query_pairs().any(|(_, value)| names_secret(&value)) {
        return Ok(address.url.clone());
    }
    let mut filled_in = Vec::new();
    for (name, value) in url.query_pairs() {
        filled_in.push((name.into_owned(), filled(safe, project, &value).await?));
    }
    url.query_pairs_mut().clear().extend_pairs(filled_in);
    Ok(url.into())
}

/// A program that ends before it has said anything may miss what its sandbox keeps from it.
fn told_of_sandbox(error: McpError, server: &str, entry: &ProgramEntry) -> McpError {
    let hint = match entry.profile.as_str() {
        "off" => return error,
        profile if profile.starts_with("network:") => {
            format!(
                "it runs in the sandbox profile `{profile}`: other hosts and folders are out of its reach; a person \
                 opens more with `toolroom mcp set {server}`"
            )
        }
        profile => format!(
            "it runs in the sandbox profile `{profile}` without a network: if it has to fetch something or reach \
             hosts, a person opens them with `toolroom mcp set {server} --profile network:HOST`, and folders with \
             `--read FOLDER`"
        ),
    };
    match error {
        McpError::Ended { how } => McpError::Ended { how: format!("{how} ({hint})") },
        error => error,
    }
}
