//! `clipboard-write`: replaces the text on the clipboard.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{Capability, Effect, IdError, Tool, ToolOutput, tool_fn};
use toolroom_host::desktop::Desktop;

use super::failed;

#[derive(Deserialize, JsonSchema)]
struct ClipboardWriteArguments {
    /// New text of the clipboard
    text: String,
}

pub(super) fn tool(desktop: Desktop) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Replace the text on the clipboard of this machine";
    let tool =
        tool_fn("builtin:clipboard-write", description, move |_, ClipboardWriteArguments { text }| {
            let desktop = desktop.clone();
            async move {
                desktop.write_clipboard(&text).await.map_err(failed)?;
                Ok(ToolOutput::new(json!({"ok": true})))
            }
        })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Write Clipboard")
            .effect(Effect::IdempotentWrite)
            .capabilities(&[Capability::Writes])
            .when_to_use("the user wants something copied, to paste it elsewhere")
            .category("desktop", &["clipboard", "copy", "paste"])
            .usage_example("copy that to my clipboard")
    })))
}
