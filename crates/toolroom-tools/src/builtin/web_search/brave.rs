//! Brave's search API: <https://api-dashboard.search.brave.com/app/documentation>.

use serde::Deserialize;
use toolroom::redact::Secret;
use toolroom::tool::ToolError;
use toolroom_host::net::{Request, Url};

use super::super::web::{Web, net_error};
use super::engine::{SearchEngine, SearchHit, unexpected_response, upstream, valid_results};

pub(super) const URL: &str = "https://api.search.brave.com/res/v1/web/search";

#[derive(Deserialize)]
struct BraveResponse {
    #[serde(rename = "type")]
    kind: Option<String>,
    web: Option<BraveWeb>,
}

#[derive(Deserialize)]
struct BraveWeb {
    #[serde(default, deserialize_with = "valid_results")]
    results: Vec<BraveResult>,
}

#[derive(Deserialize)]
struct BraveResult {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    age: Option<String>,
}

pub(super) async fn search(
    engine: &SearchEngine,
    web: &Web,
    key: Option<&Secret>,
    query: &str,
    count: usize,
) -> Result<Vec<SearchHit>, ToolError> {
    let count = count.to_string();
    let url = Url::parse_with_params(&engine.url, [("q", query), ("count", &count)])
        .map_err(|error| upstream("its address cannot be used").caused_by(error))?;
    let request =
        Request::get(url).header("accept", "application/json").map_err(|error| net_error(error, None))?;
    let request = SearchEngine::with_key(request, "x-subscription-token", "", key)?;
    let answer: BraveResponse = engine.fetch_json(web, request).await?;
    // A search without matches has no `web` part.
    if answer.web.is_none() && answer.kind.as_deref() != Some("search") {
        return Err(unexpected_response());
    }
    let found = answer.web.map(|found| found.results).unwrap_or_default();
    let hit = |entry: BraveResult| SearchHit {
        title: entry.title,
        url: entry.url,
        description: entry.description,
        age: entry.age,
    };
    Ok(found.into_iter().map(hit).collect())
}
