//! `run_command`: one command in a shell of its own, told as one text.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolroom::call::CallContext;
use toolroom::tool::{IdError, Tool, ToolError, tool_fn};
use toolroom_host::process::{Cause, Limit, ProgramEnd};

use super::ended::{code, not_run, note, whole};
use super::engine::Engine;
use super::{MAX_TIMEOUT, longest_call, starting};

/// Characters a caller gets in all.
const RESULT_CAP: usize = 50_000;

#[derive(Deserialize, JsonSchema)]
struct Run {
    /// Shell command; pipes, redirections and `&&` are fine
    #[schemars(length(min = 1))]
    command: String,
    /// Seconds it may take
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 120))]
    timeout: u64,
    /// Working directory, inside the workspace or another opened folder; the workspace when left out
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
}

fn default_timeout() -> u64 {
    MAX_TIMEOUT
}

pub(super) fn tool(engine: &Arc<Engine>) -> Result<Arc<dyn Tool>, IdError> {
    let description = format!(
        "Run a shell command in the workspace, in a shell of its own, and get what it printed. {}. Write HTML as one \
         self-contained file, with its styles and scripts inside",
        engine.about()
    );
    let interpreter = engine.interpreter();
    let (engine, terms) = (Arc::clone(engine), engine.terms.clone());
    let tool = tool_fn("builtin:run_command", &description, move |context, run: Run| {
        let engine = Arc::clone(&engine);
        async move { execute(&engine, &context, run).await }
    })?;
    let tool = tool.check(move |arguments| super::foreign(interpreter, arguments).into_iter().collect());
    Ok(Arc::new(starting(tool, &terms, super::line, |spec| {
        spec.title("Run Command")
            .result_cap(RESULT_CAP)
            .timeout(longest_call())
            .when_to_use("a single command has to be run in the workspace")
            .usage_example("run the tests")
    })))
}

async fn execute(engine: &Engine, context: &CallContext, run: Run) -> Result<String, ToolError> {
    let folder = engine.folder(context, run.cwd.as_deref()).await?;
    let time = engine.time(context, Some(Duration::from_secs(run.timeout)));
    let order = engine.command(context, run.command, folder, time).await?;
    let ended = engine.run(order).await.map_err(not_run)?;
    Ok(told(&ended, time.wall))
}

/// What was printed, then what was printed as errors, then what went wrong.
fn told(ended: &ProgramEnd, wall: Option<Duration>) -> String {
    let mut text = whole(&ended.stdout);
    let mut add = |part: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(part);
    };
    let stderr = whole(&ended.stderr);
    if !stderr.is_empty() {
        add(&format!("[stderr]\n{stderr}"));
    }
    match ended.cause {
        Cause::Itself => {
            let code = code(ended.status, ended.cause);
            if code != 0 {
                add(&format!("[exit code: {code}]"));
            }
        }
        Cause::Limit(Limit::Wall) => {
            let seconds = wall.unwrap_or_default().as_secs_f64();
            add(&format!("[timed out after {seconds:.0} s, and ended with everything it had started]"));
        }
        cause => add(&format!("[{}]", note(cause).unwrap_or_default())),
    }
    if text.is_empty() { "(no output)".to_owned() } else { text }
}
