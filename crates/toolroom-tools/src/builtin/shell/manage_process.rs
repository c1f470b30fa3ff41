//! `manage_process`: looks after the programs in the background.

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

use super::ended::{NO_CODE, code};
use super::engine::Engine;
use super::kept_program;
use super::lasting::Programs;
use super::{FAMILY, RESULT_CAP, STREAM_CHARS};

/// What is in front of a number to make an id of it.
const PREFIX: &str = "bg-";

/// Characters of the errors, from their end.
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
struct Manage {
    /// `list` shows all, `log` what one has printed until now, `kill` ends one with everything it started, `remove` forgets one that has ended
    action: Action,
    /// Which one, e.g. `bg-1`; for all actions but `list`
    session_id: Option<String>,
    /// `log`: the first line, counted from 0
    #[serde(default)]
    #[schemars(range(min = 0))]
    offset: u64,
    /// `log`: how many lines
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: u64,
}

fn default_limit() -> u64 {
    200
}

#[derive(Debug, Serialize)]
pub(super) struct Item {
    pub(super) session_id: String,
    pub(super) command: String,
    pub(super) status: &'static str,
    pub(super) exit_code: i32,
    /// Only of those that another process started.
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

pub(super) fn tool(engine: &Arc<Engine>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "List the programs that `execute_shell_command` started in the background, read what they \
                       print, kill them, remove those that have ended";
    let lasting = Arc::clone(&engine.lasting);
    let tool = tool_fn("builtin:manage_process", description, move |context, asked: Manage| {
        let lasting = Arc::clone(&lasting);
        async move { manage(lasting.programs(), &context, &asked).await }
    })?;
    Ok(Arc::new(tool.check(problems).with(|spec| {
        // Killing twice is killing once, and only what was started with a yes can be killed.
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

/// Whose programs a call can see.
pub(super) fn owner(context: &CallContext) -> String {
    let scope = context.scope();
    // No id holds a line end.
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
        (_, None) => vec![Problem::new("session_id", "is missing; `list` shows which there are")],
        (_, Some(id)) if number(id).is_none() => {
            vec![Problem::new("session_id", "is no id; they look like `bg-1`")]
        }
        _ => Vec::new(),
    }
}

fn number(id: &str) -> Option<u64> {
    id.strip_prefix(PREFIX)?.parse().ok()
}

async fn manage(
    programs: Option<&Programs>,
    context: &CallContext,
    asked: &Manage,
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
        return Ok(listed(&programs.table.list(&owner), &programs.kept(context).await?));
    }
    let wanted = asked.session_id.as_deref().unwrap_or_default();
    let id = number(wanted).unwrap_or_default();
    match here(programs, context, asked, id).await {
        Err(error @ BackgroundError::Unknown { .. }) => {
            let kept = programs.kept(context).await?;
            match kept
                .iter()
                .find(|program| program.number == id && program.state != ProgramState::RunningHere)
            {
                Some(program) => former(programs, context, asked, program).await,
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

/// What is asked about a program that this process started.
async fn here(
    programs: &Programs,
    context: &CallContext,
    asked: &Manage,
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

/// What is asked about a program that another process started.
async fn former(
    programs: &Programs,
    context: &CallContext,
    asked: &Manage,
    program: &BackgroundProgram,
) -> Result<Value, ToolError> {
    match asked.action {
        Action::Log | Action::List => Ok(kept_program::logged(program, asked.offset)),
        Action::Kill => kept_program::killed(program),
        Action::Remove if kept_program::is_running(program) => Err(kept_program::out_of_reach(program)),
        Action::Remove => {
            programs.forget(context, program.number).await?;
            Ok(json!({"success": true, "session_id": session_id(program.number)}))
        }
    }
}

fn listed(own: &[ProgramStatus], kept: &[BackgroundProgram]) -> Value {
    let is_own = |number| own.iter().any(|standing| standing.id == number);
    let former =
        kept.iter().filter(|program| program.state != ProgramState::RunningHere && !is_own(program.number));
    let former = former.map(|program| (kept_program::is_running(program), kept_program::item(program)));
    let own = own.iter().map(|standing| (standing.end.is_none(), item(standing)));
    let (running, finished): (Vec<_>, Vec<_>) = former.chain(own).partition(|(is_running, _)| *is_running);
    let total = running.len() + finished.len();
    let items = |list: Vec<(bool, Item)>| list.into_iter().map(|(_, item)| item).collect::<Vec<Item>>();
    json!({"running": items(running), "finished": items(finished), "total": total})
}

fn logged(log: &Log, offset: u64) -> Value {
    let item = item(&log.standing);
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

fn item(standing: &ProgramStatus) -> Item {
    let (status, exit_code, timed_out) = match standing.end.as_deref() {
        None => ("running", NO_CODE, false),
        // Something ended the program behind the back of its supervisor.
        Some(Err(_)) => ("lost", NO_CODE, false),
        Some(Ok(ended)) => {
            let status = if ended.cause == Cause::Itself { "finished" } else { "killed" };
            (status, code(ended.status, ended.cause), ended.cause == Cause::Limit(Limit::Wall))
        }
    };
    Item {
        session_id: session_id(standing.id),
        command: standing.command.clone(),
        status,
        exit_code,
        started_at: None,
        duration_seconds: Some(standing.duration.as_secs()),
        timed_out,
        stdout_length: Some(standing.stdout_bytes),
        note: None,
    }
}

fn failed(error: &BackgroundError, wanted: &str) -> ToolError {
    match error {
        BackgroundError::Unknown { .. } => ToolError::not_found(format!(
            "there is no `{wanted}` in the background; programs there end with the process that started them"
        )),
        BackgroundError::Running { .. } => {
            ToolError::invalid(format!("`{wanted}` still runs")).with_hint("`kill` it first")
        }
        error => ToolError::tool(error.to_string()),
    }
}
