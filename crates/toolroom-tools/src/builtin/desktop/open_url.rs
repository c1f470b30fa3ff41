//! `open_url`: opens an address in the user's browser.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolroom::call::{CallContext, UserLocation};
use toolroom::schema::Problem;
use toolroom::tool::{
    Arguments, Capability, Destination, Effect, IdError, Offer, Tool, ToolError, ToolOutput, tool_fn,
};
use toolroom_host::desktop::Desktop;
use toolroom_host::net::Url;

use super::super::effect_by_arguments::EffectByArguments;
use super::failed;
use super::file_handover::{FileHandover, ShowOutcome, show};

const DESCRIPTION: &str = "Open an address in the user's browser: http, https, or file:// inside the workspace. Returns no \
    content. HTML of your own must be self-contained, with its styles, scripts and images inside.";

/// Browsers reject longer addresses.
const MAX_CHARS: usize = 8_000;

#[derive(Deserialize, JsonSchema)]
struct OpenUrlArguments {
    /// Full address, such as `https://example.com/`
    #[schemars(length(min = 1, max = 8_000))]
    url: String,
}

/// What an address refers to.
#[derive(Debug, PartialEq, Eq)]
enum UrlTarget {
    Web(Url),
    File(String),
}

pub(super) fn tool(desktop: Desktop, handover: FileHandover) -> Result<Arc<dyn Tool>, IdError> {
    let tool = tool_fn("builtin:open_url", DESCRIPTION, move |context, OpenUrlArguments { url }| {
        let (desktop, handover) = (desktop.clone(), handover.clone());
        async move { open(&desktop, &handover, &context, &url).await }
    })?;
    let tool = tool.check(problems).destination(destination).with(|spec| {
        spec.title("Open URL")
            .effect(Effect::OnceOnlyWrite)
            // An address can carry any data.
            .capabilities(&[Capability::Egress])
            .when_to_use("the user wants to see a web page themselves")
            .category("desktop", &["open", "browser", "url", "website", "link"])
            .usage_example("open the documentation of jiff")
            .usage_example("show me that page in my browser")
    });
    // A file goes to the user's client.
    let able = [Capability::ReadsPrivate, Capability::Egress];
    Ok(Arc::new(EffectByArguments::new(tool, is_about_file, |spec| spec.capabilities(&able))))
}

/// True for everything that is not clearly a web address.
fn is_about_file(arguments: &Arguments) -> bool {
    let url = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
    !matches!(target(url), Ok(UrlTarget::Web(_)))
}

/// The host of a web address. The browser sends nothing but the address.
fn destination(arguments: &Arguments) -> Option<Destination> {
    match target(arguments.get("url").and_then(Value::as_str)?) {
        Ok(UrlTarget::Web(url)) => Some(Destination::addressed(url.host_str()?)),
        Ok(UrlTarget::File(_)) | Err(_) => None,
    }
}

fn problems(arguments: &Arguments) -> Vec<Problem> {
    let url = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
    target(url).err().map(|why| Problem::new("/url", why)).into_iter().collect()
}

fn target(text: &str) -> Result<UrlTarget, String> {
    let text = text.trim();
    if text.chars().count() > MAX_CHARS || text.chars().any(char::is_control) {
        return Err("is too long, or contains control characters".to_owned());
    }
    let url = Url::parse(text).map_err(|error| format!("is not a full address: {error}"))?;
    match url.scheme() {
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => {
            Err("contains a user name or password, which an address on screen must not show".to_owned())
        }
        "http" | "https" => Ok(UrlTarget::Web(url)),
        "file" => {
            let path = url.to_file_path().ok().and_then(|path| path.into_os_string().into_string().ok());
            path.map(UrlTarget::File).ok_or_else(|| "is not a file on this machine".to_owned())
        }
        other => Err(format!("must begin with http://, https:// or file://, not `{other}:`")),
    }
}

async fn open(
    desktop: &Desktop,
    handover: &FileHandover,
    context: &CallContext,
    url: &str,
) -> Result<ToolOutput, ToolError> {
    let output = |url: &str, message: &str| {
        let value = json!({"success": true, "url": url, "message": message});
        ToolOutput::new(value)
    };
    let opened = "it is open on the desktop of this machine";
    let offered = "it is offered to the client of the user, who can open it there";
    match target(url).map_err(ToolError::invalid)? {
        UrlTarget::Web(address) if context.user_location() == UserLocation::Local => {
            desktop.open_address(&address).await.map_err(|error| {
                failed(error).with_hint("tell the user the address, so that they can open it themselves")
            })?;
            Ok(output(address.as_str(), opened))
        }
        UrlTarget::Web(address) => {
            let url = String::from(address);
            Ok(output(&url, offered).offering(Offer::OpenUrl { url: url.clone() }))
        }
        UrlTarget::File(path) => Ok(match show(desktop, handover, context, path).await? {
            ShowOutcome::OpenedHere => output(url, opened),
            ShowOutcome::SentToClient(attachment, file) => {
                let mut output = output(url, offered);
                if let Some(fields) = output.value.as_object_mut() {
                    fields.insert("artifact".to_owned(), file.artifact.as_str().into());
                }
                output.with_attachments(vec![attachment]).offering(Offer::OpenFile(file))
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_and_files_are_opened() {
        let web = |text: &str| match target(text).unwrap() {
            UrlTarget::Web(url) => url.to_string(),
            UrlTarget::File(path) => path,
        };
        assert_eq!(web(" HTTPS://Example.com/a b"), "https://example.com/a%20b");
        assert_eq!(web("file:///srv/a%20b.html"), "/srv/a b.html");
        assert_eq!(web("file://localhost/srv/a.html"), "/srv/a.html");
        assert_eq!(web("file:///srv/work/%2e%2e/secret"), "/srv/secret");
        for text in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,<script>1</script>",
            "mailto:a@example.com?attach=/etc/passwd",
            "vbscript:x",
            "ssh://host",
            "ms-msdt:/id",
            "file://server/share/a.html",
            "--help",
            "-x",
            "example.com",
            "https://user:pass@example.com",
            "https://exa\nmple.com",
            "",
        ] {
            assert!(target(text).is_err(), "{text}");
        }
    }
}
