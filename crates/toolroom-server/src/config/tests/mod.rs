mod compiled;
mod derived;
mod errors;
mod layers;
mod properties;
mod trust;

use super::{Layer, LoadedConfig, load};

fn user(text: &str) -> Layer {
    Layer::User { path: "user.toml".into(), text: text.to_owned() }
}

fn untrusted(text: &str) -> Layer {
    Layer::Project { path: "project.toml".into(), trusted: false, text: text.to_owned() }
}

fn trusted(text: &str) -> Layer {
    Layer::Project { path: "project.toml".into(), trusted: true, text: text.to_owned() }
}

fn environment(variables: &[(&str, &str)]) -> Layer {
    Layer::Environment(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect())
}

fn flags(flags: &[&str]) -> Layer {
    Layer::Flags(flags.iter().map(|flag| (*flag).to_owned()).collect())
}

fn loaded(layers: &[Layer]) -> LoadedConfig {
    load(layers).unwrap_or_else(|error| panic!("{error}"))
}

/// All problems, one line each.
fn wrong(layers: &[Layer]) -> Vec<String> {
    load(layers).unwrap_err().problems.iter().map(ToString::to_string).collect()
}

/// `key = value (origin)` for every key that is set.
fn set(loaded: &LoadedConfig) -> Vec<String> {
    let settings = loaded.effective().into_iter().filter(|setting| setting.origin != super::Origin::Default);
    settings.map(|setting| format!("{} = {} ({})", setting.key, setting.toml(), setting.origin)).collect()
}
