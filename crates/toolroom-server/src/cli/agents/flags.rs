//! Agents from flags and files.

use clap::Args;
use serde_json::Value;
use toolroom::agent::{AgentRecord, OnDisconnect};

use crate::agents::{check, record_from_fields};

/// Clears an optional value.
const NONE: &str = "none";

#[derive(Args, Debug, Default)]
pub(super) struct AgentFlags {
    /// Display name
    #[arg(long)]
    name: Option<String>,
    /// System prompt; '' for the default assistant
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Models as vendor/model, in order of preference (repeatable)
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
    /// Small model that preselects tools when there are too many, or none
    #[arg(long, value_name = "MODEL")]
    ranker: Option<String>,
    /// Only allow these tools: ids, names or patterns such as 'web_*' (repeatable)
    #[arg(long, value_name = "TOOL")]
    allow: Vec<String>,
    /// Tools to deny (repeatable)
    #[arg(long, value_name = "TOOL")]
    deny: Vec<String>,
    /// Budget per user and day in US dollars, or none
    #[arg(long, value_name = "USD")]
    budget: Option<String>,
    /// Maximum number of model requests per run
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// Maximum number of parallel calls
    #[arg(long, value_name = "N")]
    parallel: Option<u32>,
    /// Maximum tokens per answer, or none
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Token budget for tool definitions
    #[arg(long, value_name = "N")]
    tool_tokens: Option<u64>,
    /// What happens to a run when its client disconnects
    #[arg(long, value_name = "WHAT", value_parser = ["continue", "cancel"])]
    on_disconnect: Option<String>,
}

/// Parses an agent from JSON or TOML.
pub(super) fn read_record(id: &str, text: &str) -> Result<AgentRecord, String> {
    let not_read =
        |what: &str, error: &dyn std::fmt::Display| format!("the file is not valid {what}: {error}");
    let value: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| not_read("JSON", &error))?,
        false => toml::from_str(text).map_err(|error| not_read("TOML", &error))?,
    };
    match value {
        Value::Object(fields) => record_from_fields(id, fields),
        _ => Err("the file must hold a table of agent fields".to_owned()),
    }
}

/// Applies the flags and checks the result.
pub(super) fn apply_flags(mut agent: AgentRecord, flags: &AgentFlags) -> Result<AgentRecord, String> {
    replace(&mut agent.name, flags.name.as_ref());
    replace(&mut agent.prompt, flags.prompt.as_ref());
    replace_list(&mut agent.models, &flags.model);
    if let Some(ranker) = &flags.ranker {
        agent.ranker = (ranker != NONE).then(|| ranker.clone());
    }
    replace_list(&mut agent.allow, &flags.allow);
    replace_list(&mut agent.deny, &flags.deny);
    let limits = &mut agent.limits;
    limits.iterations = flags.iterations.unwrap_or(limits.iterations);
    limits.parallel = flags.parallel.unwrap_or(limits.parallel);
    limits.tool_tokens = flags.tool_tokens.unwrap_or(limits.tool_tokens);
    if let Some(text) = &flags.budget {
        limits.daily_budget_usd = number_or_none("--budget", text)?;
    }
    if let Some(text) = &flags.max_tokens {
        limits.max_tokens = number_or_none("--max-tokens", text)?;
    }
    match flags.on_disconnect.as_deref() {
        Some("cancel") => agent.on_disconnect = OnDisconnect::Cancel,
        Some(_) => agent.on_disconnect = OnDisconnect::Continue,
        None => {}
    }
    check(&agent)?;
    Ok(agent)
}

fn replace(text: &mut String, new: Option<&String>) {
    if let Some(new) = new {
        text.clone_from(new);
    }
}

/// A list is replaced as a whole; an empty text empties it.
fn replace_list(list: &mut Vec<String>, new: &[String]) {
    if !new.is_empty() {
        *list = new.iter().filter(|item| !item.is_empty()).cloned().collect();
    }
}

fn number_or_none<N: std::str::FromStr>(flag: &str, text: &str) -> Result<Option<N>, String> {
    match text {
        NONE => Ok(None),
        text => {
            text.parse().map(Some).map_err(|_| format!("{flag} takes a number or `{NONE}`, not `{text}`"))
        }
    }
}

#[cfg(test)]
#[path = "flags_tests.rs"]
mod tests;
