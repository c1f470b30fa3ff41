//! A search engine, and one exchange with it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use toolroom::redact::Secret;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::net::{EgressRule, Request, StatusCode};

use super::super::web::{Web, exchange, net_error};
use super::{brave, searxng, tavily};
use crate::readable::plain;

/// Timeout of one engine.
pub(super) const LIMIT: Duration = Duration::from_secs(15);

/// Limits for parts of a result, whose text is untrusted.
const MAX_TITLE: usize = 300;
const MAX_DESCRIPTION: usize = 1_000;
const MAX_URL: usize = 2_000;
const MAX_AGE: usize = 60;

/// The search engines, in the default order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// The Brave Search API.
    Brave,
    /// Tavily.
    Tavily,
    /// A `SearXNG` instance.
    Searxng,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Brave, Self::Tavily, Self::Searxng];

    /// The name in configuration and results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::Searxng => "searxng",
        }
    }

    /// The customary environment variable of its key, if it needs one.
    #[must_use]
    pub const fn usual_variable(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("BRAVE_API_KEY"),
            Self::Tavily => Some("TAVILY_API_KEY"),
            Self::Searxng => None,
        }
    }

    /// The public address, if it has one.
    #[must_use]
    pub const fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some(brave::URL),
            Self::Tavily => Some(tavily::URL),
            Self::Searxng => None,
        }
    }
}

/// A configured engine.
#[derive(Debug, Clone)]
pub struct SearchEngine {
    /// The kind of engine.
    pub kind: EngineKind,
    /// The base address.
    pub url: String,
    /// Opens the address if it is not public.
    pub opening: Option<EgressRule>,
    /// The key; an error says why a configured key is missing.
    pub key: Result<Option<Secret>, String>,
}

/// A result for models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SearchHit {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) description: String,
    /// The age, in the engine's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) age: Option<String>,
}

impl SearchEngine {
    /// The key, if it has one. Fails if it needs one and has none.
    pub(super) fn key(&self) -> Result<Option<&Secret>, ToolError> {
        let key = self.key.as_ref().map_err(ToolError::tool)?.as_ref();
        match (key, self.kind.usual_variable()) {
            (None, Some(variable)) => Err(ToolError::tool(format!(
                "needs a key; set the variable {variable}, or `search.{name}.key` to `secret:{name}` after `toolroom secrets set \
                 {name}`",
                name = self.kind.as_str()
            ))),
            (key, _) => Ok(key),
        }
    }

    /// Searches; returns at most `count` results.
    pub(super) async fn search(
        &self,
        web: &Web,
        query: &str,
        count: usize,
    ) -> Result<Arc<[SearchHit]>, ToolError> {
        let key = self.key()?;
        let hits = match self.kind {
            EngineKind::Brave => brave::search(self, web, key, query, count).await?,
            EngineKind::Tavily => tavily::search(self, web, key, query, count).await?,
            EngineKind::Searxng => searxng::search(self, web, key, query).await?,
        };
        // A shortened URL would lead elsewhere.
        let is_reachable = |hit: &SearchHit| {
            (hit.url.starts_with("https://") || hit.url.starts_with("http://"))
                && hit.url.chars().count() <= MAX_URL
        };
        Ok(hits.into_iter().map(SearchHit::cleaned).filter(is_reachable).take(count).collect())
    }

    /// Sends the request and parses the JSON response.
    pub(super) async fn fetch_json<T: DeserializeOwned>(
        &self,
        web: &Web,
        request: Request,
    ) -> Result<T, ToolError> {
        let client = web.client_for_service(self.opening.as_ref(), LIMIT);
        let response = exchange(&client, request).await?;
        match response.status {
            status if status.is_success() => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(upstream(format!("rejected the key (status {})", response.status.as_u16())));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                return Err(upstream("too many requests (status 429)"));
            }
            status => return Err(upstream(format!("responded with status {}", status.as_u16()))),
        }
        serde_json::from_slice(&response.body).map_err(|error| unexpected_response().caused_by(error))
    }

    /// Adds the key as a header, if there is one.
    pub(super) fn with_key(
        request: Request,
        header: &str,
        scheme: &str,
        key: Option<&Secret>,
    ) -> Result<Request, ToolError> {
        let Some(key) = key else { return Ok(request) };
        let value = format!("{scheme}{}", key.expose());
        request.secret_header(header, &value).map_err(|error| net_error(error, None))
    }
}

/// An error of the engine.
pub(super) fn upstream(text: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::Upstream, text)
}

/// A response that does not have the expected form.
pub(super) fn unexpected_response() -> ToolError {
    upstream("the response does not have the expected form")
}

impl SearchHit {
    /// Strips HTML, joins lines and shortens long parts.
    fn cleaned(self) -> Self {
        Self {
            title: clean(&self.title, MAX_TITLE),
            url: self.url,
            description: clean(&self.description, MAX_DESCRIPTION),
            age: self.age.map(|age| clean(&age, MAX_AGE)).filter(|age| !age.is_empty()),
        }
    }
}

/// Deserializes the valid results and skips the rest; fails if none is valid.
pub(super) fn valid_results<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let all = Vec::<Value>::deserialize(deserializer)?;
    let is_empty = all.is_empty();
    let fitting: Vec<T> = all.into_iter().filter_map(|result| serde_json::from_value(result).ok()).collect();
    match fitting.is_empty() && !is_empty {
        true => Err(D::Error::custom("no result has the expected form")),
        false => Ok(fitting),
    }
}

pub(super) fn clean(text: &str, most: usize) -> String {
    let text = if text.contains(['<', '&']) { plain(text).text } else { text.to_owned() };
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_plain_text_of_bounded_length() {
        let hit = SearchHit {
            title: "Rust &amp; <strong>crabs</strong>\n  today".to_owned(),
            url: "https://example.org/".to_owned(),
            description: "a ".repeat(5_000),
            age: Some("  ".to_owned()),
        };
        let cleaned = hit.cleaned();
        assert_eq!(cleaned.title, "Rust & crabs today");
        assert_eq!(cleaned.description.chars().count(), MAX_DESCRIPTION);
        assert_eq!(cleaned.age, None);
    }

    #[test]
    fn an_invalid_result_does_not_affect_the_others() {
        #[derive(Debug, Deserialize)]
        struct Answer {
            #[serde(deserialize_with = "valid_results")]
            results: Vec<Entry>,
        }
        #[derive(Debug, Deserialize)]
        struct Entry {
            url: String,
        }
        let read = |text: &str| serde_json::from_str::<Answer>(text);
        let urls = |text: &str| -> Vec<String> {
            read(text).unwrap().results.into_iter().map(|entry| entry.url).collect()
        };
        assert_eq!(
            urls(r#"{"results": [{"title": "x"}, {"url": "a"}, {"url": null}, {"url": "b"}]}"#),
            ["a", "b"]
        );
        assert!(urls(r#"{"results": []}"#).is_empty());
        assert!(read(r#"{"results": [{"title": "x"}]}"#).is_err() && read("{}").is_err());
    }
}
