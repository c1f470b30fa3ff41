//! `shell-exec`: runs one program with its arguments. No shell reads them.
//!
//! Until programs are confined by a sandbox a yes is for one call: what a program does depends on far more than its
//! words.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use toolroom::call::CallContext;
use toolroom::tool::{Capability, Effect, ErrorKind, IdError, Risk, Tool, ToolError, tool_fn};
use toolroom_host::process::{Cause, Ended, Limit, Order, ProcessError, Supervisor};

use super::files::{self, Files};

/// Of each stream, from both ends.
const MAX_STREAM_CHARS: usize = 30_000;

/// No character is longer.
const MAX_CHAR_BYTES: usize = 4;

/// Of each stream in an error, which is no place for more.
const MAX_ERROR_CHARS: usize = 4_000;

/// The program has to end this long before its call, so that what it printed can still be told: half for its own
/// tidying up, half for ours.
const RESERVE: Duration = Duration::from_secs(1);

#[derive(Deserialize, JsonSchema)]
struct Run {
    /// Executable to run: a program's name or path, not a line for a shell
    #[schemars(length(min = 1))]
    command: String,
    /// Arguments, one entry each
    #[serde(default)]
    args: Vec<String>,
    /// Working directory, inside the workspace or another opened folder; the workspace when left out
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ran {
    stdout: String,
    stderr: String,
    /// `null` if a signal ended it.
    exit_code: Option<i32>,
}

pub(super) fn tool(supervisor: Supervisor, files: Files) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Run a program with arguments and get what it printed and its exit code";
    let tool = tool_fn("builtin:shell-exec", description, move |context, run: Run| {
        let (supervisor, files) = (supervisor.clone(), files.clone());
        async move { execute(&supervisor, &files, &context, run).await }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Run Shell Command")
            .effect(Effect::Destructive)
            .capabilities(&Capability::ALL)
            .risk(Risk::High)
            .family("execute_shell_command", false)
            .off_by_default()
            .single_answers()
            .when_to_use("something has to be done with a program that is installed here")
            .category("shell", &["shell", "command", "program", "run", "execute"])
            .usage_example("which files are in this folder?")
    })))
}

async fn execute(
    supervisor: &Supervisor,
    files: &Files,
    context: &CallContext,
    run: Run,
) -> Result<Ran, ToolError> {
    let asked = run.cwd.clone().unwrap_or_else(|| ".".to_owned());
    let workspace = files::workspace(files, context)?;
    let folder = spawn_blocking(move || workspace.folder(&asked)).await;
    let folder = folder.map_err(|error| ToolError::tool("the folder was not looked at").caused_by(error))?;
    let folder = folder.map_err(files::failed)?;
    let mut order = Order::new(&run.command, folder).with_arguments(&run.args);
    order.kept_bytes = MAX_STREAM_CHARS * MAX_CHAR_BYTES;
    let left = context.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if let Some(left) = left {
        let reserve = RESERVE.min(left / 2);
        order.grace = reserve / 2;
        order.limits.wall = Some(left - reserve);
    }
    // If the call is cancelled this future is dropped, and the helper ends the program and everything it started.
    let running = supervisor.start(order).await.map_err(|error| not_run(&run.command, error))?;
    let ended = running.wait().await.map_err(|error| not_run(&run.command, error))?;
    match ended.cause {
        Cause::Itself => Ok(Ran {
            stdout: ended.stdout.text(MAX_STREAM_CHARS),
            stderr: ended.stderr.text(MAX_STREAM_CHARS),
            exit_code: ended.status.code(),
        }),
        Cause::Stopped => {
            let text = told(&run.command, "it was stopped", &ended);
            Err(ToolError::new(ErrorKind::Cancelled, text).in_doubt())
        }
        Cause::Limit(Limit::Wall) => {
            Err(context.out_of_time(told(&run.command, reason(Limit::Wall), &ended)))
        }
        // What it had done by then is done.
        Cause::Limit(limit) => Err(ToolError::tool(told(&run.command, reason(limit), &ended)).in_doubt()),
        Cause::Trespass => {
            let why = "it changed a protected file (git hooks, shell start files), which was put back";
            Err(ToolError::tool(told(&run.command, why, &ended)).in_doubt())
        }
    }
}

fn reason(limit: Limit) -> &'static str {
    match limit {
        Limit::Wall => "it took too long",
        Limit::Cpu => "it used too much processor time",
        Limit::Memory => "it used too much memory",
        Limit::Processes => "it started too many processes",
        Limit::Output => "it printed too much",
        Limit::FileBytes => "it wrote too large a file",
    }
}

/// A program that was ended, with what it had printed by then.
fn told(command: &str, why: &str, ended: &Ended) -> String {
    let mut text = format!("`{command}` was ended with everything it had started: {why}");
    for (name, kept) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if kept.total_bytes() > 0 {
            text.push_str(&format!("\n{name} until then:\n{}", kept.text(MAX_ERROR_CHARS)));
        }
    }
    text
}

/// A program that did not run, or about whose end nothing is known.
fn not_run(command: &str, error: ProcessError) -> ToolError {
    let kind = match &error {
        ProcessError::NotFound { .. } => ErrorKind::NotFound,
        ProcessError::NotStarted { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            ErrorKind::PermissionDenied
        }
        ProcessError::Folder { .. } | ProcessError::ZeroByte { .. } | ProcessError::TooLong { .. } => {
            ErrorKind::InvalidArguments
        }
        ProcessError::Helper { .. } | ProcessError::Preparation { .. } => ErrorKind::Crashed,
        _ => ErrorKind::Tool,
    };
    if kind == ErrorKind::Crashed {
        // Where our own parts lie is the operator's business.
        return ToolError::new(kind, "programs cannot be started here").caused_by(error);
    }
    // What the system said is no secret: it is about a program and a folder the caller named.
    let said = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    let failed = ToolError::new(kind, format!("{error}{said}"));
    match (kind, command.split_once(char::is_whitespace)) {
        (ErrorKind::NotFound, Some((program, rest))) => failed.with_hint(format!(
            "`command` is one program, not a line for a shell: say `{program}`, and put `{rest}` into `args`, one \
             entry for each argument"
        )),
        (ErrorKind::NotFound, None) => {
            failed.with_hint("programs are looked for in the system's usual folders; give a path for others")
        }
        _ => failed,
    }
}
