//! `manage_process`: lists, reads and ends programs in the background.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom::background::{BackgroundProgram, ProgramState};
use toolroom::call::CallContext;
use toolroom::schema::Problem;
use toolroom::tool::{Arguments, Capability, DEFAULT_RESULT_CAP, Effect, IdError, Tool, ToolError, tool_fn};
use toolroom_host::background::{BackgroundError, Log, ProgramStatus};
use toolroom_host::process::{Cause, Limit};

use super::conversation_resources::RecordedPrograms;
use super::program_end::{NO_CODE, exit_code};
use super::recorded_program;
use super::runner::CommandRunner;
use super::{FAMILY, RESULT_CAP, STREAM_CHARS};

/// Turns a number into an id.
const PREFIX: &str = "bg-";

/// Characters shown from the end of the standard error.
const STDERR_CHARS: usize = 2_000;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Log,
    Kill,
    Remove,
}

#[derive(Deserialize, JsonSchema)]
struct ManageProcessArguments {
    /// `list` shows all programs, `log` the output of one so far, `kill` ends one with everything it started, `remove` forgets one that has ended
    action: Action,
    /// Id of the program, e.g. `bg-1`; for every action except `list`
    session_id: Option<String>,
    /// `log`: first line, counted from 0
    #[serde(default)]
    #[schemars(range(min = 0))]
    offset: u64,
    /// `log`: number of lines
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: u64,
}

fn default_limit() -> u64 {
    200
}

#[derive(Debug, Serialize)]
pub(super) struct ProgramEntry {
    pub(super) session_id: String,
    pub(super) command: String,
    pub(super) status: &'static str,
    pub(super) exit_code: i32,
    /// Only for programs that another process started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_seconds: Option<u64>,
    pub(super) timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stdout_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'static str>,
}

pub(super) fn tool(runner: &Arc<CommandRunner>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "List the programs that `execute_shell_command` started in the background, read their output, \
                       kill them, or remove those that have ended";
    let conversation_resources = Arc::clone(&runner.conversation_resources);
    let tool =
        tool_fn("builtin:manage_process", description, move |context, asked: ManageProcessArguments| {
            let conversation_resources = Arc::clone(&conversation_resources);
            async move { manage(conversation_resources.programs(), &context, &asked).await }
        })?;
    Ok(Arc::new(tool.check(problems).with(|spec| {
        // Idempotent: killing twice is killing once. Only programs that were approved can be killed.
        spec.title("Manage Background Programs")
            .effect(Effect::IdempotentWrite)
            .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted, Capability::Writes])
            .follows(FAMILY)
            .off_by_default()
            .result_cap(RESULT_CAP)
            .text_cap(STREAM_CHARS)
            .model_cap(DEFAULT_RESULT_CAP)
            .when_to_use("a program was started in the background")
            .category("shell", &["process", "background", "log", "kill", "program"])
            .usage_example("is the server still running?")
    })))
}

/// The owner whose programs a call can see.
pub(super) fn owner(context: &CallContext) -> String {
    let scope = context.scope();
    // Ids contain no line break.
    format!("{}\n{}", scope.project, scope.user.as_ref().map_or("", |user| user.as_str()))
}

/// `1` → `bg-1`.
pub(super) fn session_id(id: u64) -> String {
    format!("{PREFIX}{id}")
}

fn problems(arguments: &Arguments) -> Vec<Problem> {
    let text = |name| arguments.get(name).and_then(Value::as_str);
    match (text("action"), text("session_id")) {
        (Some("list"), _) => Vec::new(),
        (_, None) => vec![Problem::new("session_id", "is missing; `list` shows the ids")],
        (_, Some(id)) if number(id).is_none() => {
            vec![Problem::new("session_id", "is not an id; ids look like `bg-1`")]
        }
        _ => Vec::new(),
    }
}

fn number(id: &str) -> Option<u64> {
    id.strip_prefix(PREFIX)?.parse().ok()
}

async fn manage(
    programs: Option<&RecordedPrograms>,
    context: &CallContext,
    asked: &ManageProcessArguments,
) -> Result<Value, ToolError> {
    let Some(programs) = programs else {
        return match asked.action {
            Action::List => Ok(listed(&[], &[])),
            Action::Log | Action::Kill | Action::Remove => {
                let wanted = asked.session_id.as_deref().unwrap_or_default();
                Err(failed(&BackgroundError::Unknown { id: 0 }, wanted))
            }
        };
    };
    let owner = owner(context);
    if let Action::List = asked.action {
        return Ok(listed(&programs.table.list(&owner), &programs.recorded(context).await?));
    }
    let wanted = asked.session_id.as_deref().unwrap_or_default();
    let id = number(wanted).unwrap_or_default();
    match in_this_process(programs, context, asked, id).await {
        Err(error @ BackgroundError::Unknown { .. }) => {
            let kept = programs.recorded(context).await?;
            match kept
                .iter()
                .find(|program| program.number == id && program.state != ProgramState::RunningHere)
            {
                Some(program) => in_other_process(programs, context, asked, program).await,
                None => Err(failed(&error, wanted)),
            }
        }
        Err(error) => Err(failed(&error, wanted)),
        Ok(value) => {
            if let Action::Remove = asked.action {
                programs.forget(context, id).await?;
            }
            Ok(value)
        }
    }
}

async fn in_this_process(
    programs: &RecordedPrograms,
    context: &CallContext,
    asked: &ManageProcessArguments,
    id: u64,
) -> Result<Value, BackgroundError> {
    let (table, owner) = (&programs.table, owner(context));
    match asked.action {
        Action::Log | Action::List => {
            Ok(logged(&table.log(&owner, id, asked.offset, asked.limit)?, asked.offset))
        }
        Action::Kill => {
            let item = item(&table.stop(&owner, id).await?);
            Ok(json!({
                "success": true,
                "session_id": item.session_id,
                "status": item.status,
                "exit_code": item.exit_code,
            }))
        }
        Action::Remove => {
            table.remove(&owner, id)?;
            Ok(json!({"success": true, "session_id": session_id(id)}))
        }
    }
}

async fn in_other_process(
    programs: &RecordedPrograms,
    context: &CallContext,
    asked: &ManageProcessArguments,
    program: &BackgroundProgram,
) -> Result<Value, ToolError> {
    match asked.action {
        Action::Log | Action::List => Ok(recorded_program::logged(program, asked.offset)),
        Action::Kill => recorded_program::killed(program),
        Action::Remove if recorded_program::is_running(program) => {
            Err(recorded_program::out_of_reach(program))
        }
        Action::Remove => {
            programs.forget(context, program.number).await?;
            Ok(json!({"success": true, "session_id": session_id(program.number)}))
        }
    }
}

fn listed(own: &[ProgramStatus], kept: &[BackgroundProgram]) -> Value {
    let is_own = |number| own.iter().any(|program| program.id == number);
    let former =
        kept.iter().filter(|program| program.state != ProgramState::RunningHere && !is_own(program.number));
    let former =
        former.map(|program| (recorded_program::is_running(program), recorded_program::item(program)));
    let own = own.iter().map(|program| (program.end.is_none(), item(program)));
    let (running, finished): (Vec<_>, Vec<_>) = former.chain(own).partition(|(is_running, _)| *is_running);
    let total = running.len() + finished.len();
    let items = |list: Vec<(bool, ProgramEntry)>| {
        list.into_iter().map(|(_, item)| item).collect::<Vec<ProgramEntry>>()
    };
    json!({"running": items(running), "finished": items(finished), "total": total})
}

fn logged(log: &Log, offset: u64) -> Value {
    let item = item(&log.program);
    json!({
        "success": true,
        "session_id": item.session_id,
        "status": item.status,
        "exit_code": item.exit_code,
        "stdout": log.stdout.text,
        "stderr": log.stderr.last_chars(STDERR_CHARS),
        "total_stdout_lines": log.stdout.total_lines,
        "offset": offset,
        "timed_out": item.timed_out,
    })
}

fn item(program: &ProgramStatus) -> ProgramEntry {
    let (status, exit_code, timed_out) = match program.end.as_deref() {
        None => ("running", NO_CODE, false),
        // Another process killed it; the supervisor has no status.
        Some(Err(_)) => ("lost", NO_CODE, false),
        Some(Ok(ended)) => {
            let status = if ended.cause == Cause::Itself { "finished" } else { "killed" };
            (status, exit_code(ended.status, ended.cause), ended.cause == Cause::Limit(Limit::Wall))
        }
    };
    ProgramEntry {
        session_id: session_id(program.id),
        command: program.command.clone(),
        status,
        exit_code,
        started_at: None,
        duration_seconds: Some(program.duration.as_secs()),
        timed_out,
        stdout_length: Some(program.stdout_bytes),
        note: None,
    }
}

fn failed(error: &BackgroundError, wanted: &str) -> ToolError {
    match error {
        BackgroundError::Unknown { .. } => ToolError::not_found(format!(
            "there is no program `{wanted}` in the background; programs end with the process that started them"
        )),
        BackgroundError::Running { .. } => {
            ToolError::invalid(format!("`{wanted}` still runs")).with_hint("`kill` it first")
        }
        error => ToolError::tool(error.to_string()),
    }
}
