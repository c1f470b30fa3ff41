//! `clipboard-write`: puts a text on the clipboard.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{Capability, Effect, IdError, Tool, ToolOutput, tool_fn};
use toolroom_host::desktop::Desktop;

use super::failed;

#[derive(Deserialize, JsonSchema)]
struct Copied {
    /// The text; it replaces what is there
    text: String,
}

pub(super) fn tool(desktop: Desktop) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Put a text on the clipboard of this machine, in place of what is there";
    let tool = tool_fn("builtin:clipboard-write", description, move |_, Copied { text }| {
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
            .when_to_use("the user wants to have something copied, to paste it elsewhere")
            .category("desktop", &["clipboard", "copy", "paste"])
            .usage_example("copy that to my clipboard")
    })))
}
