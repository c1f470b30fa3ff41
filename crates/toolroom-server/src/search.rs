//! The search engines of a project: configuration, environment and secrets joined.

use std::sync::Arc;

use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::environment;
use toolroom_tools::builtin::web_search::{EngineKind, SearchEngine, SearchEngines};

use crate::config::{SearchKeys, SecretRef, ServiceUrl};
use crate::vault::Vault;

/// The configured engines, with the keys of the calling project.
pub(crate) struct ConfiguredEngines {
    keys: SearchKeys,
    vault: Arc<Vault>,
}

impl ConfiguredEngines {
    pub(crate) fn new(keys: SearchKeys, vault: Arc<Vault>) -> Self {
        Self { keys, vault }
    }

    async fn engine(&self, kind: EngineKind, project: &ProjectId) -> anyhow::Result<SearchEngine> {
        let settings = self.keys.of(kind);
        let key = match key_place(&self.keys, kind) {
            Some(place) => self.vault.key(&place, project).await?.map(Some),
            None => Ok(None),
        };
        let key = match key {
            Ok(Some(_)) if settings.url.as_ref().is_some_and(ServiceUrl::is_insecure) => {
                Err(ServiceUrl::insecure_message("its key", &format!("search.{}.url", kind.as_str())))
            }
            key => key,
        };
        let url = settings.url.as_ref().map(|url| url.as_str().to_owned());
        let usual = || kind.usual_url().map(str::to_owned);
        let (url, key) = match url.or_else(usual) {
            Some(url) => (url, key),
            None => (String::new(), Err(format!("it has no URL; set `search.{}.url`", kind.as_str()))),
        };
        let opening = settings.url.as_ref().and_then(|url| url.opening().cloned());
        Ok(SearchEngine { kind, url, opening, key })
    }
}

impl SearchEngines for ConfiguredEngines {
    fn for_project<'a>(
        &'a self,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<Vec<SearchEngine>, ToolError>> {
        Box::pin(async move {
            let mut engines = Vec::new();
            for kind in enabled(&self.keys) {
                let engine = self.engine(kind, project).await.map_err(|error| {
                    let text = "the key of a search engine cannot be read";
                    ToolError::new(ErrorKind::Tool, text).caused_by(error)
                })?;
                engines.push(engine);
            }
            Ok(engines)
        })
    }
}

/// The named engines, else all that are configured.
fn enabled(keys: &SearchKeys) -> Vec<EngineKind> {
    if !keys.providers.is_empty() {
        return keys.providers.clone();
    }
    let is_known = |kind: &EngineKind| match kind.usual_url() {
        Some(_) => key_place(keys, *kind).is_some(),
        None => keys.of(*kind).url.is_some(),
    };
    EngineKind::ALL.into_iter().filter(is_known).collect()
}

/// Where the key of an engine is: as configured, else in its usual environment variable if that is set.
fn key_place(keys: &SearchKeys, kind: EngineKind) -> Option<SecretRef> {
    let usual = || {
        let name = kind.usual_variable()?;
        environment::variable(name).map(|_| SecretRef::Variable(name.to_owned()))
    };
    keys.of(kind).key.clone().or_else(usual)
}

/// Keys in environment variables, to be redacted.
pub(crate) fn keys_of_variables(keys: &SearchKeys) -> Vec<Secret> {
    let places = EngineKind::ALL.into_iter().filter_map(|kind| key_place(keys, kind));
    places.filter_map(|place| place.key(&[], environment::variable).ok()).collect()
}
