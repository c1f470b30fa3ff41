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

use super::super::graver::Graver;
use super::failed;
use super::handed::{Handing, Shown, show};

const DESCRIPTION: &str = "Open an address in the user's browser: http, https, or file:// inside the workspace. You get no \
    content back. HTML of your own has to be self-contained, with its styles, scripts and images inside.";

/// Browsers take no longer ones.
const MAX_CHARS: usize = 8_000;

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    /// The whole address, such as `https://example.com/`
    #[schemars(length(min = 1, max = 8_000))]
    url: String,
}

/// What an address leads to.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    Web(Url),
    File(String),
}

pub(super) fn tool(desktop: Desktop, handing: Handing) -> Result<Arc<dyn Tool>, IdError> {
    let tool = tool_fn("builtin:open_url", DESCRIPTION, move |context, Wanted { url }| {
        let (desktop, handing) = (desktop.clone(), handing.clone());
        async move { open(&desktop, &handing, &context, &url).await }
    })?;
    let tool = tool.check(problems).destination(destination).with(|spec| {
        spec.title("Open URL")
            .effect(Effect::OnceOnlyWrite)
            // An address can carry anything with it.
            .capabilities(&[Capability::Egress])
            .when_to_use("the user wants to see a web page themselves")
            .category("desktop", &["open", "browser", "url", "website", "link"])
            .usage_example("open the documentation of jiff")
            .usage_example("show me that page in my browser")
    });
    // A file goes to wherever the client is.
    let able = [Capability::ReadsPrivate, Capability::Egress];
    Ok(Arc::new(Graver::new(tool, is_about_file, |spec| spec.capabilities(&able))))
}

/// Everything that is not surely an address of the web.
fn is_about_file(arguments: &Arguments) -> bool {
    let url = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
    !matches!(target(url), Ok(Target::Web(_)))
}

/// The browser fetches the address from its host, and sends nothing but that.
fn destination(arguments: &Arguments) -> Option<Destination> {
    match target(arguments.get("url").and_then(Value::as_str)?) {
        Ok(Target::Web(url)) => Some(Destination::addressed(url.host_str()?)),
        Ok(Target::File(_)) | Err(_) => None,
    }
}

fn problems(arguments: &Arguments) -> Vec<Problem> {
    let url = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
    target(url).err().map(|why| Problem::new("/url", why)).into_iter().collect()
}

fn target(text: &str) -> Result<Target, String> {
    let text = text.trim();
    if text.chars().count() > MAX_CHARS || text.chars().any(char::is_control) {
        return Err("is too long, or holds control characters".to_owned());
    }
    let url = Url::parse(text).map_err(|error| format!("is no whole address: {error}"))?;
    match url.scheme() {
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => {
            Err("holds a user or a password, which no address that is shown may".to_owned())
        }
        "http" | "https" => Ok(Target::Web(url)),
        "file" => {
            let path = url.to_file_path().ok().and_then(|path| path.into_os_string().into_string().ok());
            path.map(Target::File).ok_or_else(|| "names no file of this machine".to_owned())
        }
        other => Err(format!("has to begin with http://, https:// or file://, not `{other}:`")),
    }
}

async fn open(
    desktop: &Desktop,
    handing: &Handing,
    context: &CallContext,
    url: &str,
) -> Result<ToolOutput, ToolError> {
    let told = |url: &str, message: &str| {
        let value = json!({"success": true, "url": url, "message": message});
        ToolOutput::new(value)
    };
    let opened = "it is open on the desktop of this machine";
    let offered = "it is offered to the client of the user, who can open it there";
    match target(url).map_err(ToolError::invalid)? {
        Target::Web(address) if context.user_location() == UserLocation::Local => {
            desktop.open_address(&address).await.map_err(|error| {
                failed(error).with_hint("tell the user the address, so that they can open it themselves")
            })?;
            Ok(told(address.as_str(), opened))
        }
        Target::Web(address) => {
            let url = String::from(address);
            Ok(told(&url, offered).offering(Offer::OpenUrl { url: url.clone() }))
        }
        Target::File(path) => Ok(match show(desktop, handing, context, path).await? {
            Shown::Here => told(url, opened),
            Shown::Away(attachment, file) => {
                let mut told = told(url, offered);
                if let Some(fields) = told.value.as_object_mut() {
                    fields.insert("artifact".to_owned(), file.artifact.as_str().into());
                }
                told.with_attachments(vec![attachment]).offering(Offer::OpenFile(file))
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
            Target::Web(url) => url.to_string(),
            Target::File(path) => path,
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
