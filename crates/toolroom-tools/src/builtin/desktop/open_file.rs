//! `open_file`: shows a file of the workspace to the user.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolroom::call::CallContext;
use toolroom::schema::Problem;
use toolroom::tool::{
    Arguments, Capability, Destination, Effect, IdError, Offer, Tool, ToolError, ToolOutput, tool_fn,
};
use toolroom_host::desktop::Desktop;

use super::file_handover::{FileHandover, ShowOutcome, show};

const DESCRIPTION: &str = "Open one page, picture or document of the workspace on the user's screen. Linked files are not \
    included: HTML must be self-contained, with its styles, scripts and images inside. Returns no content.";

#[derive(Deserialize, JsonSchema)]
struct OpenFileArguments {
    /// Path relative to the workspace, such as `report.html`
    #[schemars(length(min = 1))]
    path: String,
}

pub(super) fn tool(desktop: Desktop, handover: FileHandover) -> Result<Arc<dyn Tool>, IdError> {
    let tool = tool_fn("builtin:open_file", DESCRIPTION, move |context, OpenFileArguments { path }| {
        let (desktop, handover) = (desktop.clone(), handover.clone());
        async move { open(&desktop, &handover, &context, path).await }
    })?;
    Ok(Arc::new(tool.check(problems).destination(|_| Some(Destination::any())).with(|spec| {
        spec.title("Open File")
            .effect(Effect::OnceOnlyWrite)
            // An open page can send data anywhere; a remote client receives the file.
            .capabilities(&[Capability::ReadsPrivate, Capability::Egress])
            .when_to_use("a page, picture or document should appear on the user's screen, outside of this conversation")
            .category("desktop", &["desktop", "screen", "browser"])
            .usage_example("open the report in my browser")
    })))
}

/// Rejects absolute paths and `..` before the file is looked up.
fn problems(arguments: &Arguments) -> Vec<Problem> {
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    let is_below = !path.starts_with('/') && path.split('/').all(|name| name != "..");
    match is_below {
        true => Vec::new(),
        false => {
            vec![Problem::new("/path", "must be relative to the workspace, without a leading `/` or `..`")]
        }
    }
}

async fn open(
    desktop: &Desktop,
    handover: &FileHandover,
    context: &CallContext,
    path: String,
) -> Result<ToolOutput, ToolError> {
    Ok(match show(desktop, handover, context, path.clone()).await? {
        ShowOutcome::OpenedHere => {
            let message = format!("{path} is open on the desktop of this machine");
            ToolOutput::new(json!({"success": true, "path": path, "message": message}))
        }
        ShowOutcome::SentToClient(attachment, file) => {
            let message = format!("{path} is offered to the client of the user, who can open it there");
            let artifact = attachment.id().clone();
            ToolOutput::new(json!({"success": true, "path": path, "artifact": artifact, "message": message}))
                .with_attachments(vec![attachment])
                .offering(Offer::OpenFile(file))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_workspace() {
        let problems = |path: &str| problems(json!({"path": path}).as_object().unwrap()).len();
        for path in ["a.html", "pages/a.html", "a..b.html", "...", "./a"] {
            assert_eq!(problems(path), 0, "{path}");
        }
        for path in ["/etc/passwd", "../a", "a/../../b", "a/.."] {
            assert_eq!(problems(path), 1, "{path}");
        }
    }
}
