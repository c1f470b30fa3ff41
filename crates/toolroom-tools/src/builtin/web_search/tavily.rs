//! Tavily: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use serde::Deserialize;
use serde_json::json;
use toolroom::redact::Secret;
use toolroom::tool::ToolError;
use toolroom_host::net::Request;

use super::super::web::{Web, net_error};
use super::engine::{SearchEngine, SearchHit, valid_results};

pub(super) const URL: &str = "https://api.tavily.com/search";

#[derive(Deserialize)]
struct TavilyResponse {
    #[serde(deserialize_with = "valid_results")]
    results: Vec<TavilyResult>,
}

#[derive(Deserialize)]
struct TavilyResult {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    published_date: Option<String>,
}

pub(super) async fn search(
    engine: &SearchEngine,
    web: &Web,
    key: Option<&Secret>,
    query: &str,
    count: usize,
) -> Result<Vec<SearchHit>, ToolError> {
    let body = json!({"query": query, "max_results": count}).to_string();
    let request = Request::post(&engine.url, body)
        .header("content-type", "application/json")
        .map_err(|error| net_error(error, None))?;
    let request = SearchEngine::with_key(request, "authorization", "Bearer ", key)?;
    let answer: TavilyResponse = engine.fetch_json(web, request).await?;
    let hit = |entry: TavilyResult| SearchHit {
        title: entry.title,
        url: entry.url,
        description: entry.content,
        age: entry.published_date,
    };
    Ok(answer.results.into_iter().map(hit).collect())
}
