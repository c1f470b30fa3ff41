//! The sandbox around everything the family starts.

use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::files::{Access, Workspace};
use toolroom_host::net::{Opened, Opening, Proxy, WayError, WaysOut};
use toolroom_host::process::Supervisor;
use toolroom_host::sandbox::{
    Confinement, Demand, Level, Named, Network, Profile, Sandbox, SandboxError, make_home,
};

use super::terms::CommandTerms;

/// What is said if there is no proxy.
const NO_WAY: &str = "the way to the network cannot be opened";

/// Makes confinements. What this machine can hold is tried once, when the first program is started.
pub(super) struct Cell {
    supervisor: Supervisor,
    sandbox: OnceCell<Sandbox>,
    /// The way to the hosts of the profile.
    proxy: OnceCell<Proxy>,
    /// The ways of single conversations.
    ways_out: Option<Arc<WaysOut>>,
}

/// Whether commands reach a host that somebody opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// They do.
    Open(Opened),
    /// They reach everybody.
    Everywhere,
    /// There is no conversation it could be opened to, or it ends with this call.
    NoConversation,
    /// The sandbox is one without a network of its own.
    NoNetwork,
}

impl Cell {
    pub(super) fn new(supervisor: Supervisor, ways_out: Option<Arc<WaysOut>>) -> Self {
        Self { supervisor, sandbox: OnceCell::new(), proxy: OnceCell::new(), ways_out }
    }

    /// Opens a host to the commands of a conversation.
    pub(super) async fn open(
        &self,
        terms: &CommandTerms,
        conversation: Option<&str>,
        host: Opening,
    ) -> Result<Way, ToolError> {
        if !terms.are_confined() {
            return Ok(Way::Everywhere);
        }
        let (Some(ways), Some(conversation)) = (&self.ways_out, conversation) else {
            return Ok(Way::NoConversation);
        };
        if self.sandbox().await?.level() == Level::Landlock {
            return Ok(Way::NoNetwork);
        }
        let opened = ways.open(conversation, terms.hosts(), host).map_err(|error| match error {
            WayError::Io(_) => ToolError::new(ErrorKind::Crashed, NO_WAY).caused_by(error),
            error => ToolError::tool(error.to_string()),
        })?;
        Ok(Way::Open(opened))
    }

    async fn sandbox(&self) -> Result<&Sandbox, ToolError> {
        let find = || Sandbox::find(&self.supervisor, Demand::default());
        self.sandbox.get_or_try_init(find).await.map_err(refused)
    }

    /// Where a program gets out of its sandbox, if anywhere.
    async fn network(&self, terms: &CommandTerms, conversation: Option<&str>) -> Result<Network, ToolError> {
        let own = self.ways_out.as_ref().zip(conversation).and_then(|(ways, name)| ways.socket(name));
        match (own, &terms.profile) {
            (Some(socket), _) => Ok(Network::Proxy { socket }),
            (None, Named::Network(hosts)) => {
                let open = || async { Proxy::open(hosts) };
                let failed = |error| ToolError::new(ErrorKind::Crashed, NO_WAY).caused_by(error);
                let proxy = self.proxy.get_or_try_init(open).await.map_err(failed)?;
                Ok(Network::Proxy { socket: proxy.socket().to_owned() })
            }
            (None, _) => Ok(Network::Off),
        }
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
        let mut profile =
            Profile { hidden: terms.hidden.clone(), home: terms.home.clone(), ..Profile::bare() };
        let own = (workspace.path(), Access::Writable);
        for (folder, access) in [own].into_iter().chain(workspace.further_folders()) {
            match (access, &terms.profile) {
                (Access::Writable, Named::Workspace | Named::Network(_) | Named::Off) => {
                    &mut profile.writable
                }
                (Access::ReadOnly, _) | (Access::Writable, Named::ReadOnly) => &mut profile.readable,
            }
            .push(folder.to_owned());
        }
        profile.network = self.network(terms, conversation).await?;
        let confined = spawn_blocking(move || {
            if let Some(home) = &profile.home {
                make_home(home).map_err(|error| {
                    ToolError::new(ErrorKind::Crashed, "the home of commands cannot be made").caused_by(error)
                })?;
            }
            sandbox.confine(&profile).map(Some).map_err(refused)
        });
        confined.await.map_err(|error| ToolError::tool("the sandbox was not made").caused_by(error))?
    }
}

fn refused(error: SandboxError) -> ToolError {
    ToolError::tool(format!("commands cannot be confined as they have to be: {error}"))
        .caused_by(error)
        .with_hint(
            "`toolroom sandbox` and `toolroom doctor` say what this machine can hold; nothing was started",
        )
}
