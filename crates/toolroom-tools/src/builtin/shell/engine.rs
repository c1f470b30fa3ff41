//! What all tools of the family share: where programs run, for how long, and in which surroundings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::Instant;
use toolroom::call::CallContext;
use toolroom::scope::LOCAL_PROJECT;
use toolroom::tool::ToolError;
use toolroom_host::files::Access;
use toolroom_host::net::EgressRule;
use toolroom_host::process::{Order, ProcessError, ProgramEnd, Supervisor, Variables};
use toolroom_host::shell::Interpreter;

use super::super::Surroundings;
use super::super::files::{self, Files};
use super::cell::{Cell, Way};
use super::lasting::{Lasting, conversation};
use super::terms::CommandTerms;

/// Of each stream; what lies between both ends is counted.
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// A program has to end this long before its call, so that what it printed can still be told: half for its own
/// tidying up, half for ours.
const RESERVE: Duration = Duration::from_secs(1);

/// Starts programs for the tools of the family.
pub(super) struct Engine {
    supervisor: Supervisor,
    files: Files,
    cell: Cell,
    pub(super) terms: CommandTerms,
    pub(super) lasting: Arc<Lasting>,
}

/// How long a program may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    pub(super) wall: Option<Duration>,
    grace: Duration,
}

impl Engine {
    pub(super) fn new(around: &Surroundings) -> Self {
        Self {
            cell: Cell::new(around.supervisor.clone(), Arc::clone(&around.lasting)),
            terms: around.commands.clone(),
            supervisor: around.supervisor.clone(),
            files: around.files.clone(),
            lasting: Arc::clone(&around.lasting),
        }
    }

    pub(super) fn interpreter(&self) -> Interpreter {
        self.lasting.shells().interpreter()
    }

    /// Everything the family starts is ordered here.
    pub(super) async fn order(
        &self,
        context: &CallContext,
        program: &str,
        folder: PathBuf,
        time: Time,
    ) -> Result<Order, ToolError> {
        let mut order = Order::new(program, folder);
        let workspace = files::workspace(&self.files, context)?;
        order.confinement =
            self.cell.around(&workspace, &self.terms, conversation(context).as_deref()).await?;
        order.kept_bytes = KEPT_BYTES;
        order.limits.wall = time.wall;
        order.limits.disk_bytes = Some(self.terms.disk_bytes);
        order.grace = time.grace;
        Ok(order)
    }

    /// Opens a host to the commands of the conversation that the call belongs to.
    pub(super) async fn open(&self, context: &CallContext, host: EgressRule) -> Result<Way, ToolError> {
        // Where nothing can run in the background, nobody stays to use it.
        let conversation = conversation(context).filter(|_| self.lasting.programs().is_some());
        self.cell.open(&self.terms, conversation.as_deref(), host).await
    }

    /// An order for a shell that runs one command.
    pub(super) async fn command(
        &self,
        context: &CallContext,
        command: String,
        folder: PathBuf,
        time: Time,
    ) -> Result<Order, ToolError> {
        let order = self.order(context, self.interpreter().name(), folder, time).await?;
        Ok(self.interpreter().once(order, &self.terms.as_judged(command)))
    }

    /// Runs a program to its end. If the call is cancelled this future is dropped, and the helper ends the program and
    /// everything it started.
    pub(super) async fn run(&self, order: Order) -> Result<ProgramEnd, ProcessError> {
        self.supervisor.start(order).await?.wait().await
    }

    /// The folder that is asked for, if it is there and open to whoever calls; the workspace otherwise.
    pub(super) async fn folder(
        &self,
        context: &CallContext,
        asked: Option<&str>,
    ) -> Result<PathBuf, ToolError> {
        let asked = asked.unwrap_or(".").to_owned();
        let workspace = files::workspace(&self.files, context)?;
        let folder = spawn_blocking(move || workspace.folder(&asked)).await;
        let folder =
            folder.map_err(|error| ToolError::tool("the folder was not looked at").caused_by(error))?;
        folder.map_err(files::failed)
    }

    /// The time there is: as long as was asked for, if the call lasts so long.
    pub(super) fn time(&self, context: &CallContext, asked: Option<Duration>) -> Time {
        let Some(deadline) = context.deadline() else {
            return Time { wall: asked, grace: RESERVE / 2 };
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let reserve = RESERVE.min(left / 2);
        let most = left - reserve;
        Time { wall: Some(asked.map_or(most, |asked| asked.min(most))), grace: reserve / 2 }
    }

    /// What a model has to know about this machine before it writes a command.
    pub(super) fn about(&self) -> String {
        let mut text = format!("{} with {}", system(), self.interpreter().name());
        if let Some(projects) = &self.files {
            let workspace = projects.workspace(LOCAL_PROJECT);
            text.push_str(&format!("; the workspace is `{}`", workspace.path().display()));
            for (folder, access) in workspace.further_folders() {
                let how = match access {
                    Access::ReadOnly => "read",
                    Access::Writable => "written",
                };
                text.push_str(&format!("; `{}` can be {how}, too", folder.display()));
            }
        }
        text.push_str(&format!("; {}", self.terms.about()));
        text
    }
}

/// `linux` → `Linux`.
fn system() -> String {
    let mut chars = std::env::consts::OS.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A clean environment with these in it. Those that decide which code runs are refused.
pub(super) fn variables(asked: &BTreeMap<String, String>) -> Result<Variables, ToolError> {
    asked
        .iter()
        .try_fold(Variables::clean(), |variables, (name, value)| variables.with(name, value))
        .map_err(|error| ToolError::invalid(error.to_string()))
}
