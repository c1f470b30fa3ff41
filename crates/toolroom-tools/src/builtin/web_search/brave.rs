//! Brave's search API: <https://api-dashboard.search.brave.com/app/documentation>.

use serde::Deserialize;
use toolroom::redact::Secret;
use toolroom::tool::ToolError;
use toolroom_host::net::{Request, Url};

use super::super::web::{Web, told};
use super::engine::{Engine, Hit, those_that_fit, unlike_an_engine, upstream};

pub(super) const URL: &str = "https://api.search.brave.com/res/v1/web/search";

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "type")]
    kind: Option<String>,
    web: Option<Found>,
}

#[derive(Deserialize)]
struct Found {
    #[serde(default, deserialize_with = "those_that_fit")]
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    age: Option<String>,
}

pub(super) async fn search(
    engine: &Engine,
    web: &Web,
    key: Option<&Secret>,
    query: &str,
    count: usize,
) -> Result<Vec<Hit>, ToolError> {
    let count = count.to_string();
    let url = Url::parse_with_params(&engine.url, [("q", query), ("count", &count)])
        .map_err(|error| upstream("its address cannot be used").caused_by(error))?;
    let request =
        Request::get(url).header("accept", "application/json").map_err(|error| told(error, None))?;
    let request = Engine::with_key(request, "x-subscription-token", "", key)?;
    let answer: Answer = engine.answer(web, request).await?;
    // What found nothing is still an answer to a search.
    if answer.web.is_none() && answer.kind.as_deref() != Some("search") {
        return Err(unlike_an_engine());
    }
    let found = answer.web.map(|found| found.results).unwrap_or_default();
    let hit = |entry: Entry| Hit {
        title: entry.title,
        url: entry.url,
        description: entry.description,
        age: entry.age,
    };
    Ok(found.into_iter().map(hit).collect())
}
