//! The file tools: read, write and list files in the workspace of the calling project.

mod fs_read;
mod fs_write;
mod list_files;
mod read_file;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
mod tests;
mod write_file;

use std::sync::Arc;

use serde_json::Value;
use toolroom::call::CallContext;
use toolroom::policy::Judgement;
use toolroom::scope::LOCAL_PROJECT;
use toolroom::tool::{
    Arguments, Capability, Effect, ErrorKind, FnTool, IdError, Pool, Risk, Tool, ToolError, ToolSpec, Yields,
};
use toolroom_host::files::{FileError, Projects, Workspace};

use super::effect_by_arguments::EffectByArguments;

/// The families: one switch and one name in rules for all variants.
const READING: &str = "read_file";
const WRITING: &str = "write_file";

/// The workspaces of projects; `None` if only tool names are needed.
pub(super) type Files = Option<Arc<Projects>>;

pub(super) fn all(files: &Files) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    Ok(vec![
        fs_read::tool(files.clone())?,
        fs_write::tool(files.clone())?,
        list_files::tool(files.clone())?,
        read_file::tool(files.clone())?,
        write_file::tool(files.clone())?,
    ])
}

/// The workspace of the caller's project.
pub(super) fn workspace(files: &Files, context: &CallContext) -> Result<Workspace, ToolError> {
    let unavailable = || ToolError::tool("there is no workspace here");
    Ok(files.as_ref().ok_or_else(unavailable)?.workspace(context.scope().project.as_str()))
}

fn reads(spec: ToolSpec) -> ToolSpec {
    spec.effect(Effect::Read)
        .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted])
        .yields(Yields::Files)
        .category("files", &["file", "read", "open", "text"])
        .pool(Pool::Blocking)
}

fn writes(spec: ToolSpec) -> ToolSpec {
    // Idempotent: writing the same content again changes nothing.
    spec.effect(Effect::IdempotentWrite)
        .capabilities(&[Capability::Writes])
        .yields(Yields::Stated)
        .risk(Risk::Medium)
        .category("files", &["file", "write", "save", "create"])
        .pool(Pool::Blocking)
}

/// What an approval prompt says about a start file.
const START_FILE: &str = "runs code for its owner later, as settings of git, shells, editors and agents do";

/// A tool that writes the file at `path`. Writing a start file needs approval, each time.
fn writing<A, R, F>(
    tool: FnTool<A, R, F>,
    files: &Files,
    change: impl FnOnce(ToolSpec) -> ToolSpec,
) -> EffectByArguments<FnTool<A, R, F>>
where
    FnTool<A, R, F>: Tool,
{
    let (asking, judging) = (files.clone(), files.clone());
    let tool = tool.with(|spec| change(writes(spec))).judge(move |arguments| {
        match start_file(&judging, arguments) {
            Some(path) => Judgement::Ask(format!("`{path}` {START_FILE}")),
            None => Judgement::Allow,
        }
    });
    let is_start_file = move |arguments: &Arguments| start_file(&asking, arguments).is_some();
    EffectByArguments::new(tool, is_start_file, |spec| spec.single_answers().risk(Risk::High))
}

/// The path argument, if it names a start file.
fn start_file<'a>(files: &Files, arguments: &'a Arguments) -> Option<&'a str> {
    let path = arguments.get("path").and_then(Value::as_str)?;
    let workspace = files.as_ref()?.workspace(LOCAL_PROJECT);
    workspace.names_start_file(path).then_some(path)
}

/// The error for a model. It reveals nothing about other paths; the operator gets the cause.
pub(super) fn failed(error: FileError) -> ToolError {
    let kind = match &error {
        FileError::Empty
        | FileError::Unprintable { .. }
        | FileError::Tilde { .. }
        | FileError::TooLong { .. }
        | FileError::TooFar { .. } => ErrorKind::InvalidArguments,
        FileError::NotFound { .. } | FileError::NoFolder { .. } => ErrorKind::NotFound,
        FileError::Outside { .. }
        | FileError::Refused { .. }
        | FileError::ReadOnly { .. }
        | FileError::Link { .. } => ErrorKind::PermissionDenied,
        FileError::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            ErrorKind::PermissionDenied
        }
        FileError::Root { .. } => {
            let tool_error =
                ToolError::tool("a folder of the workspace cannot be opened; its owner has to check it");
            return tool_error.caused_by(error);
        }
        FileError::GivenUp { .. } => ErrorKind::Cancelled,
        FileError::NotAFile { .. }
        | FileError::NotAFolder { .. }
        | FileError::NotText { .. }
        | FileError::TooLarge { .. }
        | FileError::Changing { .. }
        | FileError::Full { .. }
        | FileError::Io { .. } => ErrorKind::Tool,
    };
    let hint = match &error {
        FileError::NotFound { .. } => Some("`list_files` lists the files"),
        FileError::NoFolder { .. } => Some("`write_file` creates missing folders"),
        FileError::TooLarge { .. } => Some("`read_file` with `offset` and `limit` reads some lines of it"),
        _ => None,
    };
    // The system's message is safe to show: it is about the path the caller named.
    let detail = match &error {
        FileError::Io { source, .. } => format!(": {}", source.kind()),
        _ => String::new(),
    };
    let mut tool_error = ToolError::new(kind, format!("{error}{detail}"));
    if let Some(hint) = hint {
        tool_error = tool_error.with_hint(hint);
    }
    match error {
        FileError::Io { source, .. } | FileError::Full { source, .. } => tool_error.caused_by(source),
        _ => tool_error,
    }
}
