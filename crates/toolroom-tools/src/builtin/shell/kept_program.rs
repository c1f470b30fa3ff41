//! How a program in the background is told that another process started.

use serde_json::{Value, json};
use toolroom::background::{BackgroundProgram, ProgramState};
use toolroom::tool::ToolError;

use super::ended::NO_CODE;
use super::manage_process::{Item, session_id};

const LOST: &str = "it ended with the process of Toolroom that had started it; what it printed is gone, and how far it \
                    got is not known";
const OVER: &str = "it ended before the process of Toolroom that had started it; what it printed is gone";
const ELSEWHERE: &str =
    "another process of Toolroom started it and lives; what it prints can be read there alone";

/// Whether it may be running.
pub(super) fn is_running(program: &BackgroundProgram) -> bool {
    matches!(program.state, ProgramState::RunningHere | ProgramState::RunningElsewhere)
}

pub(super) fn item(program: &BackgroundProgram) -> Item {
    let (status, exit_code, note) = told(program);
    Item {
        session_id: session_id(program.number),
        command: program.command.clone(),
        status,
        exit_code,
        started_at: jiff::Timestamp::from_microsecond(program.began_at.as_micros())
            .ok()
            .map(|at| at.to_string()),
        duration_seconds: None,
        timed_out: false,
        stdout_length: None,
        note: Some(note),
    }
}

/// Nothing that was printed, and why.
pub(super) fn logged(program: &BackgroundProgram, offset: u64) -> Value {
    let (status, exit_code, note) = told(program);
    json!({
        "success": !is_running(program),
        "session_id": session_id(program.number),
        "status": status,
        "exit_code": exit_code,
        "stdout": "",
        "stderr": "",
        "total_stdout_lines": 0,
        "offset": offset,
        "timed_out": false,
        "note": note,
    })
}

/// There is nothing to kill, or nothing that can be reached from here.
pub(super) fn killed(program: &BackgroundProgram) -> Result<Value, ToolError> {
    if is_running(program) {
        return Err(out_of_reach(program));
    }
    let (status, exit_code, note) = told(program);
    Ok(json!({
        "success": true,
        "session_id": session_id(program.number),
        "status": status,
        "exit_code": exit_code,
        "note": format!("there is nothing to kill: {note}"),
    }))
}

/// Why one that runs elsewhere is left alone.
pub(super) fn out_of_reach(program: &BackgroundProgram) -> ToolError {
    let id = session_id(program.number);
    ToolError::invalid(format!("`{id}` runs in another process of Toolroom, which alone can end it"))
        .with_hint("ask the user to end it there, or to leave that `toolroom chat` or `toolroom serve`")
}

fn told(program: &BackgroundProgram) -> (&'static str, i32, &'static str) {
    match program.state {
        ProgramState::RunningHere | ProgramState::RunningElsewhere => ("elsewhere", NO_CODE, ELSEWHERE),
        ProgramState::Lost => ("lost", NO_CODE, LOST),
        ProgramState::Ended(end) => (if end.was_killed { "killed" } else { "finished" }, end.exit_code, OVER),
    }
}
