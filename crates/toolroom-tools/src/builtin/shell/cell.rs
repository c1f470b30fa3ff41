//! The sandbox around everything the family starts.

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::files::{Access, Workspace};
use toolroom_host::net::Proxy;
use toolroom_host::process::Supervisor;
use toolroom_host::sandbox::{
    Confinement, Demand, Named, Network, Profile, Sandbox, SandboxError, make_home,
};

use super::terms::CommandTerms;

/// Makes confinements. What this machine can hold is tried once, when the first program is started.
pub(super) struct Cell {
    supervisor: Supervisor,
    sandbox: OnceCell<Sandbox>,
    /// The way to the hosts of the profile.
    proxy: OnceCell<Proxy>,
}

impl Cell {
    pub(super) fn new(supervisor: Supervisor) -> Self {
        Self { supervisor, sandbox: OnceCell::new(), proxy: OnceCell::new() }
    }

    /// What a program of this workspace is started in; nothing where the terms say so. If it cannot be had, nothing is
    /// started.
    pub(super) async fn around(
        &self,
        workspace: &Workspace,
        terms: &CommandTerms,
    ) -> Result<Option<Confinement>, ToolError> {
        if !terms.are_confined() {
            return Ok(None);
        }
        let find = || Sandbox::find(&self.supervisor, Demand::default());
        let sandbox = self.sandbox.get_or_try_init(find).await.map_err(refused)?.clone();
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
        if let Named::Network(hosts) = &terms.profile {
            let open = || async { Proxy::open(hosts) };
            let proxy = self.proxy.get_or_try_init(open).await.map_err(|error| {
                ToolError::new(ErrorKind::Crashed, "the way to the network cannot be opened").caused_by(error)
            })?;
            profile.network = Network::Proxy { socket: proxy.socket().to_owned() };
        }
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
