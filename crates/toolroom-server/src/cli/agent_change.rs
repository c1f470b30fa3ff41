//! What an agent is told to be, from flags and files.

use clap::Args;
use serde_json::Value;
use toolroom::agent::{AgentRecord, OnDisconnect};
use toolroom::conversation::AgentId;
use toolroom::policy::ToolPattern;

/// Bounds of what is kept. A prompt is sent with every request.
const ID_CHARS: usize = 64;
const NAME_CHARS: usize = 100;
const PROMPT_CHARS: usize = 20_000;
const LIST_ITEMS: usize = 100;
const MODEL_CHARS: usize = 200;

/// What a flag with an optional value is told to have none.
const NONE: &str = "none";

#[derive(Args, Debug, Default)]
pub(super) struct Flags {
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// Who it is and what it is for; '' for a plain assistant
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Its models as vendor/model, the first one first (repeatable)
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
    /// The only tools it may use: ids, names or patterns such as 'web_*' (repeatable)
    #[arg(long, value_name = "TOOL")]
    allow: Vec<String>,
    /// Tools it may not use (repeatable)
    #[arg(long, value_name = "TOOL")]
    deny: Vec<String>,
    /// US dollars a user may spend in a day, or none
    #[arg(long, value_name = "USD")]
    budget: Option<String>,
    /// How often the model is asked in a run
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// How many calls of one answer run at the same time
    #[arg(long, value_name = "N")]
    parallel: Option<u32>,
    /// Most tokens of an answer, or none
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Tokens that definitions of tools may take
    #[arg(long, value_name = "N")]
    tool_tokens: Option<u64>,
    /// What becomes of a run when nobody watches any more
    #[arg(long, value_name = "WHAT", value_parser = ["continue", "cancel"])]
    on_disconnect: Option<String>,
}

/// The agent that a file describes, JSON or TOML.
pub(super) fn read_record(id: &str, text: &str) -> Result<AgentRecord, String> {
    let not_read = |what: &str, error: &dyn std::fmt::Display| format!("the file is no {what}: {error}");
    let mut value: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| not_read("JSON", &error))?,
        false => toml::from_str(text).map_err(|error| not_read("TOML", &error))?,
    };
    let Some(fields) = value.as_object_mut() else {
        return Err("the file describes no agent: it is no table".to_owned());
    };
    match fields.get("id") {
        Some(other) if other != id => {
            return Err(format!("the file is about the agent {other}, not about `{id}`"));
        }
        _ => fields.insert("id".to_owned(), id.into()),
    };
    fields.entry("name").or_insert_with(|| id.into());
    serde_json::from_value(value).map_err(|error| format!("the file describes no agent: {error}"))
}

/// The agent with what the flags say, if that makes sense.
pub(super) fn changed(mut agent: AgentRecord, flags: &Flags) -> Result<AgentRecord, String> {
    replace(&mut agent.name, flags.name.as_ref());
    replace(&mut agent.prompt, flags.prompt.as_ref());
    replace_list(&mut agent.models, &flags.model);
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

/// The first thing that is wrong with an agent.
fn check(agent: &AgentRecord) -> Result<(), String> {
    check_id(&agent.id)?;
    let AgentRecord { name, prompt, models, allow, deny, limits, .. } = agent;
    let fits = |text: &str, most: usize| text.chars().nth(most).is_none();
    let within = |what: &str, value: u64, least: u64, most: u64| match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} have to be from {least} to {most}, not {value}")),
    };
    if name.trim().is_empty() || name.chars().any(char::is_control) || !fits(name, NAME_CHARS) {
        return Err(format!("the name has to be one line of up to {NAME_CHARS} characters"));
    }
    if !fits(prompt, PROMPT_CHARS) {
        return Err(format!("the prompt may have up to {PROMPT_CHARS} characters"));
    }
    for (what, list) in [("models", models), ("allowed tools", allow), ("denied tools", deny)] {
        if list.len() > LIST_ITEMS {
            return Err(format!("there may be up to {LIST_ITEMS} {what}"));
        }
    }
    if let Some(model) = models.iter().find(|model| !is_model(model) || !fits(model, MODEL_CHARS)) {
        return Err(format!("`{model}` is no model; write vendor/model, e.g. openai/gpt-4o"));
    }
    for pattern in allow.iter().chain(deny) {
        ToolPattern::parse(pattern).map_err(|error| format!("`{pattern}` fits no tool: {error}"))?;
    }
    if limits.daily_budget_usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
        return Err("the budget has to be an amount of US dollars, 0 or more".to_owned());
    }
    within("iterations", limits.iterations.into(), 1, 1_000)?;
    within("parallel calls", limits.parallel.into(), 1, 100)?;
    within("tokens of definitions", limits.tool_tokens, 500, 1_000_000)?;
    limits.max_tokens.map_or(Ok(()), |tokens| within("tokens of an answer", tokens.into(), 1, 1_000_000))
}

fn check_id(id: &AgentId) -> Result<(), String> {
    let text = id.as_str();
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match !text.is_empty() && text.len() <= ID_CHARS && text.chars().all(known) {
        true => Ok(()),
        false => Err(format!("an agent's id has up to {ID_CHARS} letters, digits, `_`, `-` and `.`")),
    }
}

/// `vendor/model`; what stands behind the first slash is the vendor's own business.
fn is_model(text: &str) -> bool {
    let printable =
        |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c.is_control());
    text.split_once('/').is_some_and(|(vendor, model)| printable(vendor) && printable(model))
}

#[cfg(test)]
#[path = "agent_change_tests.rs"]
mod tests;
