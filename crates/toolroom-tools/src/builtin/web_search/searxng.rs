//! `SearXNG`: <https://docs.searxng.org/dev/search_api.html>. It has to be set up to answer with JSON.

use serde::Deserialize;
use serde_json::Value;
use toolroom::redact::Secret;
use toolroom::tool::ToolError;
use toolroom_host::net::{Request, Url};

use super::super::web::{Web, told};
use super::engine::{Engine, Hit, those_that_fit, tidy, upstream};

/// Most characters of the name of an engine behind it.
const MAX_NAME: usize = 40;

#[derive(Deserialize)]
struct Answer {
    #[serde(deserialize_with = "those_that_fit")]
    results: Vec<Entry>,
    /// Those behind it that did not answer, each with a reason.
    #[serde(default)]
    unresponsive_engines: Vec<Value>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: Option<String>,
    #[serde(default, rename = "publishedDate")]
    published: Option<String>,
}

/// It is asked for a page, and the page is cut: how many results it has cannot be said.
pub(super) async fn search(
    engine: &Engine,
    web: &Web,
    key: Option<&Secret>,
    query: &str,
) -> Result<Vec<Hit>, ToolError> {
    let place = format!("{}/search", engine.url.trim_end_matches('/'));
    let url = Url::parse_with_params(&place, [("q", query), ("format", "json")])
        .map_err(|error| upstream("its address cannot be used").caused_by(error))?;
    let request =
        Request::get(url).header("accept", "application/json").map_err(|error| told(error, None))?;
    let request = Engine::with_key(request, "authorization", "Bearer ", key)?;
    let answer: Answer = engine.answer(web, request).await?;
    if answer.results.is_empty() && !answer.unresponsive_engines.is_empty() {
        let names = answer.unresponsive_engines.iter().filter_map(|silent| silent.get(0)?.as_str());
        let silent: Vec<String> = names.take(5).map(|name| tidy(name, MAX_NAME)).collect();
        return Err(upstream(format!("none of those behind it answered ({})", silent.join(", "))));
    }
    let hit = |entry: Entry| Hit {
        title: entry.title,
        url: entry.url,
        description: entry.content.unwrap_or_default(),
        age: entry.published,
    };
    Ok(answer.results.into_iter().map(hit).collect())
}
