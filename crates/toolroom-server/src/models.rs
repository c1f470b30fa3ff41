//! The available models: configuration, environment and secrets joined.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use toolroom::clock::SystemClock;
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom_host::environment;
use toolroom_models::directory::{Directory, Given, KeySetting, Vendor, VendorSettings, from_variables};
use toolroom_models::vendor::ModelName;

use crate::config::{Config, SecretRef, Span, VendorKeys};
use crate::vault::Vault;

/// The vendors of configuration and environment; configuration wins. Opens secrets only if a vendor's key is one.
///
/// # Errors
/// When secrets are needed and cannot be read. A missing one is reported when its vendor is used.
pub async fn directory(config: &Config, vault: &Vault, project: &ProjectId) -> anyhow::Result<Directory> {
    let needs_secrets = |keys: &VendorKeys| matches!(keys.key, Some(SecretRef::Secret(_)));
    let secrets = match config.vendors.iter().any(|said| needs_secrets(&said.keys)) {
        true => vault.secrets(project).await?,
        false => Vec::new(),
    };
    Ok(directory_of(config, &secrets))
}

/// Like [`directory`], with secrets that are already open.
#[must_use]
pub fn directory_of(config: &Config, secrets: &[Secret]) -> Directory {
    build_directory(config, secrets, environment::variable)
}

/// Vendor keys in environment variables, to be redacted.
#[must_use]
pub fn keys_of_variables(config: &Config) -> Vec<Secret> {
    build_directory(config, &[], environment::variable)
        .vendors()
        .iter()
        .filter_map(Vendor::key)
        .cloned()
        .collect()
}

fn build_directory(config: &Config, secrets: &[Secret], look: impl Fn(&str) -> Option<String>) -> Directory {
    let mut settings: BTreeMap<String, VendorSettings> = from_variables(&look);
    // Later layers win.
    for said in &config.vendors {
        let weaker = settings.remove(&said.vendor).unwrap_or_default();
        let from = said.origin.to_string();
        settings.insert(said.vendor.clone(), of_keys(&said.keys, &from, secrets, &look).over(weaker));
    }
    // A model that the operator names may be used even if its vendor runs on this machine.
    let agents = config
        .agent_records()
        .into_iter()
        .flat_map(|(agent, _)| [agent.models, agent.ranker.into_iter().collect()]);
    let agents: Vec<ModelName> = agents.flatten().filter_map(|name| name.parse().ok()).collect();
    let chain = config.model.iter().flat_map(|chain| &chain.0);
    Directory::new(settings, Arc::new(SystemClock)).named(chain.chain(&agents))
}

fn of_keys(
    keys: &VendorKeys,
    from: &str,
    secrets: &[Secret],
    look: &impl Fn(&str) -> Option<String>,
) -> VendorSettings {
    VendorSettings {
        like: keys.like.clone(),
        base_url: keys.base_url.clone().map(|value| Given { value, from: from.to_owned() }),
        key: keys.key.as_ref().map(|place| key(place, secrets, look)),
        model: keys.model.clone(),
        wire: keys.wire.map(Into::into),
        api_version: keys.api_version.clone(),
        idle: keys.silence.map(Span::duration).filter(|silence| *silence > Duration::ZERO),
        window: keys.window.map(u64::from),
    }
}

fn key(place: &SecretRef, secrets: &[Secret], look: &impl Fn(&str) -> Option<String>) -> KeySetting {
    match place.key(secrets, look) {
        Ok(value) => KeySetting::Given(Given { value, from: place.to_string() }),
        Err(missing) => KeySetting::Missing(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, load};

    fn directory(text: &str, secrets: &[Secret]) -> Directory {
        let layer = Layer::User { path: "toolroom.toml".into(), text: text.to_owned() };
        let config = load(&[layer]).unwrap().config;
        build_directory(&config, secrets, |name| (name == "GROQ_API_KEY").then(|| "gsk-1234".to_owned()))
    }

    fn error(directory: &Directory, model: &str) -> String {
        let model: ModelName = model.parse().unwrap();
        directory.open(&model).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn keys_come_from_variables_and_secrets() {
        let text = "[vendor.openai]\nkey = 'secret:oai'\n[vendor.lab]\nbase_url = 'http://10.0.0.5'\nkey = '$LAB_KEY'\n\
                    [vendor.xai]\nkey = 'secret:gone'";
        let directory = directory(text, &[Secret::new("oai", "sk-very-secret")]);
        let found: Vec<(&str, Option<&str>)> =
            directory.configured().map(|vendor| (vendor.name(), vendor.key_from())).collect();
        assert_eq!(
            found,
            [("openai", Some("secret:oai")), ("groq", Some("$GROQ_API_KEY")), ("xai", None), ("lab", None)]
        );
        assert_eq!(error(&directory, "openai/gpt-5"), "");
        assert!(error(&directory, "xai/grok-4").contains("no secret `gone`"));
        assert!(error(&directory, "lab/m").contains("the environment variable `LAB_KEY` is not set"));
        assert!(!format!("{directory:?}").contains("very-secret"));
    }

    #[test]
    fn a_local_vendor_is_used_once_the_operator_names_it() {
        for (text, is_open) in [
            ("", false),
            ("[vendor.openai]\nmodel = 'gpt-5'", false),
            ("[vendor.ollama]", true),
            ("model = ['openai/gpt-5', 'ollama/qwen3']", true),
            ("[agent.cook]\nmodels = ['ollama/llama3']", true),
            ("[agent.cook]\nranker = 'ollama/llama3'", true),
        ] {
            let error = error(&directory(text, &[]), "ollama/qwen3");
            assert_eq!(error.is_empty(), is_open, "{text}: {error}");
            assert!(is_open || error.contains("set OLLAMA_HOST, or add `[vendor.ollama]`"), "{error}");
        }
    }
}
