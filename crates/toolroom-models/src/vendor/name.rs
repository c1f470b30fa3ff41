//! The name of a model: `vendor/model`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest valid name.
const MAX_BYTES: usize = 256;

/// A model of a vendor. The part after the first slash is the vendor's own name, slashes included:
/// `openrouter/anthropic/claude-opus-5.5`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName {
    whole: String,
    /// Where the slash is.
    slash: usize,
}

/// Why a model name is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelNameError {
    /// It is not of the form `vendor/model`.
    #[error("`{0}` names no model: write vendor and model, such as `openai/gpt-5.6-terra` or `ollama/qwen3`")]
    NoVendor(String),
    /// The vendor has invalid characters.
    #[error("`{0}` is no name of a vendor: it is made of small letters, digits, `-` and `_`")]
    Vendor(String),
    /// The model has invalid characters.
    #[error(
        "the name of a model holds no blanks and no control characters, and is at most {MAX_BYTES} bytes long"
    )]
    Model,
}

impl ModelName {
    /// The model `model` of `vendor`.
    ///
    /// # Errors
    /// When one of them is no such name.
    pub fn new(vendor: &str, model: &str) -> Result<Self, ModelNameError> {
        format!("{vendor}/{model}").parse()
    }

    /// The vendor.
    #[must_use]
    pub fn vendor(&self) -> &str {
        self.whole.get(..self.slash).unwrap_or_default()
    }

    /// The model, as the vendor names it.
    #[must_use]
    pub fn model(&self) -> &str {
        self.whole.get(self.slash.saturating_add(1)..).unwrap_or_default()
    }

    /// Both, with the slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.whole
    }
}

/// Whether a vendor name is valid.
pub(crate) fn is_vendor(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_plain)
}

impl FromStr for ModelName {
    type Err = ModelNameError;

    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        let shown = || text.chars().take(80).collect::<String>();
        let Some((vendor, model)) =
            text.split_once('/').filter(|(vendor, model)| !vendor.is_empty() && !model.is_empty())
        else {
            return Err(ModelNameError::NoVendor(shown()));
        };
        if !is_vendor(vendor) {
            return Err(ModelNameError::Vendor(vendor.chars().take(80).collect()));
        }
        if text.len() > MAX_BYTES || model.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(ModelNameError::Model);
        }
        Ok(Self { whole: text.to_owned(), slash: vendor.len() })
    }
}

impl TryFrom<String> for ModelName {
    type Error = ModelNameError;

    fn try_from(text: String) -> Result<Self, ModelNameError> {
        text.parse()
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> Self {
        name.whole
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vendor_ends_at_the_first_slash() {
        for (text, vendor, model) in [
            ("openai/gpt-5.4", "openai", "gpt-5.4"),
            ("openrouter/meta-llama/llama-3.3-70b:free", "openrouter", "meta-llama/llama-3.3-70b:free"),
            ("ollama/hf.co/a/b:Q4", "ollama", "hf.co/a/b:Q4"),
        ] {
            let name: ModelName = text.parse().unwrap();
            assert_eq!((name.vendor(), name.model(), name.as_str()), (vendor, model, text));
        }
    }

    #[test]
    fn what_names_no_model_says_how_one_is_named() {
        for (text, word) in [
            ("", "write vendor and model"),
            ("gpt-5", "write vendor and model"),
            ("/gpt-5", "write vendor and model"),
            ("openai/", "write vendor and model"),
            ("Open AI/gpt", "small letters"),
            ("openai/gpt 5", "no blanks"),
            ("openai/gpt\n5", "no blanks"),
        ] {
            let error = text.parse::<ModelName>().unwrap_err();
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }
}
