//! Your own tools in the `toolroom` command line: guarded, journaled and completed like the built-in ones.
//!
//! ```console
//! $ cargo run --example own_tools -- call append_note path=/tmp/notes.txt text=hello
//! ```

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolroom::call::CallContext;
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::ledger::RateLimit;
use toolroom::tool::{Capability, Effect, ErrorKind, NoArguments, Timeout, ToolError, tool_fn};

fn main() -> ExitCode {
    toolroom_server::run(register)
}

fn register(catalog: &Catalog) -> Result<(), RegisterError> {
    catalog.register(tool_fn("app:append_note", "Append a line to a file", append_note)?.with(|spec| {
        spec.effect(Effect::OnceOnlyWrite).capabilities(&[Capability::Writes]).family("notes", true)
    }))?;
    catalog.register(
        tool_fn("app:repeat", "Say something many times", repeat)?.with(|spec| spec.effect(Effect::Pure)),
    )?;
    catalog.register(tool_fn("app:countdown", "Wait, and say how long it still takes", countdown)?.with(
        |spec| spec.effect(Effect::Read).capabilities(&[]).timeout(Timeout::After(Duration::from_secs(60))),
    ))?;
    catalog.register(
        tool_fn("app:lottery", "Draw a number, three times an hour", lottery)?
            .with(|spec| spec.effect(Effect::Read).capabilities(&[]).rate(RateLimit::per_hour(3))),
    )
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// File to append to
    path: String,
    /// The line
    text: String,
}

/// Inside this repository files are opened by `toolroom-host`; a program of your own opens what it likes.
/// The call's id goes into the file as well, so that each line can be traced to its row in the journal.
#[expect(clippy::disallowed_types, reason = "an example outside the house")]
async fn append_note(context: CallContext, note: Note) -> Result<&'static str, ToolError> {
    let line = format!("{} {}\n", context.call_id(), note.text);
    let mut options = std::fs::OpenOptions::new();
    let written = options
        .create(true)
        .append(true)
        .open(&note.path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    written.map_err(|error| {
        ToolError::new(ErrorKind::PermissionDenied, format!("cannot write to `{}`", note.path))
            .caused_by(error)
    })?;
    Ok("noted")
}

#[derive(Deserialize, JsonSchema)]
struct Repetition {
    /// What to say
    text: String,
    /// How often
    #[schemars(range(min = 1, max = 1_000_000))]
    times: usize,
    /// One text, or a list of them
    #[serde(default)]
    shape: Shape,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
enum Shape {
    #[default]
    Text,
    List,
}

async fn repeat(_context: CallContext, what: Repetition) -> Result<serde_json::Value, ToolError> {
    Ok(match what.shape {
        Shape::Text => what.text.repeat(what.times).into(),
        Shape::List => vec![what.text; what.times].into(),
    })
}

#[derive(Deserialize, JsonSchema)]
struct Countdown {
    /// How long to wait
    #[schemars(range(min = 0, max = 3600))]
    seconds: u32,
}

async fn countdown(context: CallContext, wait: Countdown) -> Result<&'static str, ToolError> {
    for left in (0..wait.seconds).rev() {
        let done = 1.0 - f64::from(left + 1) / f64::from(wait.seconds);
        context.progress(format!("{} s left", left + 1), Some(done));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok("lift-off")
}

async fn lottery(context: CallContext, _none: NoArguments) -> Result<i64, ToolError> {
    Ok(context.now().as_micros() % 49 + 1)
}
