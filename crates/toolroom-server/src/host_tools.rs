//! Host tools, which reach into this machine, and the projects that may use them.
//!
//! They belong to the project `local`. Another project has them while its `host_tools` is on, which is checked again right
//! before each call. If the check fails, the call is refused.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Mutex;
use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::scope::ProjectId;
use toolroom::tool::{Arguments, Destination, ErrorKind, Tool, ToolError, ToolOutput, ToolSpec};
use toolroom_store::{Store, StoreError};

/// The source of host tools in the catalog.
const SOURCE: &str = "builtin";

const HINT: &str =
    "the owner of this machine enables them with `toolroom projects set PROJECT --host-tools on`";

/// The host tools, and the projects that have them in the catalog.
pub(crate) struct HostTools {
    tools: Vec<Arc<dyn Tool>>,
    store: Store,
    /// Other projects that have them.
    opened: Mutex<HashSet<ProjectId>>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum HostToolsError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Register(#[from] RegisterError),
}

impl HostTools {
    pub(crate) fn new(tools: Vec<Arc<dyn Tool>>, store: Store) -> Self {
        let guard = |tool| Arc::new(ProjectGuard { tool, store: store.clone() }) as Arc<dyn Tool>;
        Self { tools: tools.into_iter().map(guard).collect(), store, opened: Mutex::default() }
    }

    /// Registers or unregisters the tools of a project according to its setting.
    pub(crate) async fn sync(&self, catalog: &Catalog, project: &ProjectId) -> Result<(), HostToolsError> {
        if *project == ProjectId::default() {
            return Ok(());
        }
        let is_open = is_open(&self.store, project).await?;
        let mut opened = self.opened.lock().await;
        match (opened.contains(project), is_open) {
            (false, true) => {
                catalog.register_all(Some(project), self.tools.clone())?;
                opened.insert(project.clone());
            }
            (true, false) => {
                catalog.unregister(Some(project), SOURCE);
                opened.remove(project);
            }
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// The same for all projects, before interrupted runs are resumed.
    pub(crate) async fn sync_all(&self, catalog: &Catalog) -> Result<(), HostToolsError> {
        for project in self.store.projects().await?.iter() {
            self.sync(catalog, &project.id).await?;
        }
        Ok(())
    }
}

async fn is_open(store: &Store, project: &ProjectId) -> Result<bool, StoreError> {
    let projects = store.projects().await?;
    Ok(projects.iter().any(|known| known.id == *project && known.host_tools))
}

/// Checks the setting of the project before each call.
struct ProjectGuard {
    tool: Arc<dyn Tool>,
    store: Store,
}

impl Tool for ProjectGuard {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn run<'a>(
        &'a self,
        context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let refused = |text: String| ToolError::new(ErrorKind::PermissionDenied, text).with_hint(HINT);
            match is_open(&self.store, &context.scope().project).await {
                Ok(true) => self.tool.run(context, arguments).await,
                Ok(false) => Err(refused("host tools are disabled for this project".to_owned())),
                Err(error) => {
                    tracing::warn!("cannot check whether a project may use host tools: {error}");
                    Err(refused("cannot check whether this project may use host tools".to_owned()))
                }
            }
        })
    }

    fn spec_for(&self, arguments: &Arguments) -> &ToolSpec {
        self.tool.spec_for(arguments)
    }

    fn check(&self, arguments: &Arguments) -> Vec<Problem> {
        self.tool.check(arguments)
    }

    fn destination(&self, arguments: &Arguments) -> Option<Destination> {
        self.tool.destination(arguments)
    }

    fn judge(&self, arguments: &Arguments) -> Judgement {
        self.tool.judge(arguments)
    }
}
