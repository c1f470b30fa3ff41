//! The rules of a file, or those that are configured here.

use std::path::{Path, PathBuf};

use serde::Serialize;
use toolroom::policy::Ruling;

use crate::cli::config::layers;
use crate::cli::console::input::text_of;
use crate::cli::console::output::Output;
use crate::config::{ConfigError, ConfigRule, Layer, Loaded, MAX_FILE_BYTES, Origin, load};

/// Loads a file as if it were the user's, or else everything that counts here. The inner error is about what the
/// files say, the outer one about reading them.
pub(super) async fn loaded(
    file: Option<&Path>,
    settings: &[String],
    output: Output,
) -> anyhow::Result<Result<Loaded, ConfigError>> {
    let layers = match file {
        Some(path) => {
            let text = text_of(path, MAX_FILE_BYTES)?;
            vec![Layer::User { path: path.to_owned(), text }, Layer::Flags(settings.to_vec())]
        }
        None => layers(settings, output).await?,
    };
    Ok(load(&layers))
}

/// What a rule counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Standing {
    /// It holds.
    Holds,
    /// It holds although its file is not trusted, because it only makes things stricter.
    Narrows,
    /// It would allow something, and its file is not trusted.
    Ignored,
}

impl Standing {
    pub(super) fn of(rule: &ConfigRule) -> Self {
        match (rule.origin.is_trusted(), rule.text.effect) {
            (true, _) => Self::Holds,
            (false, Ruling::Ask | Ruling::Deny) => Self::Narrows,
            (false, Ruling::Allow) => Self::Ignored,
        }
    }

    pub(super) const fn told(self) -> &'static str {
        match self {
            Self::Holds => "",
            Self::Narrows => "not trusted: only narrows",
            Self::Ignored => "not trusted: ignored",
        }
    }
}

/// The rules in the order in which they are tried: those that may only narrow come last.
pub(super) fn in_order(loaded: &Loaded) -> Vec<&ConfigRule> {
    let mut rules: Vec<&ConfigRule> = loaded.config.rules.iter().collect();
    rules.sort_by_key(|rule| !rule.origin.is_trusted());
    rules
}

/// The file something was written in.
pub(super) fn file(origin: &Origin) -> Option<&PathBuf> {
    match origin {
        Origin::User(path) | Origin::Project { path, .. } => Some(path),
        Origin::Default | Origin::Environment(_) | Origin::Flag => None,
    }
}
