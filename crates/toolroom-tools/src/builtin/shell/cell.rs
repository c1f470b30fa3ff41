//! The sandbox around everything the family starts.

use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::files::{Access, Workspace};
use toolroom_host::net::{ConversationProxyError, EgressRule, OpenedHost};
use toolroom_host::process::Supervisor;
use toolroom_host::sandbox::{
    Confinement, Level, NamedProfile, Network, Profile, Sandbox, SandboxError, SandboxRequest, make_home,
};

use super::lasting::Lasting;
use super::terms::CommandTerms;

/// What is said if there is no proxy.
const NO_WAY: &str = "the way to the network cannot be opened";

/// Makes confinements. What this machine can hold is tried once, when the first program is started.
pub(super) struct Cell {
    supervisor: Supervisor,
    sandbox: OnceCell<Sandbox>,
    lasting: Arc<Lasting>,
}

/// Whether commands reach a host that somebody opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// They do.
    Open(OpenedHost),
    /// They reach everybody.
    Everywhere,
    /// There is no conversation it could be opened to, or it ends with this call.
    NoConversation,
    /// The sandbox is one without a network of its own.
    NoNetwork,
}

impl Cell {
    pub(super) fn new(supervisor: Supervisor, lasting: Arc<Lasting>) -> Self {
        Self { supervisor, sandbox: OnceCell::new(), lasting }
    }

    /// Opens a host to the commands of a conversation.
    pub(super) async fn open(
        &self,
        terms: &CommandTerms,
        conversation: Option<&str>,
        host: EgressRule,
    ) -> Result<Way, ToolError> {
        if !terms.are_confined() {
            return Ok(Way::Everywhere);
        }
        let Some(conversation) = conversation else { return Ok(Way::NoConversation) };
        if self.sandbox().await?.level() == Level::Landlock {
            return Ok(Way::NoNetwork);
        }
        let opened =
            self.lasting.ways_out().open(conversation, terms.hosts(), host).map_err(|error| match error {
                ConversationProxyError::Io(_) => ToolError::new(ErrorKind::Crashed, NO_WAY).caused_by(error),
                error => ToolError::tool(error.to_string()),
            })?;
        Ok(Way::Open(opened))
    }

    async fn sandbox(&self) -> Result<&Sandbox, ToolError> {
        let find = || Sandbox::find(&self.supervisor, SandboxRequest::default());
        self.sandbox.get_or_try_init(find).await.map_err(refused)
    }

    /// What a program of this workspace is started in; nothing where the terms say so. If it cannot be had, nothing is
    /// started.
    pub(super) async fn around(
        &self,
        workspace: &Workspace,
        terms: &CommandTerms,
        conversation: Option<&str>,
    ) -> Result<Option<Confinement>, ToolError> {
        if !terms.are_confined() {
            return Ok(None);
        }
        let sandbox = self.sandbox().await?.clone();
        let mut profile = Profile {
            hidden: terms.hidden.clone(),
            programs_read: workspace.programs_read().to_vec(),
            home: terms.home.clone(),
            temporary_bytes: terms.disk_bytes,
            ..Profile::bare()
        };
        let own = (workspace.path(), Access::Writable);
        for (folder, access) in [own].into_iter().chain(workspace.further_folders()) {
            match (access, &terms.profile) {
                (
                    Access::Writable,
                    NamedProfile::Workspace | NamedProfile::Network(_) | NamedProfile::Off,
                ) => &mut profile.writable,
                (Access::ReadOnly, _) | (Access::Writable, NamedProfile::ReadOnly) => &mut profile.readable,
            }
            .push(folder.to_owned());
        }
        let socket = self.lasting.ways_out().socket(conversation, terms.hosts());
        let socket = socket.map_err(|error| ToolError::new(ErrorKind::Crashed, NO_WAY).caused_by(error))?;
        profile.network = socket.map_or(Network::Off, |socket| Network::Proxy { socket });
        let workspace = workspace.path().to_owned();
        let confined = spawn_blocking(move || {
            if let Some(home) = &profile.home {
                make_home(home, &workspace).map_err(|error| {
                    ToolError::new(ErrorKind::Crashed, "the home of commands cannot be made").caused_by(error)
                })?;
            }
            sandbox.confine(&profile).map(Some).map_err(refused)
        });
        confined.await.map_err(|error| ToolError::tool("the sandbox was not made").caused_by(error))?
    }
}

fn refused(error: SandboxError) -> ToolError {
    let refused = ToolError::tool(format!("nothing was started, as commands have to be confined: {error}"))
        .with_hint("`toolroom sandbox` and `toolroom doctor` say how well this machine can confine programs");
    match error {
        SandboxError::Folder { source, .. } => refused.caused_by(source),
        _ => refused,
    }
}
