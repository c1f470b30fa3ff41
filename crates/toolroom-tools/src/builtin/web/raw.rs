//! `web-fetch`: any request, and its response as it came.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolroom::tool::{IdError, Timeout, Tool, ToolError, tool_fn};
use toolroom_host::net::{HeaderMap, Method, Request};

use super::clients::Web;
use super::error::told;
use super::exchange::{Arrived, Errand, computed};
use super::media::{self, Media};
use super::sending::{destination, method, problems, reads_or_sends};

const ID: &str = "builtin:web-fetch";

const DESCRIPTION: &str = "Make an HTTP request and get the response as it came: status, headers and body as text. \
    GET and HEAD follow up to 3 redirects, other methods none. Only the public internet can be reached.";

const METHODS: [Method; 6] =
    [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::HEAD];

const MAX_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    /// Absolute http(s) URL
    url: String,
    /// GET, POST, PUT, DELETE, PATCH or HEAD
    #[serde(default = "get")]
    method: String,
    /// Headers of the request, each a text
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Body of the request, not with GET and HEAD
    body: Option<String>,
    /// How long to wait for the whole response, in milliseconds
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 120_000))]
    timeout_ms: f64,
}

fn get() -> String {
    Method::GET.to_string()
}

fn default_timeout() -> f64 {
    20_000.0
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: u16,
    status_text: &'static str,
    headers: Map<String, Value>,
    body: String,
    /// Whether the status is one of success.
    ok: bool,
}

pub(super) fn tool(web: Arc<Web>) -> Result<Arc<dyn Tool>, IdError> {
    let errand = Errand::of(web, ID, MAX_TIMEOUT)?;
    let tool = tool_fn(ID, DESCRIPTION, move |context, wanted| fetch(errand(context), wanted))?;
    let tool = tool.check(|arguments| problems(arguments, &METHODS)).destination(destination).with(|spec| {
        super::reading(spec, false)
            .title("Fetch URL")
            .when_to_use("an HTTP interface has to be talked to, or headers and the exact body matter")
            .usage_example("what does GET https://api.example.com/status answer?")
            // Its own limit ends it before.
            .timeout(Timeout::After(MAX_TIMEOUT + Duration::from_secs(10)))
    });
    Ok(Arc::new(reads_or_sends(tool)))
}

async fn fetch(errand: Errand, wanted: Wanted) -> Result<Response, ToolError> {
    let method = method(&wanted.method).unwrap_or(Method::GET);
    let mut request = Request::new(method, wanted.url).body(wanted.body.unwrap_or_default());
    for (name, value) in &wanted.headers {
        request = request.header(name, value).map_err(|error| told(error, None))?;
    }
    let limit =
        Duration::try_from_secs_f64(wanted.timeout_ms / 1_000.0).unwrap_or(MAX_TIMEOUT).min(MAX_TIMEOUT);
    let arrived = errand.within(limit).run(request).await?;
    computed(move || response(&arrived)).await
}

fn response(arrived: &Arrived) -> Response {
    let media = Media::of(arrived);
    Response {
        status: arrived.status.as_u16(),
        status_text: arrived.status.canonical_reason().unwrap_or_default(),
        headers: joined(&arrived.headers),
        body: media::text(arrived, media),
        ok: arrived.status.is_success(),
    }
}

/// A header that comes several times is one list.
fn joined(headers: &HeaderMap) -> Map<String, Value> {
    let joined = headers.keys().map(|name| {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        (name.to_string(), Value::String(values.collect::<Vec<_>>().join(", ")))
    });
    joined.collect()
}
