//! `list_files`: lists a folder.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolroom::tool::{IdError, Tool, ToolOutput, tool_fn};
use toolroom_host::files::{Entry, EntryKind, Listing};

use super::{Files, failed, reads, workspace};

/// A longer listing is cut and says how many entries are left out.
const MAX_ENTRIES: usize = 10_000;

/// The note for a name that is shown lossily.
const LOSSY: &str = "its name is not UTF-8, so it cannot be opened by name";

#[derive(Deserialize, JsonSchema)]
struct ListFilesArguments {
    /// Folder path, relative to the workspace or absolute
    #[serde(default = "the_workspace")]
    path: String,
}

fn the_workspace() -> String {
    ".".to_owned()
}

pub(super) fn tool(files: Files) -> Result<Arc<dyn Tool>, IdError> {
    let description = "List the files and folders in a folder (default: the workspace)";
    let tool = tool_fn("builtin:list_files", description, move |context, ListFilesArguments { path }| {
        let files = files.clone();
        async move {
            let listing = workspace(&files, &context)?.list(&path, MAX_ENTRIES).map_err(failed)?;
            Ok(shown(&listing))
        }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        reads(spec)
            .title("List Files")
            .when_to_use("the names of files are not known")
            .usage_example("which files are in the workspace?")
    })))
}

fn shown(listing: &Listing) -> ToolOutput {
    let mut entries: Vec<Value> = listing.entries.iter().map(entry).collect();
    let left_out = listing.total.saturating_sub(entries.len());
    let at_least = if listing.is_cut { "more than " } else { "" };
    let total = listing.total;
    if left_out > 0 || listing.is_cut {
        let note = format!("{at_least}{left_out} of {at_least}{total} entries are left out");
        entries.push(json!({"note": note}));
    }
    let plural = if total == 1 && !listing.is_cut { "entry" } else { "entries" };
    ToolOutput::new(entries).with_message(format!("{at_least}{total} {plural}"))
}

fn entry(entry: &Entry) -> Value {
    let kind = match entry.kind {
        EntryKind::File => "file",
        EntryKind::Folder => "dir",
        EntryKind::Other => "other",
    };
    let (name, size) = (&entry.name, entry.size);
    match entry.is_exact {
        true => json!({"name": name, "type": kind, "size": size}),
        false => json!({"name": name, "type": kind, "size": size, "note": LOSSY}),
    }
}
