//! `run_command`: runs one command in a new shell and returns its output as one text.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolroom::call::CallContext;
use toolroom::tool::{IdError, Tool, ToolError, tool_fn};
use toolroom_host::process::{Cause, Limit, ProgramEnd};

use super::program_end::{captured_text, end_note, exit_code, process_error};
use super::runner::CommandRunner;
use super::{MAX_TIMEOUT, longest_call, starting};

/// Characters a caller gets of both streams together.
const RESULT_CAP: usize = 50_000;

#[derive(Deserialize, JsonSchema)]
struct RunCommandArguments {
    /// Shell command; pipes, redirections and `&&` are allowed
    #[schemars(length(min = 1))]
    command: String,
    /// Maximum run time in seconds
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 120))]
    timeout: u64,
    /// Working directory, inside the workspace or another opened folder; default: the workspace
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
}

fn default_timeout() -> u64 {
    MAX_TIMEOUT
}

pub(super) fn tool(runner: &Arc<CommandRunner>) -> Result<Arc<dyn Tool>, IdError> {
    let description = format!(
        "Run a shell command in the workspace, in a new shell, and return its output. {}. Write HTML as one \
         self-contained file, with its styles and scripts inside",
        runner.describe()
    );
    let interpreter = runner.interpreter();
    let (runner, policy) = (Arc::clone(runner), runner.policy.clone());
    let tool = tool_fn("builtin:run_command", &description, move |context, run: RunCommandArguments| {
        let runner = Arc::clone(&runner);
        async move { execute(&runner, &context, run).await }
    })?;
    let tool =
        tool.check(move |arguments| super::bash_only_syntax(interpreter, arguments).into_iter().collect());
    Ok(Arc::new(starting(tool, &policy, super::line, |spec| {
        spec.title("Run Command")
            .result_cap(RESULT_CAP)
            .timeout(longest_call())
            .when_to_use("a single command has to run in the workspace")
            .usage_example("run the tests")
    })))
}

async fn execute(
    runner: &CommandRunner,
    context: &CallContext,
    run: RunCommandArguments,
) -> Result<String, ToolError> {
    let folder = runner.folder(context, run.cwd.as_deref()).await?;
    let time = runner.time(context, Some(Duration::from_secs(run.timeout)));
    let order = runner.command(context, run.command, folder, time).await?;
    let ended = runner.run(order).await.map_err(process_error)?;
    Ok(report(&ended, time.wall))
}

/// Standard output, then standard error, then what went wrong.
fn report(ended: &ProgramEnd, wall: Option<Duration>) -> String {
    let mut text = captured_text(&ended.stdout);
    let mut add = |part: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(part);
    };
    let stderr = captured_text(&ended.stderr);
    if !stderr.is_empty() {
        add(&format!("[stderr]\n{stderr}"));
    }
    match ended.cause {
        Cause::Itself => {
            let code = exit_code(ended.status, ended.cause);
            if code != 0 {
                add(&format!("[exit code: {code}]"));
            }
        }
        Cause::Limit(Limit::Wall) => {
            let seconds = wall.unwrap_or_default().as_secs_f64();
            add(&format!("[timed out after {seconds:.0} s, and ended with all processes it had started]"));
        }
        cause => add(&format!("[{}]", end_note(cause).unwrap_or_default())),
    }
    if text.is_empty() { "(no output)".to_owned() } else { text }
}
