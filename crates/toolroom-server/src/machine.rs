//! The tools that reach into this machine, and the projects that may use them.
//!
//! They belong to the local project. To another one they are open as long as its `host_tools` is on, which is asked
//! again right before each call: a project that lost them, or of which nobody can tell, is refused.

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

/// Where the tools of this machine come from.
const SOURCE: &str = "builtin";

/// What to do about a project without them.
const HINT: &str =
    "the owner of this machine opens them with `toolroom projects set PROJECT --host-tools on`";

/// The tools of this machine, for those projects that may have them.
pub(crate) struct Machine {
    tools: Vec<Arc<dyn Tool>>,
    store: Store,
    /// Other projects that have them in the catalog.
    opened: Mutex<HashSet<ProjectId>>,
}

/// Why a project's tools are not as they should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MachineError {
    /// It cannot be told whether it may have them.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// They cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

impl Machine {
    pub(crate) fn new(tools: Vec<Arc<dyn Tool>>, store: Store) -> Self {
        let guard = |tool| Arc::new(Guarded { tool, store: store.clone() }) as Arc<dyn Tool>;
        Self { tools: tools.into_iter().map(guard).collect(), store, opened: Mutex::default() }
    }

    /// Puts the tools into a project's catalog, or takes them out, as it is said now.
    pub(crate) async fn settle(&self, catalog: &Catalog, project: &ProjectId) -> Result<(), MachineError> {
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

    /// The same for every project there is: those whose work goes on have no caller who comes in.
    pub(crate) async fn settle_all(&self, catalog: &Catalog) -> Result<(), MachineError> {
        for project in self.store.projects().await?.iter() {
            self.settle(catalog, &project.id).await?;
        }
        Ok(())
    }
}

async fn is_open(store: &Store, project: &ProjectId) -> Result<bool, StoreError> {
    let projects = store.projects().await?;
    Ok(projects.iter().any(|known| known.id == *project && known.host_tools))
}

/// A tool that looks once more whether the project may use it.
struct Guarded {
    tool: Arc<dyn Tool>,
    store: Store,
}

impl Tool for Guarded {
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
                Ok(false) => Err(refused("the tools of this machine are closed to this project".to_owned())),
                Err(error) => {
                    tracing::warn!("whether a project may use the machine cannot be told: {error}");
                    Err(refused("whether this project may use the machine cannot be told".to_owned()))
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
