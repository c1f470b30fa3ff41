//! `write_file`: writes a text file and creates missing folders.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{FileTrace, IdError, Tool, ToolOutput, tool_fn};
use toolroom_host::files::{Parents, WriteOutcome};

use super::{Files, WRITING, failed, workspace, writing};

#[derive(Deserialize, JsonSchema)]
struct WriteFileArguments {
    /// File path, relative to the workspace or absolute
    path: String,
    /// File content
    content: String,
}

pub(super) fn tool(files: Files) -> Result<Arc<dyn Tool>, IdError> {
    let own = files.clone();
    let description = "Write text to a file, replacing its content and creating folders as needed";
    let tool =
        tool_fn("builtin:write_file", description, move |context, WriteFileArguments { path, content }| {
            let files = files.clone();
            async move {
                let workspace = workspace(&files, &context)?;
                let written = workspace.write_stamped(&path, content.as_bytes(), Parents::Create);
                let (written, stamp) = written.map_err(failed)?;
                let message = match written {
                    WriteOutcome::New => format!("created {path}"),
                    WriteOutcome::Replaced => format!("replaced {path}"),
                };
                let result = json!({"success": true, "path": path, "bytes": content.len()});
                Ok(ToolOutput::new(result).with_message(message).about_file(FileTrace::Wrote(stamp)))
            }
        })?;
    Ok(Arc::new(writing(tool, &own, |spec| {
        spec.title("Write File")
            .family(WRITING, true)
            .when_to_use("a file has to be created or its whole content replaced")
            .usage_example("save this list as shopping.md")
    })))
}
