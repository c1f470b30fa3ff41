//! `clipboard-read`: the text on the clipboard.

use std::sync::Arc;

use serde_json::json;
use toolroom::tool::{Capability, Effect, IdError, NoArguments, Tool, ToolOutput, tool_fn};
use toolroom_host::desktop::Desktop;

use super::failed;

pub(super) fn tool(desktop: Desktop) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Read the text on the clipboard of this machine";
    let tool = tool_fn("builtin:clipboard-read", description, move |_, _: NoArguments| {
        let desktop = desktop.clone();
        async move {
            let text = desktop.read_clipboard().await.map_err(failed)?;
            Ok(ToolOutput::new(json!({"text": text})))
        }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Read Clipboard")
            .effect(Effect::Read)
            // The clipboard is private, and its text may come from anywhere.
            .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted])
            .when_to_use("the user refers to what they have copied, or to their clipboard")
            .category("desktop", &["clipboard", "copy", "paste"])
            .usage_example("translate what is on my clipboard")
    })))
}
