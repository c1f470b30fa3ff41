//! How a server is started or reached as its entry says, and nothing more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use toolroom::BoxFuture;
use toolroom::foreign::{AddressEntry, EntryValue, ProgramEntry, Reached, ServerRecord};
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom_host::net::{self, Http, Limits, Opening, Proxy, Reach, Url};
use toolroom_host::process::{Found, Order, Supervisor, Variables, folder_of_file, package_folders};
use toolroom_host::sandbox::{Confinement, Demand, Named, Network, Profile, Sandbox, make_home};

use super::client::{Client, Remote};
use super::desk::Attendant;
use super::door::Door;
use super::era::Era;
use super::error::McpError;
use super::message::MAX_MESSAGE_BYTES;

/// What is kept of what a server prints as errors.
const KEPT_BYTES: usize = 64 * 1024;

/// A stream of one answer may not be longer, and no answer may be waited for longer; calls have limits of their own.
const MAX_STREAM_BYTES: u64 = 8 * MAX_MESSAGE_BYTES as u64;
const LONGEST_SILENCE: Duration = Duration::from_secs(3_600);

/// Redirects that are followed, each judged anew.
const MAX_REDIRECTS: u32 = 3;

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
    ) -> BoxFuture<'a, Arc<dyn Door>>;
}

/// Where servers run.
#[derive(Debug, Clone)]
pub struct Grounds {
    /// The workspace: where programs start and what they may change.
    pub workspace: PathBuf,
    /// What they never see: our own files.
    pub hidden: Vec<PathBuf>,
    /// Their home, which is not that of the user.
    pub home: PathBuf,
}

/// Starts servers.
pub(super) struct Launcher {
    supervisor: Supervisor,
    grounds: Grounds,
    sandbox: OnceCell<Sandbox>,
    pub(super) safe: Arc<dyn Safe>,
}

/// A server that can be asked, and its way to the network.
pub(super) struct Started {
    pub(super) client: Client,
    pub(super) _way_out: Option<Proxy>,
}

impl Launcher {
    pub(super) fn new(supervisor: Supervisor, grounds: Grounds, safe: Arc<dyn Safe>) -> Self {
        Self { supervisor, grounds, sandbox: OnceCell::new(), safe }
    }

    pub(super) async fn start(
        &self,
        project: &ProjectId,
        server: &ServerRecord,
        known: Option<Era>,
        attendant: Arc<dyn Attendant>,
    ) -> Result<Started, McpError> {
        match &server.reached {
            Reached::Stdio(program) => {
                let (order, way_out) = self.order(project, program).await?;
                let client = Client::start(&self.supervisor, order, known, attendant).await;
                let client = client.map_err(|error| told_of_sandbox(error, program))?;
                Ok(Started { client, _way_out: way_out })
            }
            Reached::Http(address) => {
                let remote = self.remote(project, server, address).await?;
                Ok(Started { client: Client::connect(remote, known, attendant).await?, _way_out: None })
            }
            Reached::Sse(address) => {
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
        let http: Arc<dyn Http> = Arc::new(net::Client::new(reach(&address.url)));
        let headers = self.values(project, &address.headers).await?;
        let door = self.safe.door(project, server, Arc::clone(&http)).await;
        Ok(Remote { http, url: address.url.clone(), headers, door })
    }

    async fn values(
        &self,
        project: &ProjectId,
        values: &BTreeMap<String, EntryValue>,
    ) -> Result<Vec<(String, Secret)>, McpError> {
        let mut opened = Vec::with_capacity(values.len());
        for (name, value) in values {
            let value = match value {
                EntryValue::Plain(value) => Secret::new(name.clone(), value.clone()),
                EntryValue::Secret(secret) => self
                    .safe
                    .secret(project, secret)
                    .await
                    .map_err(|reason| McpError::Closed { why: reason })?,
            };
            opened.push((name.clone(), value));
        }
        Ok(opened)
    }

    async fn order(
        &self,
        project: &ProjectId,
        entry: &ProgramEntry,
    ) -> Result<(Order, Option<Proxy>), McpError> {
        let refused = |reason: String| McpError::Confinement { reason };
        let profile: Named = entry.profile.parse().map_err(|error| refused(format!("{error}")))?;
        let folder = entry.folder.as_ref().map_or_else(|| self.grounds.workspace.clone(), PathBuf::from);
        let command = entry.command.clone();
        let looked = {
            let (folder, arguments) = (folder.clone(), entry.arguments.clone());
            spawn_blocking(move || look(&command, &arguments, &folder)).await
        };
        let looked = looked.map_err(|error| refused(error.to_string()))?;
        let missing = || {
            let program = entry.command.clone();
            McpError::Start(toolroom_host::process::ProcessError::NotFound { program })
        };
        let (found, readable) = looked.ok_or_else(missing)?;
        let mut variables = Variables::clean();
        if let Some(folder) = found.path.parent() {
            variables = variables.with_programs_of(folder);
        }
        for (name, value) in self.values(project, &entry.environment).await? {
            variables = variables.with(&name, value.expose()).map_err(|error| refused(error.to_string()))?;
        }
        let way_out = match &profile {
            Named::Network(hosts) => Some(Proxy::open(hosts).map_err(|error| refused(error.to_string()))?),
            Named::Workspace | Named::ReadOnly | Named::Off => None,
        };
        let mut order = Order::new(found.path.as_os_str(), folder).with_arguments(entry.arguments.clone());
        order.confinement = self.confinement(&profile, entry, readable, way_out.as_ref()).await?;
        order.variables = variables;
        order.kept_bytes = KEPT_BYTES;
        // It runs for as long as it is needed; memory and processes are held as for everything that is started.
        order.limits.cpu = None;
        order.limits.output_bytes = None;
        Ok((order, way_out))
    }

    async fn confinement(
        &self,
        profile: &Named,
        entry: &ProgramEntry,
        readable: Vec<PathBuf>,
        way_out: Option<&Proxy>,
    ) -> Result<Option<Confinement>, McpError> {
        let refused = |reason: String| McpError::Confinement { reason };
        if *profile == Named::Off {
            return Ok(None);
        }
        let find = || Sandbox::find(&self.supervisor, Demand::default());
        let sandbox = self.sandbox.get_or_try_init(find).await;
        let sandbox = sandbox.map_err(|error| refused(error.to_string()))?.clone();
        let mut confined = Profile {
            hidden: self.grounds.hidden.clone(),
            home: Some(self.grounds.home.clone()),
            readable,
            ..Profile::bare()
        };
        confined.readable.extend(entry.readable.iter().map(PathBuf::from));
        match profile {
            Named::ReadOnly => confined.readable.push(self.grounds.workspace.clone()),
            Named::Workspace | Named::Network(_) | Named::Off => {
                confined.writable.push(self.grounds.workspace.clone());
            }
        }
        if let Some(proxy) = way_out {
            confined.network = Network::Proxy { socket: proxy.socket().to_owned() };
        }
        let (home, workspace) = (self.grounds.home.clone(), self.grounds.workspace.clone());
        let confined = spawn_blocking(move || {
            make_home(&home, &workspace).map_err(|error| error.to_string())?;
            sandbox.confine(&confined).map(Some).map_err(|error| error.to_string())
        });
        confined.await.map_err(|error| refused(error.to_string()))?.map_err(refused)
    }
}

/// Where the program is, and what it has to read: itself, the files its arguments name, and fetched packages.
fn look(command: &str, arguments: &[String], folder: &Path) -> Option<(Found, Vec<PathBuf>)> {
    let found = Found::find(command, folder)?;
    let mut readable = found.folders.clone();
    readable.extend(arguments.iter().filter_map(|argument| folder_of_file(Path::new(argument))));
    readable.extend(package_folders());
    readable.sort();
    readable.dedup();
    Some((found, readable))
}

/// How far a server's connections go: the public internet, and the one place its entry names.
#[must_use]
pub fn reach(url: &str) -> Reach {
    let limits = Limits {
        wire_bytes: MAX_STREAM_BYTES,
        decoded_bytes: MAX_STREAM_BYTES,
        idle: LONGEST_SILENCE,
        total: None,
        ..Limits::default()
    };
    let opening = Url::parse(url).ok().and_then(|url| {
        let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
        Opening::of_port(&host, url.port_or_known_default()?).ok()
    });
    Reach::public().open(opening).max_redirects(MAX_REDIRECTS).limits(limits)
}

/// A program that ends before it has said anything may miss what its sandbox keeps from it.
fn told_of_sandbox(error: McpError, entry: &ProgramEntry) -> McpError {
    let hint = match entry.profile.as_str() {
        "off" => return error,
        profile if profile.starts_with("network:") => {
            format!(
                "it runs in the sandbox profile `{profile}`: other hosts and folders are out of its reach"
            )
        }
        profile => format!(
            "it runs in the sandbox profile `{profile}` without a network: if it has to fetch something or reach \
             hosts, a person opens them with `--profile network:HOST`, and folders with `--read`"
        ),
    };
    match error {
        McpError::Ended { how } => McpError::Ended { how: format!("{how} ({hint})") },
        error => error,
    }
}
