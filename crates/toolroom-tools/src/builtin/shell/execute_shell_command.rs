//! `execute_shell_command`: a command in the conversation's own shell, in a fresh one, or in the background.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use toolroom::call::CallContext;
use toolroom::schema::Problem;
use toolroom::tool::{Arguments, ErrorKind, IdError, Tool, ToolError, ToolOutput, tool_fn};
use toolroom_host::background::{BackgroundError, NewProgram};
use toolroom_host::process::{CapturedOutput, Cause, Limit, Variables};
use toolroom_host::shell::{Command, CommandEnd, ShellError};

use super::ended::{NO_CODE, code, not_run, note, whole};
use super::engine::{Engine, variables};
use super::lasting::conversation;
use super::manage_process::{owner, session_id};
use super::{longest_call, starting};

/// Seconds a command may take when it does not say.
const DEFAULT_TIMEOUT: u64 = 30;

/// How long a command waits for its turn and runs, where the call has no end of its own.
const MAX_WAIT: Duration = Duration::from_secs(10 * 60);

/// What a shell and its commands may take of the processors together while it lives.
const SHELL_CPU: Duration = Duration::from_secs(2 * 60 * 60);

/// How long a program in the background may run, and work.
const BACKGROUND_WALL: Duration = Duration::from_secs(24 * 60 * 60);
const BACKGROUND_CPU: Duration = Duration::from_secs(4 * 60 * 60);

#[derive(Deserialize, JsonSchema)]
struct Execute {
    /// The shell command
    #[schemars(length(min = 1))]
    command: String,
    /// Seconds it may take; in the background it may take longer
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 120))]
    timeout: u64,
    /// Where to run it, inside the workspace or another opened folder. The conversation's shell stays there
    #[serde(default, skip_serializing_if = "Option::is_none")]
    working_dir: Option<String>,
    /// Environment variables for this command
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Start it and return a `session_id` at once, for `manage_process`
    #[serde(default)]
    background: bool,
    /// Run it in a shell of its own, which knows nothing of earlier commands
    #[serde(default)]
    fresh: bool,
}

fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT
}

#[derive(Debug, Serialize)]
struct Executed {
    success: bool,
    stdout: String,
    stderr: String,
    exit_code: i32,
    timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Only of the conversation's shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    shell_died: Option<bool>,
    /// What is odd about the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Serialize)]
struct Started {
    success: bool,
    session_id: String,
    message: &'static str,
}

pub(super) fn tool(engine: &Arc<Engine>) -> Result<Arc<dyn Tool>, IdError> {
    let description = format!(
        "Run a shell command and get what it printed and its exit code. {}. Commands of one conversation share a \
         shell: `cd`, exports and functions carry over, unless `fresh` is set. Standard input is empty. Programs that \
         go on, such as servers, belong into the `background`. Write HTML as one self-contained file, with its styles \
         and scripts inside",
        engine.about()
    );
    let interpreter = engine.interpreter();
    let (engine, terms) = (Arc::clone(engine), engine.terms.clone());
    let tool = tool_fn("builtin:execute_shell_command", &description, move |context, asked: Execute| {
        let engine = Arc::clone(&engine);
        async move { execute(&engine, &context, asked).await }
    })?;
    let tool = tool.check(move |arguments| {
        super::foreign(interpreter, arguments).into_iter().chain(problems(arguments)).collect()
    });
    Ok(Arc::new(starting(tool, &terms, super::line, |spec| {
        spec.title("Execute Shell Command")
            .family(super::FAMILY, true)
            .serial()
            .timeout(longest_call())
            .when_to_use("something has to be done with commands on this machine")
            .usage_example("build the project and run its tests")
            .usage_example("start the development server")
    })))
}

/// Variables that are refused are, before anybody is asked.
fn problems(arguments: &Arguments) -> Vec<Problem> {
    let Some(Value::Object(asked)) = arguments.get("env") else { return Vec::new() };
    let checked = asked.iter().map(|(name, value)| (name, value.as_str().unwrap_or_default()));
    let refused =
        checked.filter_map(|(name, value)| Some((name, Variables::clean().with(name, value).err()?)));
    refused.map(|(_, error)| Problem::new("env", format!("is refused: {error}"))).collect()
}

async fn execute(engine: &Engine, context: &CallContext, asked: Execute) -> Result<ToolOutput, ToolError> {
    let folder = match &asked.working_dir {
        Some(folder) => Some(engine.folder(context, Some(folder)).await?),
        None => None,
    };
    // Refused also where nobody checked.
    let variables = variables(&asked.env)?;
    let executed = match (asked.background, conversation(context)) {
        (true, conversation) => return start(engine, context, conversation, asked, folder, variables).await,
        (false, Some(name)) if !asked.fresh => converse(engine, context, &name, asked, folder).await?,
        (false, _) => run_once(engine, context, asked, folder, variables).await?,
    };
    output(&executed)
}

/// In the shell of the conversation.
async fn converse(
    engine: &Engine,
    context: &CallContext,
    name: &str,
    asked: Execute,
    folder: Option<PathBuf>,
) -> Result<Executed, ToolError> {
    let wall = engine.time(context, Some(Duration::from_secs(asked.timeout))).wall.unwrap_or_default();
    let home = engine.folder(context, None).await?;
    // The shell outlives this command, whose own end is told to the shell.
    let shell = engine.interpreter().name();
    let mut order = engine.order(context, shell, home, engine.time(context, None)).await?;
    order.limits.wall = None;
    order.limits.cpu = Some(SHELL_CPU);
    let command = Command {
        text: engine.terms.as_judged(asked.command),
        folder,
        variables: asked.env.into_iter().map(|(name, value)| (name, OsString::from(value))).collect(),
        wall,
        until: Instant::now() + engine.time(context, None).wall.unwrap_or(MAX_WAIT),
    };
    let outcome = engine.lasting.shells().run(name, order, &command).await;
    engine.lasting.note(context);
    let outcome = outcome.map_err(not_given)?;
    let (exit_code, timed_out, note) = match outcome.end {
        CommandEnd::Done(code) => (code, false, None),
        CommandEnd::ShellEnded(status, cause) => {
            let why = note(cause).unwrap_or_else(|| "the command ended its shell".to_owned());
            (code(status, cause), false, Some(format!("{why}; the next command gets a new shell")))
        }
        CommandEnd::OutOfTime => {
            let note = format!(
                "it took more than {:.0} s and was ended with everything it had started; the next command gets a new \
                 shell in the state from before this one",
                wall.as_secs_f64()
            );
            (NO_CODE, true, Some(note))
        }
    };
    Ok(Executed {
        cwd: outcome.folder.map(|folder| folder.to_string_lossy().into_owned()),
        shell_died: Some(!matches!(outcome.end, CommandEnd::Done(_))),
        ..executed(exit_code, timed_out, &outcome.stdout, &outcome.stderr, note)
    })
}

/// In a shell of its own.
async fn run_once(
    engine: &Engine,
    context: &CallContext,
    asked: Execute,
    folder: Option<PathBuf>,
    variables: Variables,
) -> Result<Executed, ToolError> {
    let folder = match folder {
        Some(folder) => folder,
        None => engine.folder(context, None).await?,
    };
    let cwd = folder.to_string_lossy().into_owned();
    let time = engine.time(context, Some(Duration::from_secs(asked.timeout)));
    let mut order = engine.command(context, asked.command, folder, time).await?;
    order.variables = variables;
    let ended = engine.run(order).await.map_err(not_run)?;
    let timed_out = ended.cause == Cause::Limit(Limit::Wall);
    let code = code(ended.status, ended.cause);
    Ok(Executed {
        cwd: Some(cwd),
        ..executed(code, timed_out, &ended.stdout, &ended.stderr, note(ended.cause))
    })
}

/// In the background.
async fn start(
    engine: &Engine,
    context: &CallContext,
    conversation: Option<String>,
    asked: Execute,
    folder: Option<PathBuf>,
    variables: Variables,
) -> Result<ToolOutput, ToolError> {
    let Some(programs) = engine.lasting.programs() else {
        let refused =
            ToolError::invalid("nothing can run in the background here: this process ends with the call");
        return Err(refused.with_hint("use `toolroom chat` or `toolroom serve`, or leave out `background`"));
    };
    let folder = match folder {
        Some(folder) => folder,
        None => engine.folder(context, None).await?,
    };
    let command = context.without_secrets(&asked.command).into_owned();
    let mut order = engine.command(context, asked.command, folder, engine.time(context, None)).await?;
    order.variables = variables;
    order.limits.wall = Some(BACKGROUND_WALL);
    order.limits.cpu = Some(BACKGROUND_CPU);
    // Only the ends are kept, however much there is.
    order.limits.output_bytes = None;
    let id = programs.keep(context, &command).await?;
    let commission = NewProgram { id, owner: owner(context), conversation, command };
    if let Err(error) = programs.table.start(commission, order).await {
        programs.forget(context, id).await?;
        return Err(match error {
            BackgroundError::Process(error) => not_run(error),
            error => ToolError::tool(error.to_string()).with_hint("`manage_process` lists and kills them"),
        });
    }
    engine.lasting.note(context);
    output(&Started {
        success: true,
        session_id: session_id(id),
        message: "it runs; `manage_process` shows what it prints, and kills it",
    })
}

fn executed(
    exit_code: i32,
    timed_out: bool,
    stdout: &CapturedOutput,
    stderr: &CapturedOutput,
    note: Option<String>,
) -> Executed {
    Executed {
        success: exit_code == 0 && !timed_out,
        stdout: whole(stdout),
        stderr: whole(stderr),
        exit_code,
        timed_out,
        cwd: None,
        shell_died: None,
        note,
    }
}

fn output(value: &impl Serialize) -> Result<ToolOutput, ToolError> {
    serde_json::to_value(value)
        .map(ToolOutput::new)
        .map_err(|error| ToolError::new(ErrorKind::Crashed, "the result is no JSON").caused_by(error))
}

/// A command that no shell was given.
fn not_given(error: ShellError) -> ToolError {
    match error {
        ShellError::Process(error) => not_run(error),
        ShellError::Full { .. } | ShellError::Busy => {
            ToolError::tool(error.to_string()).with_hint("`fresh` runs a command in a shell of its own")
        }
        ShellError::Closed => ToolError::new(ErrorKind::Cancelled, error.to_string()).in_doubt(),
        error => ToolError::invalid(error.to_string()),
    }
}
