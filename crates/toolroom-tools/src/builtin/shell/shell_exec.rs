//! `shell-exec`: runs one program with its arguments. No shell reads them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::call::CallContext;
use toolroom::tool::{ErrorKind, IdError, Tool, ToolError, tool_fn};
use toolroom_host::process::{Cause, Limit, ProcessError, ProgramEnd};

use super::ended::{self, TRESPASS, UNCOVERED, reason, whole};
use super::engine::Engine;
use super::starting;

/// Of each stream in an error, which is no place for more.
const MAX_ERROR_CHARS: usize = 4_000;

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

pub(super) fn tool(engine: &Arc<Engine>) -> Result<Arc<dyn Tool>, IdError> {
    let description =
        format!("Run a program with arguments and get what it printed and its exit code. {}", engine.about());
    let (engine, terms) = (Arc::clone(engine), engine.terms.clone());
    let tool = tool_fn("builtin:shell-exec", &description, move |context, run: Run| {
        let engine = Arc::clone(&engine);
        async move { execute(&engine, &context, run).await }
    })?;
    Ok(Arc::new(starting(tool, &terms, super::program, |spec| {
        spec.title("Run Shell Command")
            .when_to_use("something has to be done with a program that is installed here")
            .usage_example("which files are in this folder?")
    })))
}

async fn execute(engine: &Engine, context: &CallContext, run: Run) -> Result<Ran, ToolError> {
    let folder = engine.folder(context, run.cwd.as_deref()).await?;
    let order = engine.order(context, &run.command, folder, engine.time(context, None)).await?;
    let order = order.with_arguments(&run.args);
    let ended = engine.run(order).await.map_err(|error| not_run(&run.command, error))?;
    match ended.cause {
        Cause::Itself => Ok(Ran {
            stdout: whole(&ended.stdout),
            stderr: whole(&ended.stderr),
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
        Cause::Trespass => Err(ToolError::tool(told(&run.command, TRESPASS, &ended)).in_doubt()),
        Cause::Uncovered => Err(ToolError::tool(told(&run.command, UNCOVERED, &ended)).in_doubt()),
    }
}

/// A program that was ended, with what it had printed by then.
fn told(command: &str, why: &str, ended: &ProgramEnd) -> String {
    let mut text = format!("`{command}` was ended with everything it had started: {why}");
    for (name, kept) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if kept.total_bytes() > 0 {
            text.push_str(&format!("\n{name} until then:\n{}", kept.text(MAX_ERROR_CHARS)));
        }
    }
    text
}

fn not_run(command: &str, error: ProcessError) -> ToolError {
    let failed = ended::not_run(error);
    match (failed.kind(), command.split_once(char::is_whitespace)) {
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
