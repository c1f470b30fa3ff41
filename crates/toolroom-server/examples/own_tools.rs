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
use toolroom::tool::{
    Capability, Effect, ErrorKind, NoArguments, Risk, Timeout, ToolError, ToolOutput, tool_fn,
};

const HOUR: Duration = Duration::from_hours(1);

fn main() -> ExitCode {
    toolroom_server::run(register)
}

fn register(catalog: &Catalog) -> Result<(), RegisterError> {
    catalog.register(tool_fn("app:append_note", "Append a line to a file", append_note)?.with(|spec| {
        spec.effect(Effect::OnceOnlyWrite).capabilities(&[Capability::Writes]).family("notes", true)
    }))?;
    catalog.register(
        tool_fn("app:send_note", "Bring a line to a file, and wait for the receipt", send_note)?.with(
            |spec| {
                spec.effect(Effect::OnceOnlyWrite)
                    .capabilities(&[Capability::Writes])
                    .timeout(Timeout::After(HOUR))
            },
        ),
    )?;
    catalog.register(
        tool_fn("app:repeat", "Say something many times", repeat)?.with(|spec| spec.effect(Effect::Pure)),
    )?;
    catalog.register(tool_fn("app:countdown", "Wait, and say how long it still takes", countdown)?.with(
        |spec| spec.effect(Effect::Read).capabilities(&[]).timeout(Timeout::After(Duration::from_secs(60))),
    ))?;
    catalog.register(tool_fn("app:publish_note", &publish_note_says(), append_note)?.with(|spec| {
        spec.effect(Effect::OnceOnlyWrite).capabilities(&[Capability::Writes]).risk(Risk::Medium)
    }))?;
    catalog.register(tool_fn("app:mirror_note", "Make a file hold one line", mirror_note)?.with(|spec| {
        spec.effect(Effect::IdempotentWrite).capabilities(&[Capability::Writes]).risk(Risk::Medium)
    }))?;
    catalog.register(tool_fn("app:erase_notes", "Empty a file", erase_notes)?.with(|spec| {
        spec.effect(Effect::Destructive).capabilities(&[Capability::Destructive]).risk(Risk::High)
    }))?;
    catalog.register(
        tool_fn("app:blurt", "Say something in one of the ways a tool can say things", blurt)?
            .with(|spec| spec.effect(Effect::Read).capabilities(&[])),
    )?;
    catalog.register(
        tool_fn("app:lottery", "Draw a number, three times an hour", lottery)?
            .with(|spec| spec.effect(Effect::Read).capabilities(&[]).rate(RateLimit::per_hour(3))),
    )
}

/// The description is part of a tool's definition: change it with the variable, and approvals no longer apply.
#[expect(clippy::disallowed_methods, reason = "an example for programs outside this repository")]
fn publish_note_says() -> String {
    std::env::var("PUBLISH_NOTE_SAYS").unwrap_or_else(|_| "Append a line to a file others read".to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// File to append to
    path: String,
    /// The line
    text: String,
}

/// Writes the call's id with the line, so that each line can be traced to its journal row.
#[expect(clippy::disallowed_types, reason = "an example for programs outside this repository")]
async fn append_note(context: CallContext, note: Note) -> Result<&'static str, ToolError> {
    let line = format!("{} {}\n", context.call_id(), note.text);
    let mut options = std::fs::OpenOptions::new();
    let written = options
        .create(true)
        .append(true)
        .open(&note.path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    written.map_err(|error| cannot_write(&note.path, error))?;
    Ok("noted")
}

#[derive(Deserialize, JsonSchema)]
struct Sending {
    /// File to append to
    path: String,
    /// The line
    text: String,
    /// File that has to be there before anything is written
    #[serde(default)]
    way: Option<String>,
    /// File that has to be there before it is done
    #[serde(default)]
    receipt: Option<String>,
}

/// Like `append_note`, but waits for a file before and after its effect.
async fn send_note(context: CallContext, sending: Sending) -> Result<&'static str, ToolError> {
    wait_for_file(sending.way).await;
    append_note(context, Note { path: sending.path, text: sending.text }).await?;
    wait_for_file(sending.receipt).await;
    Ok("sent")
}

#[expect(clippy::disallowed_methods, reason = "an example for programs outside this repository")]
async fn wait_for_file(path: Option<String>) {
    let Some(path) = path else { return };
    let mut pause = Duration::from_millis(10);
    while !std::path::Path::new(&path).exists() {
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(Duration::from_millis(200));
    }
}

/// A file that holds exactly this line, however often it is written.
#[expect(clippy::disallowed_methods, reason = "an example for programs outside this repository")]
async fn mirror_note(_context: CallContext, note: Note) -> Result<&'static str, ToolError> {
    std::fs::write(&note.path, format!("{}\n", note.text))
        .map_err(|error| cannot_write(&note.path, error))?;
    Ok("mirrored")
}

#[derive(Deserialize, JsonSchema)]
struct Notes {
    /// File to empty
    path: String,
}

#[expect(clippy::disallowed_methods, reason = "an example for programs outside this repository")]
async fn erase_notes(_context: CallContext, notes: Notes) -> Result<&'static str, ToolError> {
    std::fs::write(&notes.path, "").map_err(|error| cannot_write(&notes.path, error))?;
    Ok("erased")
}

fn cannot_write(path: &str, error: std::io::Error) -> ToolError {
    ToolError::new(ErrorKind::PermissionDenied, format!("cannot write to `{path}`")).caused_by(error)
}

#[derive(Deserialize, JsonSchema)]
struct Blurt {
    /// What to say
    text: String,
    /// Where to say it
    #[serde(default)]
    way: Way,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
enum Way {
    #[default]
    Result,
    Message,
    Key,
    Error,
    Hint,
    Cause,
    Progress,
    Pieces,
    Panic,
    Long,
}

#[expect(clippy::panic, reason = "the requested way to fail")]
async fn blurt(context: CallContext, blurt: Blurt) -> Result<ToolOutput, ToolError> {
    let text = blurt.text;
    match blurt.way {
        Way::Result => Ok(ToolOutput::new(text)),
        Way::Message => Ok(ToolOutput::new("said").with_message(text)),
        Way::Key => Ok(ToolOutput::new(serde_json::json!({ text: 1 }))),
        Way::Error => Err(ToolError::tool(text)),
        Way::Hint => Err(ToolError::tool("see the hint").with_hint(text)),
        Way::Cause => Err(ToolError::tool("see the cause").caused_by(text)),
        Way::Progress => {
            context.progress(text, None);
            Ok(ToolOutput::new("said"))
        }
        Way::Pieces => {
            for piece in text.chars() {
                context.progress(piece.to_string(), None);
            }
            Ok(ToolOutput::new("said"))
        }
        Way::Panic => panic!("{text}"),
        Way::Long => Ok(ToolOutput::new(format!("{text} ").repeat(2_000))),
    }
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
