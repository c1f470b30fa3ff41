//! The shell family: runs programs and commands, and manages those in the background.
//!
//! One switch for all of them, off by default.

mod command_policy;
mod conversation_resources;
mod execute_shell_command;
mod manage_process;
mod program_end;
mod recorded_program;
mod run_command;
mod runner;
mod sandbox;
mod shell_exec;
mod ssh_configure_host;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::tool::{
    Arguments, Capability, DEFAULT_RESULT_CAP, Effect, FnTool, IdError, Risk, Timeout, Tool, ToolSpec,
};
use toolroom_host::shell::Interpreter;

use super::ToolDependencies;
use crate::shell::grammar::{only_bash, parse};
pub use command_policy::CommandPolicy;
pub use conversation_resources::ConversationResources;
use runner::CommandRunner;

/// The switch, and the name in rules.
const FAMILY: &str = "execute_shell_command";

/// Characters a caller gets of each stream.
const STREAM_CHARS: usize = 30_000;

/// Two streams in JSON, which may escape one character as six.
const RESULT_CAP: usize = 2 * STREAM_CHARS * 6 + 10_000;

/// Seconds a command for a shell may take at most.
const MAX_TIMEOUT: u64 = 120;

/// The deadline of a call: longer than the command's own limit, which ends it with a better message.
fn longest_call() -> Timeout {
    Timeout::After(Duration::from_secs(MAX_TIMEOUT + 10))
}

pub(super) fn all(dependencies: &ToolDependencies) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let runner = Arc::new(CommandRunner::new(dependencies));
    Ok(vec![
        execute_shell_command::tool(&runner)?,
        manage_process::tool(&runner)?,
        run_command::tool(&runner)?,
        shell_exec::tool(&runner)?,
        ssh_configure_host::tool(&runner, dependencies.ssh.clone())?,
    ])
}

/// A tool that starts programs. Inside a sandbox its judge decides what needs approval. Without one every call does, and
/// each approval is for one call: what a program does depends on far more than its arguments.
fn starting<A, R, F>(
    tool: FnTool<A, R, F>,
    policy: &CommandPolicy,
    judge: fn(&CommandPolicy, &Arguments) -> Judgement,
    change: impl FnOnce(ToolSpec) -> ToolSpec,
) -> FnTool<A, R, F> {
    let (judging, confined) = (policy.clone(), policy.are_confined());
    let outward = |capability: &Capability| *capability != Capability::Egress || policy.reach_out();
    let able: Vec<Capability> = Capability::ALL.into_iter().filter(outward).collect();
    let destination = policy.destination();
    let tool = tool.judge(move |arguments| judge(&judging, arguments));
    let tool = tool.destination(move |_| Some(destination.clone()));
    tool.with(|spec| {
        let spec = if confined { spec.confined() } else { spec.single_answers() };
        let spec = spec
            .effect(Effect::Destructive)
            .capabilities(&able)
            .risk(Risk::High)
            .family(FAMILY, false)
            .off_by_default()
            .result_cap(RESULT_CAP)
            .text_cap(STREAM_CHARS)
            .model_cap(DEFAULT_RESULT_CAP)
            .category("shell", &["shell", "command", "program", "run", "execute"]);
        change(spec)
    })
}

/// Judges the command line and its variables. Arguments of another type are refused by the schema.
fn line(policy: &CommandPolicy, arguments: &Arguments) -> Judgement {
    let line = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    let variables = arguments.get("env").and_then(Value::as_object).into_iter().flatten();
    let variables: Vec<(&str, &str)> =
        variables.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default())).collect();
    policy.judge_line(line, &variables)
}

/// Syntax that only bash has, on a machine without bash: `sh` would refuse the line, or read it differently than it was
/// judged.
fn bash_only_syntax(interpreter: Interpreter, arguments: &Arguments) -> Option<Problem> {
    if interpreter == Interpreter::Bash {
        return None;
    }
    let line = arguments.get("command").and_then(Value::as_str)?;
    let found = only_bash(&parse(line).ok()?)?;
    let text = format!(
        "contains {found}, which only bash understands, and this machine has only `sh`; write it in plain `sh` syntax"
    );
    Some(Problem::new("command", text))
}

/// Judges a program with its arguments.
fn program(policy: &CommandPolicy, arguments: &Arguments) -> Judgement {
    let program = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    let words = arguments.get("args").and_then(Value::as_array).into_iter().flatten();
    let words: Vec<String> = words.filter_map(Value::as_str).map(str::to_owned).collect();
    policy.judge_program(program, &words)
}
