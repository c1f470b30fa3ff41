//! `fetch_url`: returns the text of a URL, and acts on links such as one-click unsubscribe.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::tool::{IdError, Timeout, Tool, ToolError, tool_fn};
use toolroom_host::net::{Method, Request};

use super::clients::Web;
use super::error::net_error;
use super::exchange::{HttpResponse, ToolRequest, run_blocking};
use super::media::{self, Media};
use super::methods::{destination, method, problems, reads_or_sends, sends};
use crate::readable::plain;

const ID: &str = "builtin:fetch_url";

const DESCRIPTION: &str = "Fetch an http(s) URL and return its text. POST acts on a link: to unsubscribe with one click \
    (RFC 8058), POST the body `List-Unsubscribe=One-Click` to the https link of the mail's List-Unsubscribe header. \
    Only the public internet can be reached.";

const METHODS: [Method; 3] = [Method::GET, Method::POST, Method::HEAD];

const LIMIT: Duration = Duration::from_secs(15);

#[derive(Deserialize, JsonSchema)]
struct FetchUrlArguments {
    /// URL to fetch (http:// or https://)
    url: String,
    /// GET, POST or HEAD
    #[serde(default = "get")]
    method: String,
    /// Body of a POST
    body: Option<String>,
    /// Content type of the body
    #[serde(default = "form")]
    content_type: String,
}

fn get() -> String {
    Method::GET.to_string()
}

fn form() -> String {
    "application/x-www-form-urlencoded".to_owned()
}

#[derive(Serialize)]
struct FetchedUrl {
    /// Whether the status is 2xx.
    success: bool,
    status: u16,
    final_url: String,
    content_type: String,
    body: String,
}

pub(super) fn tool(web: Arc<Web>) -> Result<Arc<dyn Tool>, IdError> {
    let new_request = ToolRequest::factory(web, ID, LIMIT)?;
    let tool = tool_fn(ID, DESCRIPTION, move |context, arguments| fetch(new_request(context), arguments))?;
    let tool = tool.check(|arguments| problems(arguments, &METHODS)).destination(destination).with(|spec| {
        super::reading(spec, false)
            .title("Fetch Link")
            .when_to_use("a link has to be read or acted on, for example to unsubscribe from a mailing list")
            .usage_example("unsubscribe me from this newsletter")
            // The HTTP timeout comes first.
            .timeout(Timeout::After(LIMIT + Duration::from_secs(10)))
    });
    Ok(Arc::new(reads_or_sends(tool)))
}

async fn fetch(call: ToolRequest, arguments: FetchUrlArguments) -> Result<FetchedUrl, ToolError> {
    let method = method(&arguments.method).unwrap_or(Method::GET);
    let mut request = Request::new(method, arguments.url);
    if sends(request.method()) {
        let body = arguments.body.unwrap_or_default();
        request = request
            .body(body)
            .header("content-type", &arguments.content_type)
            .map_err(|error| net_error(error, None))?;
    }
    let response = call.run(request).await?;
    run_blocking(move || fetched(&response)).await
}

fn fetched(response: &HttpResponse) -> FetchedUrl {
    let media = Media::detect(response);
    let body = match media {
        Media::Html => plain(&media::text(response, media)).text,
        Media::Json | Media::Text => media::text(response, media),
        // As in the response to HEAD.
        Media::Binary if response.body.is_empty() => String::new(),
        Media::Binary => format!("[{}]", media::describe(response)),
    };
    FetchedUrl {
        success: response.status.is_success(),
        status: response.status.as_u16(),
        final_url: response.url.to_string(),
        content_type: response.content_type().unwrap_or_default().to_owned(),
        body,
    }
}
