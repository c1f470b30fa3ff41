//! `send_notification`: shows a desktop notification.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{Capability, Effect, IdError, Tool, ToolOutput, tool_fn};
use toolroom_host::desktop::Desktop;

use super::failed;

#[derive(Deserialize, JsonSchema)]
struct SendNotificationArguments {
    /// Text of the notification
    #[schemars(length(min = 1, max = 2_000))]
    message: String,
    /// Title of the notification
    #[serde(default = "default_title")]
    #[schemars(length(max = 200))]
    title: String,
}

fn default_title() -> String {
    "Toolroom".to_owned()
}

pub(super) fn tool(desktop: Desktop) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Show a notification on the desktop of this machine";
    let tool = tool_fn(
        "builtin:send_notification",
        description,
        move |_, SendNotificationArguments { message, title }| {
            let desktop = desktop.clone();
            async move {
                let title = if title.trim().is_empty() { default_title() } else { title };
                desktop.notify(&title, &message).await.map_err(failed)?;
                Ok(ToolOutput::new(json!({"success": true, "title": title, "message": message})))
            }
        },
    )?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Notification")
            .effect(Effect::OnceOnlyWrite)
            .capabilities(&[Capability::Writes])
            .when_to_use("the user wants a notification when something is done or has happened")
            .category("desktop", &["notification", "notify", "alert", "remind"])
            .usage_example("notify me when you are done")
    })))
}
