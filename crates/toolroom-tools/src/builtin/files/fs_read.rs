//! `fs-read`: returns a whole text file as an object.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::tool::{FileTrace, IdError, IntoOutput as _, Tool, tool_fn};

use super::{Files, READING, failed, reads, workspace};

#[derive(Deserialize, JsonSchema)]
struct FsReadArguments {
    /// Absolute path to the file, or relative to the workspace
    path: String,
}

#[derive(Serialize)]
struct FileContent {
    content: String,
}

pub(super) fn tool(files: Files) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Read a UTF-8 text file";
    let tool = tool_fn("builtin:fs-read", description, move |context, FsReadArguments { path }| {
        let files = files.clone();
        async move {
            let (content, stamp) = workspace(&files, &context)?.read_stamped(&path).map_err(failed)?;
            Ok(FileContent { content }.into_output()?.about_file(FileTrace::Read(stamp)))
        }
    })?;
    Ok(Arc::new(tool.with(|spec| reads(spec).title("Read File").family(READING, false))))
}
