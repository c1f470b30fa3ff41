//! `web-fetch`: sends any HTTP request and returns the unprocessed response.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolroom::tool::{IdError, Timeout, Tool, ToolError, tool_fn};
use toolroom_host::net::{HeaderMap, Method, Request};

use super::clients::Web;
use super::error::net_error;
use super::exchange::{HttpResponse, ToolRequest, run_blocking};
use super::media::{self, Media};
use super::methods::{destination, method, problems, reads_or_sends};

const ID: &str = "builtin:web-fetch";

const DESCRIPTION: &str = "Send an HTTP request and return the unprocessed response: status, headers and body as text. \
    GET and HEAD follow up to 3 redirects, other methods none. Only the public internet can be reached.";

const METHODS: [Method; 6] =
    [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::HEAD];

const MAX_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WebFetchRawArguments {
    /// Absolute http(s) URL
    url: String,
    /// GET, POST, PUT, DELETE, PATCH or HEAD
    #[serde(default = "get")]
    method: String,
    /// Request headers; each value is a string
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Request body; not for GET and HEAD
    body: Option<String>,
    /// Timeout for the whole response, in milliseconds
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
struct RawResponse {
    status: u16,
    status_text: &'static str,
    headers: Map<String, Value>,
    body: String,
    /// Whether the status is 2xx.
    ok: bool,
}

pub(super) fn tool(web: Arc<Web>) -> Result<Arc<dyn Tool>, IdError> {
    let new_request = ToolRequest::factory(web, ID, MAX_TIMEOUT)?;
    let tool = tool_fn(ID, DESCRIPTION, move |context, arguments| fetch(new_request(context), arguments))?;
    let tool = tool.check(|arguments| problems(arguments, &METHODS)).destination(destination).with(|spec| {
        super::reading(spec, false)
            .title("Fetch URL")
            .when_to_use("an HTTP API has to be called, or headers and the exact body matter")
            .usage_example("what does GET https://api.example.com/status return?")
            // The HTTP timeout comes first.
            .timeout(Timeout::After(MAX_TIMEOUT + Duration::from_secs(10)))
    });
    Ok(Arc::new(reads_or_sends(tool)))
}

async fn fetch(call: ToolRequest, arguments: WebFetchRawArguments) -> Result<RawResponse, ToolError> {
    let method = method(&arguments.method).unwrap_or(Method::GET);
    let mut request = Request::new(method, arguments.url).body(arguments.body.unwrap_or_default());
    for (name, value) in &arguments.headers {
        request = request.header(name, value).map_err(|error| net_error(error, None))?;
    }
    let limit =
        Duration::try_from_secs_f64(arguments.timeout_ms / 1_000.0).unwrap_or(MAX_TIMEOUT).min(MAX_TIMEOUT);
    let response = call.with_timeout(limit).run(request).await?;
    run_blocking(move || raw_response(&response)).await
}

fn raw_response(response: &HttpResponse) -> RawResponse {
    let media = Media::detect(response);
    RawResponse {
        status: response.status.as_u16(),
        status_text: response.status.canonical_reason().unwrap_or_default(),
        headers: joined(&response.headers),
        body: media::text(response, media),
        ok: response.status.is_success(),
    }
}

/// Joins the values of a repeated header with commas.
fn joined(headers: &HeaderMap) -> Map<String, Value> {
    let joined = headers.keys().map(|name| {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        (name.to_string(), Value::String(values.collect::<Vec<_>>().join(", ")))
    });
    joined.collect()
}
