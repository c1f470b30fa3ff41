//! The sandbox around every program the shell tools start.

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

use super::command_policy::CommandPolicy;
use super::conversation_resources::ConversationResources;

const NO_PROXY: &str = "the network proxy cannot be started";

/// Confines programs. What this machine supports is probed once, before the first program starts.
pub(super) struct CommandSandbox {
    supervisor: Supervisor,
    sandbox: OnceCell<Sandbox>,
    conversation_resources: Arc<ConversationResources>,
}

/// Whether the commands of a conversation can reach the requested host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostAccess {
    /// Opened in the proxy of the conversation.
    Opened(OpenedHost),
    /// There is no sandbox: commands reach every host.
    Unconfined,
    /// The call belongs to no conversation, or the conversation ends with the call.
    NoConversation,
    /// The sandbox has no network namespace, so there is no proxy.
    NoNetwork,
}

impl CommandSandbox {
    pub(super) fn new(supervisor: Supervisor, conversation_resources: Arc<ConversationResources>) -> Self {
        Self { supervisor, sandbox: OnceCell::new(), conversation_resources }
    }

    /// Opens a host to the commands of a conversation.
    pub(super) async fn open(
        &self,
        policy: &CommandPolicy,
        conversation: Option<&str>,
        host: EgressRule,
    ) -> Result<HostAccess, ToolError> {
        if !policy.are_confined() {
            return Ok(HostAccess::Unconfined);
        }
        let Some(conversation) = conversation else { return Ok(HostAccess::NoConversation) };
        if self.sandbox().await?.level() == Level::Landlock {
            return Ok(HostAccess::NoNetwork);
        }
        let opened = self.conversation_resources.proxies().open(conversation, policy.hosts(), host).map_err(
            |error| match error {
                ConversationProxyError::Io(_) => {
                    ToolError::new(ErrorKind::Crashed, NO_PROXY).caused_by(error)
                }
                error => ToolError::tool(error.to_string()),
            },
        )?;
        Ok(HostAccess::Opened(opened))
    }

    async fn sandbox(&self) -> Result<&Sandbox, ToolError> {
        let find = || Sandbox::find(&self.supervisor, SandboxRequest::default());
        self.sandbox.get_or_try_init(find).await.map_err(refused)
    }

    /// The confinement of a program in this workspace; `None` if the policy turns the sandbox off. Fails, so that nothing
    /// starts, if the machine cannot provide it.
    pub(super) async fn confinement(
        &self,
        workspace: &Workspace,
        policy: &CommandPolicy,
        conversation: Option<&str>,
    ) -> Result<Option<Confinement>, ToolError> {
        if !policy.are_confined() {
            return Ok(None);
        }
        let sandbox = self.sandbox().await?.clone();
        let mut profile = Profile {
            hidden: policy.hidden.clone(),
            programs_read: workspace.programs_read().to_vec(),
            home: policy.home.clone(),
            temporary_bytes: policy.disk_bytes,
            ..Profile::bare()
        };
        let own = (workspace.path(), Access::Writable);
        for (folder, access) in [own].into_iter().chain(workspace.further_folders()) {
            match (access, &policy.profile) {
                (
                    Access::Writable,
                    NamedProfile::Workspace | NamedProfile::Network(_) | NamedProfile::Off,
                ) => &mut profile.writable,
                (Access::ReadOnly, _) | (Access::Writable, NamedProfile::ReadOnly) => &mut profile.readable,
            }
            .push(folder.to_owned());
        }
        let socket = self.conversation_resources.proxies().socket(conversation, policy.hosts());
        let socket = socket.map_err(|error| ToolError::new(ErrorKind::Crashed, NO_PROXY).caused_by(error))?;
        profile.network = socket.map_or(Network::Off, |socket| Network::Proxy { socket });
        let workspace = workspace.path().to_owned();
        let confined = spawn_blocking(move || {
            if let Some(home) = &profile.home {
                make_home(home, &workspace).map_err(|error| {
                    ToolError::new(ErrorKind::Crashed, "the home folder of commands cannot be created")
                        .caused_by(error)
                })?;
            }
            sandbox.confine(&profile).map(Some).map_err(refused)
        });
        confined.await.map_err(|error| ToolError::tool("the sandbox was not created").caused_by(error))?
    }
}

fn refused(error: SandboxError) -> ToolError {
    let refused =
        ToolError::tool(format!("no program was started, because commands must run in a sandbox: {error}"))
            .with_hint(
                "`toolroom sandbox` and `toolroom doctor` show how well this machine can confine programs",
            );
    match error {
        SandboxError::Folder { source, .. } => refused.caused_by(source),
        _ => refused,
    }
}
