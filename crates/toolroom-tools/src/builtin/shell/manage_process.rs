//! `manage_process`: looks after the programs in the background.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom::call::CallContext;
use toolroom::schema::Problem;
use toolroom::tool::{Arguments, Capability, Effect, IdError, Tool, ToolError, tool_fn};
use toolroom_host::background::{Background, BackgroundError, Log, Standing};
use toolroom_host::process::{Cause, Limit};

use super::ended::code;
use super::engine::Engine;
use super::{FAMILY, MODEL_CHARS, RESULT_CAP, STREAM_CHARS};

/// What is in front of a number to make an id of it.
const PREFIX: &str = "bg-";

/// Characters of the errors, from their end.
const STDERR_CHARS: usize = 2_000;

/// A code for a program that has none yet.
const NO_CODE: i32 = -1;

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
struct Item {
    session_id: String,
    command: String,
    status: &'static str,
    exit_code: i32,
    duration_seconds: u64,
    timed_out: bool,
    stdout_length: u64,
}

pub(super) fn tool(engine: &Arc<Engine>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "List the programs that `execute_shell_command` started in the background, read what they \
                       print, kill them, remove those that have ended";
    let background = engine.background.clone();
    let tool = tool_fn("builtin:manage_process", description, move |context, asked: Manage| {
        let background = background.clone();
        async move { manage(background.as_deref(), &context, &asked).await }
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
            .model_cap(MODEL_CHARS)
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
    background: Option<&Background>,
    context: &CallContext,
    asked: &Manage,
) -> Result<Value, ToolError> {
    let owner = owner(context);
    let wanted = asked.session_id.as_deref().unwrap_or_default();
    let id = number(wanted).unwrap_or_default();
    let failed = |error| failed(&error, wanted);
    match (asked.action, background) {
        (Action::List, background) => {
            let all = background.map(|background| background.list(&owner)).unwrap_or_default();
            let (running, finished): (Vec<_>, Vec<_>) =
                all.iter().partition(|standing| standing.end.is_none());
            let items = |list: Vec<&Standing>| list.into_iter().map(item).collect::<Vec<Item>>();
            Ok(json!({"running": items(running), "finished": items(finished), "total": all.len()}))
        }
        (Action::Log, Some(background)) => {
            let log = background.log(&owner, id, asked.offset, asked.limit).map_err(failed)?;
            Ok(logged(&log, asked.offset))
        }
        (Action::Kill, Some(background)) => {
            let item = item(&background.stop(&owner, id).await.map_err(failed)?);
            Ok(json!({
                "success": true,
                "session_id": item.session_id,
                "status": item.status,
                "exit_code": item.exit_code,
            }))
        }
        (Action::Remove, Some(background)) => {
            background.remove(&owner, id).map_err(failed)?;
            Ok(json!({"success": true, "session_id": wanted}))
        }
        (_, None) => Err(failed(BackgroundError::Unknown { id })),
    }
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

fn item(standing: &Standing) -> Item {
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
        duration_seconds: standing.duration.as_secs(),
        timed_out,
        stdout_length: standing.stdout_bytes,
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
