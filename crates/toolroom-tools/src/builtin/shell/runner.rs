//! Starts programs for the shell tools: folder, time limit, sandbox.

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

use super::super::ToolDependencies;
use super::super::files::{self, Files};
use super::command_policy::CommandPolicy;
use super::conversation_resources::{ConversationResources, conversation};
use super::sandbox::{CommandSandbox, HostAccess};

/// Captured per stream: both ends; what lies between is only counted.
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// A program has to end this long before its call, so that its output can still be returned. One half is the grace
/// period of the program, the other is for our own work.
const RESERVE: Duration = Duration::from_secs(1);

pub(super) struct CommandRunner {
    supervisor: Supervisor,
    files: Files,
    sandbox: CommandSandbox,
    pub(super) policy: CommandPolicy,
    pub(super) conversation_resources: Arc<ConversationResources>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    pub(super) wall: Option<Duration>,
    grace: Duration,
}

impl CommandRunner {
    pub(super) fn new(dependencies: &ToolDependencies) -> Self {
        Self {
            sandbox: CommandSandbox::new(
                dependencies.supervisor.clone(),
                Arc::clone(&dependencies.conversation_resources),
            ),
            policy: dependencies.commands.clone(),
            supervisor: dependencies.supervisor.clone(),
            files: dependencies.files.clone(),
            conversation_resources: Arc::clone(&dependencies.conversation_resources),
        }
    }

    pub(super) fn interpreter(&self) -> Interpreter {
        self.conversation_resources.shells().interpreter()
    }

    /// Builds the order for one program.
    pub(super) async fn order(
        &self,
        context: &CallContext,
        program: &str,
        folder: PathBuf,
        time: TimeLimit,
    ) -> Result<Order, ToolError> {
        let mut order = Order::new(program, folder);
        let workspace = files::workspace(&self.files, context)?;
        order.confinement =
            self.sandbox.confinement(&workspace, &self.policy, conversation(context).as_deref()).await?;
        order.kept_bytes = KEPT_BYTES;
        order.limits.wall = time.wall;
        order.limits.disk_bytes = Some(self.policy.disk_bytes);
        order.grace = time.grace;
        Ok(order)
    }

    /// Opens a host to the commands of the call's conversation.
    pub(super) async fn open(
        &self,
        context: &CallContext,
        host: EgressRule,
    ) -> Result<HostAccess, ToolError> {
        // A process that cannot run programs in the background ends with the call, and so would the opened host.
        let conversation = conversation(context).filter(|_| self.conversation_resources.programs().is_some());
        self.sandbox.open(&self.policy, conversation.as_deref(), host).await
    }

    /// Builds the order for a shell that runs one command.
    pub(super) async fn command(
        &self,
        context: &CallContext,
        command: String,
        folder: PathBuf,
        time: TimeLimit,
    ) -> Result<Order, ToolError> {
        let order = self.order(context, self.interpreter().name(), folder, time).await?;
        Ok(self.interpreter().once(order, &self.policy.as_judged(command)))
    }

    /// Runs a program to its end. A cancelled call drops this future; the helper then ends the program and all its
    /// descendants.
    pub(super) async fn run(&self, order: Order) -> Result<ProgramEnd, ProcessError> {
        self.supervisor.start(order).await?.wait().await
    }

    /// The requested folder, if the caller may use it; the workspace if none is requested.
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

    /// The requested time limit, capped by the deadline of the call.
    pub(super) fn time(&self, context: &CallContext, asked: Option<Duration>) -> TimeLimit {
        let Some(deadline) = context.deadline() else {
            return TimeLimit { wall: asked, grace: RESERVE / 2 };
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let reserve = RESERVE.min(left / 2);
        let most = left - reserve;
        TimeLimit { wall: Some(asked.map_or(most, |asked| asked.min(most))), grace: reserve / 2 }
    }

    /// This machine, for a model that writes a command.
    pub(super) fn describe(&self) -> String {
        let mut text = format!("{} with {}", system(), self.interpreter().name());
        if let Some(projects) = &self.files {
            let workspace = projects.workspace(LOCAL_PROJECT);
            text.push_str(&format!("; the workspace is `{}`", workspace.path().display()));
            for (folder, access) in workspace.further_folders() {
                let how = match access {
                    Access::ReadOnly => "readable",
                    Access::Writable => "writable",
                };
                text.push_str(&format!("; `{}` is also {how}", folder.display()));
            }
        }
        text.push_str(&format!("; {}", self.policy.describe()));
        text
    }
}

/// `linux` → `Linux`.
fn system() -> String {
    let mut chars = std::env::consts::OS.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A clean environment plus the requested variables. Variables that decide which code runs are refused.
pub(super) fn variables(asked: &BTreeMap<String, String>) -> Result<Variables, ToolError> {
    asked
        .iter()
        .try_fold(Variables::clean(), |variables, (name, value)| variables.with(name, value))
        .map_err(|error| ToolError::invalid(error.to_string()))
}
