//! `read_file`: returns the text of a file, whole or by lines.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolroom::tool::{FileTrace, IdError, Tool, ToolError, ToolOutput, tool_fn};
use toolroom_host::files::{FileError, Lines, Page, Workspace};

use super::{Files, READING, failed, reads, workspace};

/// Characters of a result; the rest can be read page by page.
const RESULT_CAP: usize = 50_000;

/// A page leaves room for its note, so that it is never shortened again.
const PAGE_BYTES: usize = RESULT_CAP - 1_000;

#[derive(Deserialize, JsonSchema)]
struct ReadFileArguments {
    /// File path, relative to the workspace or absolute
    path: String,
    /// First line to read, counted from 1; default: the whole file
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Maximum number of lines
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

pub(super) fn tool(files: Files) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Read a text file. Long files can be read in parts with offset and limit, in lines.";
    let tool = tool_fn("builtin:read_file", description, move |context, arguments: ReadFileArguments| {
        let files = files.clone();
        async move { read(&workspace(&files, &context)?, &arguments) }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        reads(spec)
            .title("Read File")
            .family(READING, true)
            .result_cap(RESULT_CAP)
            .when_to_use("the content of a file is needed")
            .usage_example("what does notes.txt say?")
    })))
}

fn read(workspace: &Workspace, arguments: &ReadFileArguments) -> Result<ToolOutput, ToolError> {
    let output = |text: String, stamp| ToolOutput::new(text).about_file(FileTrace::Read(stamp));
    if arguments.offset.is_none() && arguments.limit.is_none() {
        match workspace.read_stamped(&arguments.path) {
            // Returns the beginning instead, with a note on how to continue.
            Err(FileError::TooLarge { .. }) => {}
            whole => return whole.map(|(text, stamp)| output(text, stamp)).map_err(failed),
        }
    }
    let first = arguments.offset.unwrap_or(1);
    let lines = Lines { first, count: arguments.limit.unwrap_or(u64::MAX), max_bytes: PAGE_BYTES };
    let page = workspace.read_lines(&arguments.path, lines).map_err(failed)?;
    if page.text.is_empty() && page.next.is_none() && first > 1 {
        return Err(ToolError::invalid(format!("`{}` has no line {first}", arguments.path)));
    }
    let stamp = page.stamp.clone();
    Ok(output(with_note(page, first), stamp))
}

/// The page, followed by a note on what is missing.
fn with_note(page: Page, first: u64) -> String {
    let Some(next) = page.next else { return page.text };
    let Page { mut text, size, is_cut, .. } = page;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let shown = match is_cut {
        true => format!("the beginning of line {first}, which is too long to be shown whole"),
        false => format!("lines {first} to {}", next.saturating_sub(1)),
    };
    text.push_str(&format!("[{shown}; the file has {size} bytes; read on with offset={next}]"));
    text
}
