//! `[search]`: which engines `web_search` asks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_tools::builtin::web_search::EngineKind;

use super::{KeyPlace, ServiceUrl};

/// `[search]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchKeys {
    /// The engines that are asked, one after the other until one answers. Empty, these are all for which a key or an
    /// address is found.
    #[schemars(length(max = 10))]
    pub providers: Vec<EngineKind>,
    /// The Brave Search API; its key is `$BRAVE_API_KEY` if none is named.
    pub brave: EngineKeys,
    /// Tavily; its key is `$TAVILY_API_KEY` if none is named.
    pub tavily: EngineKeys,
    /// A `SearXNG` that answers with JSON; it has no usual address, and wants no key unless something before it does.
    pub searxng: EngineKeys,
}

impl SearchKeys {
    /// What is said of an engine.
    #[must_use]
    pub fn of(&self, engine: EngineKind) -> &EngineKeys {
        match engine {
            EngineKind::Brave => &self.brave,
            EngineKind::Tavily => &self.tavily,
            EngineKind::Searxng => &self.searxng,
        }
    }
}

/// `[search.<engine>]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EngineKeys {
    /// Where its key is: `secret:NAME` for what `toolroom secrets` keeps, or `$VARIABLE`. Never the key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyPlace>,
    /// Where it is, if not at its usual address. The address may be a private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ServiceUrl>,
}
