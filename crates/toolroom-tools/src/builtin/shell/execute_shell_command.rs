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

use super::conversation_resources::conversation;
use super::manage_process::{owner, session_id};
use super::program_end::{NO_CODE, captured_text, end_note, exit_code, process_error};
use super::runner::{CommandRunner, variables};
use super::{longest_call, starting};

const DEFAULT_TIMEOUT: u64 = 30;

/// Total time for waiting and running, if the call has no deadline.
const MAX_WAIT: Duration = Duration::from_secs(10 * 60);

/// Processor time of a conversation's shell and all its commands.
const SHELL_CPU: Duration = Duration::from_secs(2 * 60 * 60);

/// Limits of a program in the background.
const BACKGROUND_WALL: Duration = Duration::from_secs(24 * 60 * 60);
const BACKGROUND_CPU: Duration = Duration::from_secs(4 * 60 * 60);

#[derive(Deserialize, JsonSchema)]
struct ExecuteShellCommandArguments {
    /// The shell command
    #[schemars(length(min = 1))]
    command: String,
    /// Maximum run time in seconds; does not apply in the background
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 120))]
    timeout: u64,
    /// Working directory, inside the workspace or another opened folder. The conversation's shell stays there
    #[serde(default, skip_serializing_if = "Option::is_none")]
    working_dir: Option<String>,
    /// Environment variables for this command
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Start the command in the background and return a `session_id` at once, for `manage_process`
    #[serde(default)]
    background: bool,
    /// Use a new shell, without the state of earlier commands
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
    /// Only for the conversation's shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    shell_died: Option<bool>,
    /// Explains an unusual end.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Serialize)]
struct Started {
    success: bool,
    session_id: String,
    message: &'static str,
}

pub(super) fn tool(runner: &Arc<CommandRunner>) -> Result<Arc<dyn Tool>, IdError> {
    let description = format!(
        "Run a shell command and return its output and exit code. {}. The commands of one conversation share a shell: \
         `cd`, exports and functions carry over, unless `fresh` is set. Standard input is empty. Use `background` for \
         programs that keep running, such as servers. Write HTML as one self-contained file, with its styles and scripts \
         inside",
        runner.describe()
    );
    let interpreter = runner.interpreter();
    let (runner, policy) = (Arc::clone(runner), runner.policy.clone());
    let tool = tool_fn(
        "builtin:execute_shell_command",
        &description,
        move |context, asked: ExecuteShellCommandArguments| {
            let runner = Arc::clone(&runner);
            async move { execute(&runner, &context, asked).await }
        },
    )?;
    let tool = tool.check(move |arguments| {
        super::bash_only_syntax(interpreter, arguments).into_iter().chain(problems(arguments)).collect()
    });
    Ok(Arc::new(starting(tool, &policy, super::line, |spec| {
        spec.title("Execute Shell Command")
            .family(super::FAMILY, true)
            .serial()
            .timeout(longest_call())
            .when_to_use("the task needs commands on this machine")
            .usage_example("build the project and run its tests")
            .usage_example("start the development server")
    })))
}

/// Refused variables are reported before the call asks for approval.
fn problems(arguments: &Arguments) -> Vec<Problem> {
    let Some(Value::Object(asked)) = arguments.get("env") else { return Vec::new() };
    let checked = asked.iter().map(|(name, value)| (name, value.as_str().unwrap_or_default()));
    let refused =
        checked.filter_map(|(name, value)| Some((name, Variables::clean().with(name, value).err()?)));
    refused.map(|(_, error)| Problem::new("env", format!("is not allowed: {error}"))).collect()
}

async fn execute(
    runner: &CommandRunner,
    context: &CallContext,
    asked: ExecuteShellCommandArguments,
) -> Result<ToolOutput, ToolError> {
    let folder = match &asked.working_dir {
        Some(folder) => Some(runner.folder(context, Some(folder)).await?),
        None => None,
    };
    // Refused here too, in case the check was skipped.
    let variables = variables(&asked.env)?;
    let executed = match (asked.background, conversation(context)) {
        (true, conversation) => return start(runner, context, conversation, asked, folder, variables).await,
        (false, Some(name)) if !asked.fresh => {
            run_in_conversation(runner, context, &name, asked, folder).await?
        }
        (false, _) => run_once(runner, context, asked, folder, variables).await?,
    };
    output(&executed)
}

/// Runs a command in the shell of the conversation.
async fn run_in_conversation(
    runner: &CommandRunner,
    context: &CallContext,
    name: &str,
    asked: ExecuteShellCommandArguments,
    folder: Option<PathBuf>,
) -> Result<Executed, ToolError> {
    let wall = runner.time(context, Some(Duration::from_secs(asked.timeout))).wall.unwrap_or_default();
    let home = runner.folder(context, None).await?;
    // The shell outlives this command; the command has a time limit of its own.
    let shell = runner.interpreter().name();
    let mut order = runner.order(context, shell, home, runner.time(context, None)).await?;
    order.limits.wall = None;
    order.limits.cpu = Some(SHELL_CPU);
    let command = Command {
        text: runner.policy.as_judged(asked.command),
        folder,
        variables: asked.env.into_iter().map(|(name, value)| (name, OsString::from(value))).collect(),
        wall,
        until: Instant::now() + runner.time(context, None).wall.unwrap_or(MAX_WAIT),
    };
    let outcome = runner.conversation_resources.shells().run(name, order, &command).await;
    runner.conversation_resources.note(context);
    let outcome = outcome.map_err(shell_error)?;
    let (exit_code, timed_out, note) = match outcome.end {
        CommandEnd::Done(code) => (code, false, None),
        CommandEnd::ShellEnded(status, cause) => {
            let why = end_note(cause).unwrap_or_else(|| "the command ended its shell".to_owned());
            (exit_code(status, cause), false, Some(format!("{why}; the next command gets a new shell")))
        }
        CommandEnd::OutOfTime => {
            let note = format!(
                "it took more than {:.0} s and was ended with all processes it had started; the next command gets a \
                 new shell, in the state before this one",
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

/// Runs a command in a shell of its own.
async fn run_once(
    runner: &CommandRunner,
    context: &CallContext,
    asked: ExecuteShellCommandArguments,
    folder: Option<PathBuf>,
    variables: Variables,
) -> Result<Executed, ToolError> {
    let folder = match folder {
        Some(folder) => folder,
        None => runner.folder(context, None).await?,
    };
    let cwd = folder.to_string_lossy().into_owned();
    let time = runner.time(context, Some(Duration::from_secs(asked.timeout)));
    let mut order = runner.command(context, asked.command, folder, time).await?;
    order.variables = variables;
    let ended = runner.run(order).await.map_err(process_error)?;
    let timed_out = ended.cause == Cause::Limit(Limit::Wall);
    let code = exit_code(ended.status, ended.cause);
    Ok(Executed {
        cwd: Some(cwd),
        ..executed(code, timed_out, &ended.stdout, &ended.stderr, end_note(ended.cause))
    })
}

async fn start(
    runner: &CommandRunner,
    context: &CallContext,
    conversation: Option<String>,
    asked: ExecuteShellCommandArguments,
    folder: Option<PathBuf>,
    variables: Variables,
) -> Result<ToolOutput, ToolError> {
    let Some(programs) = runner.conversation_resources.programs() else {
        let refused = ToolError::invalid(
            "programs cannot run in the background here, because this process ends with the call",
        );
        return Err(refused.with_hint("use `toolroom chat` or `toolroom serve`, or leave out `background`"));
    };
    let folder = match folder {
        Some(folder) => folder,
        None => runner.folder(context, None).await?,
    };
    let command = context.without_secrets(&asked.command).into_owned();
    let mut order = runner.command(context, asked.command, folder, runner.time(context, None)).await?;
    order.variables = variables;
    order.limits.wall = Some(BACKGROUND_WALL);
    order.limits.cpu = Some(BACKGROUND_CPU);
    // The output is unlimited; only its two ends are kept.
    order.limits.output_bytes = None;
    let id = programs.record(context, &command).await?;
    let commission = NewProgram { id, owner: owner(context), conversation, command };
    if let Err(error) = programs.table.start(commission, order).await {
        programs.forget(context, id).await?;
        return Err(match error {
            BackgroundError::Process(error) => process_error(error),
            error => {
                ToolError::tool(error.to_string()).with_hint("`manage_process` lists and kills programs")
            }
        });
    }
    runner.conversation_resources.note(context);
    output(&Started {
        success: true,
        session_id: session_id(id),
        message: "started; use `manage_process` to read its output or kill it",
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
        stdout: captured_text(stdout),
        stderr: captured_text(stderr),
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
        .map_err(|error| ToolError::new(ErrorKind::Crashed, "the result is not valid JSON").caused_by(error))
}

/// A command that was not given to a shell.
fn shell_error(error: ShellError) -> ToolError {
    match error {
        ShellError::Process(error) => process_error(error),
        ShellError::Full { .. } | ShellError::Busy => {
            ToolError::tool(error.to_string()).with_hint("`fresh` runs the command in a shell of its own")
        }
        ShellError::Closed => ToolError::new(ErrorKind::Cancelled, error.to_string()).in_doubt(),
        error => ToolError::invalid(error.to_string()),
    }
}
