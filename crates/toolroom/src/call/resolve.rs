//! Station 1: from a name to a tool.

use std::sync::Arc;

use super::open_call::OpenCall;
use super::report::Exit;
use crate::catalog::{Catalog, Entry};
use crate::tool::{ErrorKind, ToolError};

/// Most characters shown of an unknown name.
const SHOWN_NAME_CHARS: usize = 100;

pub(super) fn tool(catalog: &Catalog, call: &mut OpenCall) -> Result<Arc<Entry>, Exit> {
    let entry = find(catalog, call).map_err(Exit::Failed)?;
    note(&entry, call);
    Ok(entry)
}

/// Records the tool in the row.
pub(super) fn note(entry: &Entry, call: &mut OpenCall) {
    call.record.tool = entry.spec().id.shared();
    call.record.definition = Some(entry.definition_hash());
    call.record.effect = Some(entry.spec().effective_effect());
}

pub(super) fn find(catalog: &Catalog, call: &OpenCall) -> Result<Arc<Entry>, ToolError> {
    if let Some(tool) = &call.request.client_tool {
        return catalog.client_entry(tool).map_err(|error| {
            let text = format!("the client's tool `{}` cannot be used", tool.name());
            ToolError::new(ErrorKind::NotFound, text).caused_by(error).by_kernel()
        });
    }
    let name = &call.request.tool;
    catalog.find(&call.request.scope.project, name).map_err(|missing| {
        let hidden = call.redacted(name);
        let shown: String = hidden.as_deref().unwrap_or(name).chars().take(SHOWN_NAME_CHARS).collect();
        let error = ToolError::new(ErrorKind::NotFound, format!("unknown tool `{shown}`")).by_kernel();
        match missing.hint() {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    })
}
