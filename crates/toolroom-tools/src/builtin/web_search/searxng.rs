//! `SearXNG`: <https://docs.searxng.org/dev/search_api.html>. The instance must have JSON responses enabled.

use serde::Deserialize;
use serde_json::Value;
use toolroom::redact::Secret;
use toolroom::tool::ToolError;
use toolroom_host::net::{Request, Url};

use super::super::web::{Web, net_error};
use super::engine::{SearchEngine, SearchHit, clean, upstream, valid_results};

/// Maximum characters of the name of a backend engine.
const MAX_NAME: usize = 40;

#[derive(Deserialize)]
struct SearxngResponse {
    #[serde(deserialize_with = "valid_results")]
    results: Vec<SearxngResult>,
    /// Backend engines that failed, each with a reason.
    #[serde(default)]
    unresponsive_engines: Vec<Value>,
}

#[derive(Deserialize)]
struct SearxngResult {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: Option<String>,
    #[serde(default, rename = "publishedDate")]
    published: Option<String>,
}

/// Returns one page of results: `SearXNG` has no parameter for their number.
pub(super) async fn search(
    engine: &SearchEngine,
    web: &Web,
    key: Option<&Secret>,
    query: &str,
) -> Result<Vec<SearchHit>, ToolError> {
    let place = format!("{}/search", engine.url.trim_end_matches('/'));
    let url = Url::parse_with_params(&place, [("q", query), ("format", "json")])
        .map_err(|error| upstream("its address cannot be used").caused_by(error))?;
    let request =
        Request::get(url).header("accept", "application/json").map_err(|error| net_error(error, None))?;
    let request = SearchEngine::with_key(request, "authorization", "Bearer ", key)?;
    let answer: SearxngResponse = engine.fetch_json(web, request).await?;
    if answer.results.is_empty() && !answer.unresponsive_engines.is_empty() {
        let names = answer.unresponsive_engines.iter().filter_map(|silent| silent.get(0)?.as_str());
        let silent: Vec<String> = names.take(5).map(|name| clean(name, MAX_NAME)).collect();
        return Err(upstream(format!("none of its engines responded ({})", silent.join(", "))));
    }
    let hit = |entry: SearxngResult| SearchHit {
        title: entry.title,
        url: entry.url,
        description: entry.content.unwrap_or_default(),
        age: entry.published,
    };
    Ok(answer.results.into_iter().map(hit).collect())
}
