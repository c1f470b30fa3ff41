//! Token usage of a run, by model.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::model::Usage;

/// Usage of one model. The first two counts include the others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AguiTokenUsage")]
pub(crate) struct TokenUsage {
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) total_tokens: u64,
    pub(super) reasoning_tokens: u64,
    pub(super) cached_input_tokens: u64,
    pub(super) cache_write_input_tokens: u64,
}

impl TokenUsage {
    /// Our counts include cached and reasoning tokens, as these do.
    fn add(&mut self, usage: Usage) {
        let Usage { input, output, cache_read, cache_write, reasoning } = usage;
        self.input_tokens = self.input_tokens.saturating_add(input);
        self.output_tokens = self.output_tokens.saturating_add(output);
        self.total_tokens = self.input_tokens.saturating_add(self.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(reasoning);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(cache_read);
        self.cache_write_input_tokens = self.cache_write_input_tokens.saturating_add(cache_write);
    }
}

/// Adds an answer of the model `vendor/model`.
pub(super) fn add_usage(totals: &mut Vec<TokenUsage>, model: &str, usage: Usage) {
    let (provider, model) = model.split_once('/').unwrap_or(("", model));
    match totals.iter_mut().find(|known| known.provider == provider && known.model == model) {
        Some(known) => known.add(usage),
        None => {
            let (provider, model) = (provider.to_owned(), model.to_owned());
            let mut paid = TokenUsage { provider, model, ..TokenUsage::default() };
            paid.add(usage);
            totals.push(paid);
        }
    }
}
