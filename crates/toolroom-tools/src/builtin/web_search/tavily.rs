//! Tavily: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use serde::Deserialize;
use serde_json::json;
use toolroom::redact::Secret;
use toolroom::tool::ToolError;
use toolroom_host::net::Request;

use super::super::web::{Web, told};
use super::engine::{Engine, Hit, those_that_fit};

pub(super) const URL: &str = "https://api.tavily.com/search";

#[derive(Deserialize)]
struct Answer {
    #[serde(deserialize_with = "those_that_fit")]
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    published_date: Option<String>,
}

pub(super) async fn search(
    engine: &Engine,
    web: &Web,
    key: Option<&Secret>,
    query: &str,
    count: usize,
) -> Result<Vec<Hit>, ToolError> {
    let body = json!({"query": query, "max_results": count}).to_string();
    let request = Request::post(&engine.url, body)
        .header("content-type", "application/json")
        .map_err(|error| told(error, None))?;
    let request = Engine::with_key(request, "authorization", "Bearer ", key)?;
    let answer: Answer = engine.answer(web, request).await?;
    let hit = |entry: Entry| Hit {
        title: entry.title,
        url: entry.url,
        description: entry.content,
        age: entry.published_date,
    };
    Ok(answer.results.into_iter().map(hit).collect())
}
