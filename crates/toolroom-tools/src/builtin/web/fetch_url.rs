//! `fetch_url`: a URL's text, also for acting on links such as those in mails.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::tool::{IdError, Timeout, Tool, ToolError, tool_fn};
use toolroom_host::net::{Method, Request};

use super::clients::Web;
use super::error::told;
use super::exchange::{Arrived, Errand, computed};
use super::media::{self, Media};
use super::sending::{destination, method, problems, reads_or_sends, sends};
use crate::readable::plain;

const ID: &str = "builtin:fetch_url";

const DESCRIPTION: &str = "Fetch an http(s) URL and return its text. POST acts on a link: to unsubscribe with one click \
    (RFC 8058), POST the body `List-Unsubscribe=One-Click` to the https link of the mail's List-Unsubscribe header. \
    Only the public internet can be reached.";

const METHODS: [Method; 3] = [Method::GET, Method::POST, Method::HEAD];

const LIMIT: Duration = Duration::from_secs(15);

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    /// URL to fetch (http:// or https://)
    url: String,
    /// GET, POST or HEAD
    #[serde(default = "get")]
    method: String,
    /// Body of a POST
    body: Option<String>,
    /// What the body of a POST is
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
struct Fetched {
    /// Whether the status is one of success.
    success: bool,
    status: u16,
    final_url: String,
    content_type: String,
    body: String,
}

pub(super) fn tool(web: Arc<Web>) -> Result<Arc<dyn Tool>, IdError> {
    let errand = Errand::of(web, ID, LIMIT)?;
    let tool = tool_fn(ID, DESCRIPTION, move |context, wanted| fetch(errand(context), wanted))?;
    let tool = tool.check(|arguments| problems(arguments, &METHODS)).destination(destination).with(|spec| {
        super::reading(spec, false)
            .title("Fetch Link")
            .when_to_use("a link has to be read or acted on, for example to unsubscribe from a mailing list")
            .usage_example("unsubscribe me from this newsletter")
            // Its own limit ends it before.
            .timeout(Timeout::After(LIMIT + Duration::from_secs(10)))
    });
    Ok(Arc::new(reads_or_sends(tool)))
}

async fn fetch(errand: Errand, wanted: Wanted) -> Result<Fetched, ToolError> {
    let method = method(&wanted.method).unwrap_or(Method::GET);
    let mut request = Request::new(method, wanted.url);
    if sends(request.method()) {
        let body = wanted.body.unwrap_or_default();
        request = request
            .body(body)
            .header("content-type", &wanted.content_type)
            .map_err(|error| told(error, None))?;
    }
    let arrived = errand.run(request).await?;
    computed(move || fetched(&arrived)).await
}

fn fetched(arrived: &Arrived) -> Fetched {
    let media = Media::of(arrived);
    let body = match media {
        Media::Html => plain(&media::text(arrived, media)).text,
        Media::Json | Media::Text => media::text(arrived, media),
        // As the answer to HEAD.
        Media::Binary if arrived.body.is_empty() => String::new(),
        Media::Binary => format!("[{}]", media::named(arrived)),
    };
    Fetched {
        success: arrived.status.is_success(),
        status: arrived.status.as_u16(),
        final_url: arrived.url.to_string(),
        content_type: arrived.content_type().unwrap_or_default().to_owned(),
        body,
    }
}
