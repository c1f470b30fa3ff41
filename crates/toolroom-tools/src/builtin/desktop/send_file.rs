//! `send_file`: sends a file of the workspace to the user.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::call::{CallContext, UserLocation};
use toolroom::tool::{Capability, Effect, IdError, Offer, Tool, ToolError, ToolOutput, tool_fn};

use super::file_handover::{FileHandover, attached, display_path, in_workspace};

#[derive(Deserialize, JsonSchema)]
struct SendFileArguments {
    /// File path, relative to the workspace or absolute
    #[schemars(length(min = 1))]
    path: String,
    /// A sentence about the file
    #[schemars(length(max = 1_000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caption: Option<String>,
}

pub(super) fn tool(handover: FileHandover) -> Result<Arc<dyn Tool>, IdError> {
    let description =
        "Send a document, picture or other file of the workspace to the user, who can save it; at most 50 MB";
    let tool = tool_fn("builtin:send_file", description, move |context, arguments| {
        let handover = handover.clone();
        async move { send(&handover, &context, arguments).await }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Send File")
            .effect(Effect::IdempotentWrite)
            .capabilities(&[Capability::ReadsPrivate, Capability::Egress])
            .when_to_use("the user wants a file from the workspace")
            .category("files", &["file", "send", "download", "share"])
            .usage_example("send me the spreadsheet")
    })))
}

async fn send(
    handover: &FileHandover,
    context: &CallContext,
    arguments: SendFileArguments,
) -> Result<ToolOutput, ToolError> {
    let SendFileArguments { path, caption } = arguments;
    if context.user_location() == UserLocation::Local {
        let asked = path.clone();
        let found = in_workspace(&handover.files, context, move |workspace| workspace.locate(&asked)).await?;
        let place = display_path(&found.place);
        let message = format!("the file is on the user's own machine: {place}");
        let value =
            json!({"success": true, "path": path, "size": found.size, "place": place, "message": message});
        return Ok(ToolOutput::new(value));
    }
    let (found, attachment, file) = attached(handover, context, path.clone()).await?;
    let message = "it is offered to the client of the user, who can save it there";
    let artifact = attachment.id().clone();
    let value = json!({
        "success": true, "path": path, "size": found.size, "sent": true, "artifact": artifact, "message": message,
    });
    let offer = Offer::SaveFile(file.with_caption(caption));
    Ok(ToolOutput::new(value).with_attachments(vec![attachment]).offering(offer))
}
