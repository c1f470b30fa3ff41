//! `shell-exec`: runs one program with its arguments, without a shell.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::call::CallContext;
use toolroom::tool::{ErrorKind, IdError, Tool, ToolError, tool_fn};
use toolroom_host::process::{Cause, Limit, ProcessError, ProgramEnd};

use super::program_end::{self, TRESPASS, UNCOVERED, captured_text, limit_reason};
use super::runner::CommandRunner;
use super::starting;

/// Characters of each stream in an error.
const MAX_ERROR_CHARS: usize = 4_000;

#[derive(Deserialize, JsonSchema)]
struct ShellExecArguments {
    /// Executable to run: the name or path of a program, not a shell command line
    #[schemars(length(min = 1))]
    command: String,
    /// Arguments, one entry each
    #[serde(default)]
    args: Vec<String>,
    /// Working directory, inside the workspace or another opened folder; default: the workspace
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

pub(super) fn tool(runner: &Arc<CommandRunner>) -> Result<Arc<dyn Tool>, IdError> {
    let description =
        format!("Run a program with arguments and return its output and exit code. {}", runner.describe());
    let (runner, policy) = (Arc::clone(runner), runner.policy.clone());
    let tool = tool_fn("builtin:shell-exec", &description, move |context, run: ShellExecArguments| {
        let runner = Arc::clone(&runner);
        async move { execute(&runner, &context, run).await }
    })?;
    Ok(Arc::new(starting(tool, &policy, super::program, |spec| {
        spec.title("Run Shell Command")
            .when_to_use("the task needs a program that is installed here")
            .usage_example("which files are in this folder?")
    })))
}

async fn execute(
    runner: &CommandRunner,
    context: &CallContext,
    run: ShellExecArguments,
) -> Result<Ran, ToolError> {
    let folder = runner.folder(context, run.cwd.as_deref()).await?;
    let order = runner.order(context, &run.command, folder, runner.time(context, None)).await?;
    let order = order.with_arguments(&run.args);
    let ended = runner.run(order).await.map_err(|error| process_error(&run.command, error))?;
    match ended.cause {
        Cause::Itself => Ok(Ran {
            stdout: captured_text(&ended.stdout),
            stderr: captured_text(&ended.stderr),
            exit_code: ended.status.code(),
        }),
        Cause::Stopped => {
            let text = stopped(&run.command, "it was stopped", &ended);
            Err(ToolError::new(ErrorKind::Cancelled, text).in_doubt())
        }
        Cause::Limit(Limit::Wall) => {
            Err(context.out_of_time(stopped(&run.command, limit_reason(Limit::Wall), &ended)))
        }
        // The program may already have changed something.
        Cause::Limit(limit) => {
            Err(ToolError::tool(stopped(&run.command, limit_reason(limit), &ended)).in_doubt())
        }
        Cause::Trespass => Err(ToolError::tool(stopped(&run.command, TRESPASS, &ended)).in_doubt()),
        Cause::Uncovered => Err(ToolError::tool(stopped(&run.command, UNCOVERED, &ended)).in_doubt()),
    }
}

/// The message for a program that was ended, with its output so far.
fn stopped(command: &str, why: &str, ended: &ProgramEnd) -> String {
    let mut text = format!("`{command}` was ended with all processes it had started: {why}");
    for (name, kept) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if kept.total_bytes() > 0 {
            text.push_str(&format!("\n{name} so far:\n{}", kept.text(MAX_ERROR_CHARS)));
        }
    }
    text
}

fn process_error(command: &str, error: ProcessError) -> ToolError {
    let failed = program_end::process_error(error);
    match (failed.kind(), command.split_once(char::is_whitespace)) {
        (ErrorKind::NotFound, Some((program, rest))) => failed.with_hint(format!(
            "`command` is one program, not a shell command line: use `{program}`, and put `{rest}` into `args`, one entry \
             for each argument"
        )),
        (ErrorKind::NotFound, None) => {
            failed.with_hint("programs are looked up in the system's usual folders; give a path for others")
        }
        _ => failed,
    }
}
