//! The shell family: running programs and commands, and looking after those in the background.
//!
//! One toggle for all, off until somebody switches it on.

mod cell;
mod ended;
mod engine;
mod execute_shell_command;
mod kept_program;
mod lasting;
mod manage_process;
mod run_command;
mod shell_exec;
mod ssh_configure_host;
mod terms;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::tool::{
    Arguments, Capability, DEFAULT_RESULT_CAP, Effect, FnTool, IdError, Risk, Timeout, Tool, ToolSpec,
};
use toolroom_host::shell::Interpreter;

use super::Surroundings;
use crate::shell::grammar::{only_bash, parse};
use engine::Engine;
pub use lasting::Lasting;
pub use terms::CommandTerms;

/// One toggle, and one name in rules.
const FAMILY: &str = "execute_shell_command";

/// Characters a caller gets of each stream.
const STREAM_CHARS: usize = 30_000;

/// Two streams in JSON, which may write a character as six.
const RESULT_CAP: usize = 2 * STREAM_CHARS * 6 + 10_000;

/// Seconds a command for a shell may take at most.
const MAX_TIMEOUT: u64 = 120;

/// How long a call with such a command may take: the command's own limit comes first, and can say more.
fn longest_call() -> Timeout {
    Timeout::After(Duration::from_secs(MAX_TIMEOUT + 10))
}

/// Every tool of the family, by name.
pub(super) fn all(around: &Surroundings) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let engine = Arc::new(Engine::new(around));
    Ok(vec![
        execute_shell_command::tool(&engine)?,
        manage_process::tool(&engine)?,
        run_command::tool(&engine)?,
        shell_exec::tool(&engine)?,
        ssh_configure_host::tool(&engine, around.ssh.clone())?,
    ])
}

/// A tool that starts something. Inside a sandbox its judge decides what is asked about. Without one every call is, and a
/// yes is for one call: what a program does depends on far more than its words.
fn starting<A, R, F>(
    tool: FnTool<A, R, F>,
    terms: &CommandTerms,
    judge: fn(&CommandTerms, &Arguments) -> Judgement,
    change: impl FnOnce(ToolSpec) -> ToolSpec,
) -> FnTool<A, R, F> {
    let (judging, confined) = (terms.clone(), terms.are_confined());
    let outward = |capability: &Capability| *capability != Capability::Egress || terms.reach_out();
    let able: Vec<Capability> = Capability::ALL.into_iter().filter(outward).collect();
    let destination = terms.destination();
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

/// What the line of a call says, and the variables it comes with. Arguments that are no words are refused elsewhere.
fn line(terms: &CommandTerms, arguments: &Arguments) -> Judgement {
    let line = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    let variables = arguments.get("env").and_then(Value::as_object).into_iter().flatten();
    let variables: Vec<(&str, &str)> =
        variables.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default())).collect();
    terms.about_line(line, &variables)
}

/// What is bash's in a line, where there is no bash: the shell that is there would refuse it, or read something else than
/// was judged.
fn foreign(interpreter: Interpreter, arguments: &Arguments) -> Option<Problem> {
    if interpreter == Interpreter::Bash {
        return None;
    }
    let line = arguments.get("command").and_then(Value::as_str)?;
    let found = only_bash(&parse(line).ok()?)?;
    let text = format!(
        "holds {found}, which only bash understands, and this machine has only `sh`; write it as every shell reads it"
    );
    Some(Problem::new("command", text))
}

/// What a program with its arguments says.
fn program(terms: &CommandTerms, arguments: &Arguments) -> Judgement {
    let program = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    let words = arguments.get("args").and_then(Value::as_array).into_iter().flatten();
    let words: Vec<String> = words.filter_map(Value::as_str).map(str::to_owned).collect();
    terms.about_program(program, &words)
}
