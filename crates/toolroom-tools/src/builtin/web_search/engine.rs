//! What an engine is, and one exchange with it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use toolroom::redact::Secret;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::net::{EgressRule, Request, StatusCode};

use super::super::web::{Web, ask, told};
use super::{brave, searxng, tavily};
use crate::readable::plain;

/// How long one engine may take.
pub(super) const LIMIT: Duration = Duration::from_secs(15);

/// Most characters of each part of a result that are kept: anybody may have written them.
const MAX_TITLE: usize = 300;
const MAX_DESCRIPTION: usize = 1_000;
const MAX_URL: usize = 2_000;
const MAX_AGE: usize = 60;

/// The engines there are, in the order in which they are asked where nobody says another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// The Brave Search API.
    Brave,
    /// Tavily.
    Tavily,
    /// A `SearXNG` of one's own, or somebody else's.
    Searxng,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Brave, Self::Tavily, Self::Searxng];

    /// Its name in configurations and results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::Searxng => "searxng",
        }
    }

    /// The variable in which everybody has its key, if it wants one.
    #[must_use]
    pub const fn usual_variable(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("BRAVE_API_KEY"),
            Self::Tavily => Some("TAVILY_API_KEY"),
            Self::Searxng => None,
        }
    }

    /// Where it is, if it is the same for everybody.
    #[must_use]
    pub const fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some(brave::URL),
            Self::Tavily => Some(tavily::URL),
            Self::Searxng => None,
        }
    }
}

/// An engine that can be asked.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Which one.
    pub kind: EngineKind,
    /// Where it is, without what is put behind for a question.
    pub url: String,
    /// What has to be open for it to be reached where it is not public.
    pub opening: Option<EgressRule>,
    /// The key it wants; why there is none, if one was to be there.
    pub key: Result<Option<Secret>, String>,
}

/// A result, as models read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Hit {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) description: String,
    /// When it was written, in the engine's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) age: Option<String>,
}

impl Engine {
    /// Its key, where it has one. Without one that it needs it cannot be asked.
    pub(super) fn key(&self) -> Result<Option<&Secret>, ToolError> {
        let key = self.key.as_ref().map_err(ToolError::tool)?.as_ref();
        match (key, self.kind.usual_variable()) {
            (None, Some(variable)) => Err(ToolError::tool(format!(
                "it wants a key and has none; set the variable {variable}, or `search.{name}.key` to `secret:{name}` after \
                 `toolroom secrets set {name}`",
                name = self.kind.as_str()
            ))),
            (key, _) => Ok(key),
        }
    }

    /// What it knows, at most `count` results.
    pub(super) async fn search(&self, web: &Web, query: &str, count: usize) -> Result<Arc<[Hit]>, ToolError> {
        let key = self.key()?;
        let hits = match self.kind {
            EngineKind::Brave => brave::search(self, web, key, query, count).await?,
            EngineKind::Tavily => tavily::search(self, web, key, query, count).await?,
            EngineKind::Searxng => searxng::search(self, web, key, query).await?,
        };
        // An address that is cut leads elsewhere.
        let is_reachable = |hit: &Hit| {
            (hit.url.starts_with("https://") || hit.url.starts_with("http://"))
                && hit.url.chars().count() <= MAX_URL
        };
        Ok(hits.into_iter().map(Hit::tidied).filter(is_reachable).take(count).collect())
    }

    /// Asks, and reads the answer, which is JSON.
    pub(super) async fn answer<T: DeserializeOwned>(
        &self,
        web: &Web,
        request: Request,
    ) -> Result<T, ToolError> {
        let client = web.reaching(self.opening.as_ref(), LIMIT);
        let arrived = ask(&client, request).await?;
        match arrived.status {
            status if status.is_success() => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(upstream(format!(
                    "it does not take the key (status {})",
                    arrived.status.as_u16()
                )));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                return Err(upstream("too much was asked of it (status 429)"));
            }
            status => return Err(upstream(format!("it answered with status {}", status.as_u16()))),
        }
        serde_json::from_slice(&arrived.body).map_err(|error| unlike_an_engine().caused_by(error))
    }

    /// The request with the key in a header, if there is one.
    pub(super) fn with_key(
        request: Request,
        header: &str,
        scheme: &str,
        key: Option<&Secret>,
    ) -> Result<Request, ToolError> {
        let Some(key) = key else { return Ok(request) };
        let value = format!("{scheme}{}", key.expose());
        request.secret_header(header, &value).map_err(|error| told(error, None))
    }
}

/// The engine did not do its part.
pub(super) fn upstream(text: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::Upstream, text)
}

/// What came is no answer of such an engine.
pub(super) fn unlike_an_engine() -> ToolError {
    upstream("its answer is not what such an engine answers")
}

impl Hit {
    /// Without marks of HTML, on one line each, and no longer than anybody reads.
    fn tidied(self) -> Self {
        Self {
            title: tidy(&self.title, MAX_TITLE),
            url: self.url,
            description: tidy(&self.description, MAX_DESCRIPTION),
            age: self.age.map(|age| tidy(&age, MAX_AGE)).filter(|age| !age.is_empty()),
        }
    }
}

/// The results that are what they should be; one that is not takes no other with it.
pub(super) fn those_that_fit<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let all = Vec::<Value>::deserialize(deserializer)?;
    let is_empty = all.is_empty();
    let fitting: Vec<T> = all.into_iter().filter_map(|result| serde_json::from_value(result).ok()).collect();
    match fitting.is_empty() && !is_empty {
        true => Err(D::Error::custom("no result is what such an engine finds")),
        false => Ok(fitting),
    }
}

pub(super) fn tidy(text: &str, most: usize) -> String {
    let text = if text.contains(['<', '&']) { plain(text).text } else { text.to_owned() };
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_text_of_a_bounded_length() {
        let hit = Hit {
            title: "Rust &amp; <strong>crabs</strong>\n  today".to_owned(),
            url: "https://example.org/".to_owned(),
            description: "a ".repeat(5_000),
            age: Some("  ".to_owned()),
        };
        let tidied = hit.tidied();
        assert_eq!(tidied.title, "Rust & crabs today");
        assert_eq!(tidied.description.chars().count(), MAX_DESCRIPTION);
        assert_eq!(tidied.age, None);
    }

    #[test]
    fn a_result_that_is_none_takes_no_other_with_it() {
        #[derive(Debug, Deserialize)]
        struct Answer {
            #[serde(deserialize_with = "those_that_fit")]
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
