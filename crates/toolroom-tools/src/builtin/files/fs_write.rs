//! `fs-write`: writes a text file into an existing folder.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{FileTrace, IdError, Tool, ToolOutput, tool_fn};
use toolroom_host::files::Parents;

use super::{Files, WRITING, failed, workspace, writing};

#[derive(Deserialize, JsonSchema)]
struct FsWriteArguments {
    /// Absolute path to the file, or relative to the workspace
    path: String,
    /// Text content to write
    content: String,
}

pub(super) fn tool(files: Files) -> Result<Arc<dyn Tool>, IdError> {
    let own = files.clone();
    let description = "Write a UTF-8 text file, replacing its content. The folder must exist.";
    let tool =
        tool_fn("builtin:fs-write", description, move |context, FsWriteArguments { path, content }| {
            let files = files.clone();
            async move {
                let workspace = workspace(&files, &context)?;
                let written = workspace.write_stamped(&path, content.as_bytes(), Parents::MustExist);
                let (_, stamp) = written.map_err(failed)?;
                let result = json!({"ok": true, "bytesWritten": content.len()});
                Ok(ToolOutput::new(result).about_file(FileTrace::Wrote(stamp)))
            }
        })?;
    Ok(Arc::new(writing(tool, &own, |spec| spec.title("Write File").family(WRITING, false))))
}
