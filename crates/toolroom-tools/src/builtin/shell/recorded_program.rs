//! Programs in the background that another process started, known only from their records.

use serde_json::{Value, json};
use toolroom::background::{BackgroundProgram, ProgramState};
use toolroom::tool::ToolError;

use super::manage_process::{ProgramEntry, session_id};
use super::program_end::NO_CODE;

const LOST: &str = "it ended with the Toolroom process that started it; its output is gone, and how far it got is \
                    unknown";
const OVER: &str = "it ended before the Toolroom process that started it; its output is gone";
const ELSEWHERE: &str = "another running Toolroom process started it; its output can only be read there";

pub(super) fn is_running(program: &BackgroundProgram) -> bool {
    matches!(program.state, ProgramState::RunningHere | ProgramState::RunningElsewhere)
}

pub(super) fn item(program: &BackgroundProgram) -> ProgramEntry {
    let (status, exit_code, note) = status(program);
    ProgramEntry {
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

/// A log without output, and the reason.
pub(super) fn logged(program: &BackgroundProgram, offset: u64) -> Value {
    let (status, exit_code, note) = status(program);
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

/// Fails if the program runs in another process.
pub(super) fn killed(program: &BackgroundProgram) -> Result<Value, ToolError> {
    if is_running(program) {
        return Err(out_of_reach(program));
    }
    let (status, exit_code, note) = status(program);
    Ok(json!({
        "success": true,
        "session_id": session_id(program.number),
        "status": status,
        "exit_code": exit_code,
        "note": format!("nothing to kill: {note}"),
    }))
}

pub(super) fn out_of_reach(program: &BackgroundProgram) -> ToolError {
    let id = session_id(program.number);
    ToolError::invalid(format!("`{id}` runs in another Toolroom process, and only that process can end it"))
        .with_hint("ask the user to end it there, or to quit that `toolroom chat` or `toolroom serve`")
}

fn status(program: &BackgroundProgram) -> (&'static str, i32, &'static str) {
    match program.state {
        ProgramState::RunningHere | ProgramState::RunningElsewhere => ("elsewhere", NO_CODE, ELSEWHERE),
        ProgramState::Lost => ("lost", NO_CODE, LOST),
        ProgramState::Ended(end) => (if end.was_killed { "killed" } else { "finished" }, end.exit_code, OVER),
    }
}
