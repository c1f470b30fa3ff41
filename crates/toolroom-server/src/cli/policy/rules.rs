//! Loads the rules of a file, or of the configuration in effect.

use std::path::{Path, PathBuf};

use serde::Serialize;
use toolroom::policy::Ruling;

use crate::cli::config::layers;
use crate::cli::console::input::read_text;
use crate::cli::console::output::Output;
use crate::config::{ConfigError, ConfigRule, Layer, LoadedConfig, MAX_FILE_BYTES, Origin, load};

/// Loads a file as a user file, or else the configuration in effect. The inner error is about the content, the outer
/// one about reading it.
pub(super) async fn loaded(
    file: Option<&Path>,
    settings: &[String],
    output: Output,
) -> anyhow::Result<Result<LoadedConfig, ConfigError>> {
    let layers = match file {
        Some(path) => {
            let text = read_text(path, MAX_FILE_BYTES)?;
            vec![Layer::User { path: path.to_owned(), text }, Layer::Flags(settings.to_vec())]
        }
        None => layers(settings, output).await?,
    };
    Ok(load(&layers))
}

/// Whether a rule is in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RuleStatus {
    /// In effect.
    Holds,
    /// In effect although its file is not trusted, because it only restricts.
    Narrows,
    /// Not in effect: it allows, and its file is not trusted.
    Ignored,
}

impl RuleStatus {
    pub(super) fn new(rule: &ConfigRule) -> Self {
        match (rule.origin.is_trusted(), rule.text.effect) {
            (true, _) => Self::Holds,
            (false, Ruling::Ask | Ruling::Deny) => Self::Narrows,
            (false, Ruling::Allow) => Self::Ignored,
        }
    }

    pub(super) const fn note(self) -> &'static str {
        match self {
            Self::Holds => "",
            Self::Narrows => "not trusted: only narrows",
            Self::Ignored => "not trusted: ignored",
        }
    }
}

/// The rules in the order in which they are tried: those of untrusted files come last.
pub(super) fn in_order(loaded: &LoadedConfig) -> Vec<&ConfigRule> {
    let mut rules: Vec<&ConfigRule> = loaded.config.rules.iter().collect();
    rules.sort_by_key(|rule| !rule.origin.is_trusted());
    rules
}

/// The file of an origin, if it has one.
pub(super) fn file(origin: &Origin) -> Option<&PathBuf> {
    match origin {
        Origin::User(path) | Origin::Project { path, .. } => Some(path),
        Origin::Default | Origin::Environment(_) | Origin::Flag => None,
    }
}
