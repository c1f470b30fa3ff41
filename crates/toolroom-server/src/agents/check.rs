//! Checks agent records from any source.

use toolroom::agent::AgentRecord;
use toolroom::policy::ToolPattern;
use toolroom_models::vendor::{ModelName, ModelNameError};

const ID_CHARS: usize = 64;
pub(crate) const ID_PATTERN: &str = "^[A-Za-z0-9_.-]{1,64}$";

const NAME_CHARS: usize = 100;
const PROMPT_CHARS: usize = 20_000;
const PATTERNS: usize = 100;
const MODELS: usize = 8;
const ITERATIONS: u64 = 1_000;
const PARALLEL: u64 = 64;
const TOKENS: u64 = 1_000_000;

/// Checks an agent record.
///
/// # Errors
/// With the first problem.
pub(crate) fn check(agent: &AgentRecord) -> Result<(), String> {
    check_id(agent.id.as_str())?;
    let AgentRecord { name, prompt, models, ranker, allow, deny, limits, .. } = agent;
    let fits = |text: &str, most: usize| text.chars().nth(most).is_none();
    let within = |what: &str, value: u64, least: u64, most: u64| match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} must be from {least} to {most}, not {value}")),
    };
    if name.trim().is_empty() || name.chars().any(char::is_control) || !fits(name, NAME_CHARS) {
        return Err(format!("the name must be one line of up to {NAME_CHARS} characters"));
    }
    if !fits(prompt, PROMPT_CHARS) {
        return Err(format!("the prompt may have up to {PROMPT_CHARS} characters"));
    }
    for (what, list, most) in
        [("models", models, MODELS), ("allowed tools", allow, PATTERNS), ("denied tools", deny, PATTERNS)]
    {
        if list.len() > most {
            return Err(format!("there may be up to {most} {what}"));
        }
    }
    for model in models.iter().chain(ranker) {
        model.parse::<ModelName>().map_err(|error: ModelNameError| error.to_string())?;
    }
    for pattern in allow.iter().chain(deny) {
        ToolPattern::parse(pattern).map_err(|error| format!("`{pattern}` fits no tool: {error}"))?;
    }
    if limits.daily_budget_usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
        return Err("the budget must be an amount of US dollars, 0 or more".to_owned());
    }
    within("iterations", limits.iterations.into(), 1, ITERATIONS)?;
    within("parallel calls", limits.parallel.into(), 1, PARALLEL)?;
    within("tokens of definitions", limits.tool_tokens, 0, TOKENS)?;
    limits.max_tokens.map_or(Ok(()), |tokens| within("tokens of an answer", tokens.into(), 1, TOKENS))
}

fn check_id(text: &str) -> Result<(), String> {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match !text.is_empty() && text.len() <= ID_CHARS && text.chars().all(known) {
        true => Ok(()),
        false => Err(format!(
            "an agent's id has up to {ID_CHARS} letters, digits, `_`, `-` and `.`, not `{}`; choose another one",
            text.chars().take(ID_CHARS).collect::<String>()
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_schema_of_an_agent_has_the_same_limits() {
        let schema = schemars::schema_for!(AgentRecord).to_value();
        let (fields, limits) = (&schema["properties"], &schema["$defs"]["AgentLimits"]["properties"]);
        let bound = |field: &Value, name: &str, expected: Value| assert_eq!(field[name], expected, "{field}");
        bound(&fields["name"], "maxLength", json!(NAME_CHARS));
        bound(&fields["prompt"], "maxLength", json!(PROMPT_CHARS));
        bound(&fields["models"], "maxItems", json!(MODELS));
        bound(&fields["allow"], "maxItems", json!(PATTERNS));
        bound(&fields["deny"], "maxItems", json!(PATTERNS));
        bound(&limits["iterations"], "maximum", json!(ITERATIONS));
        bound(&limits["parallel"], "maximum", json!(PARALLEL));
        bound(&limits["tool_tokens"], "maximum", json!(TOKENS));
        bound(&limits["max_tokens"], "maximum", json!(TOKENS));
    }
}
