//! `fs-write`: writes a text file into a folder that is there.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{IdError, Tool, tool_fn};
use toolroom_host::files::Parents;

use super::{Files, WRITING, failed, workspace, writing};

#[derive(Deserialize, JsonSchema)]
struct File {
    /// Absolute path to the file, or relative to the workspace
    path: String,
    /// Text content to write
    content: String,
}

pub(super) fn tool(files: Files) -> Result<Arc<dyn Tool>, IdError> {
    let own = files.clone();
    let description = "Write a UTF-8 text file, replacing what is there. Its folder must exist.";
    let tool = tool_fn("builtin:fs-write", description, move |context, File { path, content }| {
        let files = files.clone();
        async move {
            let workspace = workspace(&files, &context)?;
            workspace.write(&path, content.as_bytes(), Parents::MustExist).map_err(failed)?;
            Ok(json!({"ok": true, "bytesWritten": content.len()}))
        }
    })?;
    Ok(Arc::new(writing(tool, &own, |spec| spec.title("Write File").family(WRITING, false))))
}
