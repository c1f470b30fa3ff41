//! `session_status`: context use and cost of the conversation.

use std::sync::Arc;

use serde::Serialize;
use toolroom::agent::RunFacts;
use toolroom::call::CallContext;
use toolroom::conversation::{ConversationId, Spending, Spent};
use toolroom::tool::{Capability, Effect, IdError, NoArguments, Tool, ToolError, Yields, tool_fn};

use super::cost_status::{failed, spending};

/// Share of the compaction threshold from which on compaction counts as near.
const NEAR: f64 = 0.85;

/// Fields are null if unknown, because the call was not made by a run.
#[derive(Serialize)]
struct Status {
    context_percent: Option<f64>,
    context_tokens: Option<u64>,
    total_input_tokens: u64,
    total_output_tokens: u64,
    total_tokens: u64,
    max_tokens: Option<u64>,
    /// Whether older turns will be summarised soon.
    buffer_active: bool,
    /// Whether older turns were summarised.
    buffer_started: bool,
    turn_count: u64,
    api_calls: u64,
    last_prompt_tokens: Option<u64>,
    user_cost: UserCost,
    /// What the user has spent in all conversations.
    total_cost: f64,
}

/// What the user has spent in this conversation.
#[derive(Serialize)]
struct UserCost {
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: f64,
}

pub(super) fn tool(kept: Option<Arc<dyn Spending>>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Return how full this conversation is, its number of turns and its cost";
    let tool = tool_fn("builtin:session_status", description, move |context, _: NoArguments| {
        let kept = kept.clone();
        async move { look(spending(kept.as_deref())?, &context).await }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Session Status")
            .effect(Effect::Read)
            .capabilities(&[Capability::ReadsPrivate])
            // Figures contain nothing that was read.
            .yields(Yields::Stated)
            .when_to_use("the user asks how long or how expensive this conversation is, or how much room is left in it")
            .category("usage", &["tokens", "context", "window", "session", "cost", "turns"])
            .usage_example("how much of your context have we used?")
    })))
}

async fn look(spending: &dyn Spending, context: &CallContext) -> Result<Status, ToolError> {
    let scope = context.scope();
    // Without a conversation the session is this call alone, which costs nothing.
    let session = match context.thread_id().map(ConversationId::new) {
        Some(conversation) => spending.spent(scope, Some(&conversation), None).await.map_err(failed)?,
        None => Spent::default(),
    };
    let ever = spending.spent(scope, None, None).await.map_err(failed)?;
    Ok(status(&RunFacts::from_metadata(context.metadata()), &session, &ever))
}

fn status(facts: &RunFacts, session: &Spent, ever: &Spent) -> Status {
    let Spent { usage, cost, answers, runs } = *session;
    Status {
        context_percent: facts
            .context_tokens
            .zip(facts.window)
            .and_then(|(used, window)| percent(used, window)),
        context_tokens: facts.context_tokens,
        total_input_tokens: usage.input,
        total_output_tokens: usage.output,
        total_tokens: usage.input.saturating_add(usage.output),
        max_tokens: facts.window,
        buffer_active: facts
            .context_tokens
            .zip(facts.compact_at)
            .is_some_and(|(used, bound)| is_near(used, bound)),
        buffer_started: facts.compacted.unwrap_or_default(),
        turn_count: runs,
        api_calls: answers,
        last_prompt_tokens: facts.last_prompt_tokens,
        user_cost: UserCost { input_tokens: usage.input, output_tokens: usage.output, cost_usd: cost },
        total_cost: ever.cost,
    }
}

#[expect(clippy::cast_precision_loss, reason = "no window has 2^53 tokens")]
fn is_near(used: u64, bound: u64) -> bool {
    used as f64 >= bound as f64 * NEAR
}

/// Rounded to one decimal.
#[expect(clippy::cast_precision_loss, reason = "no window has 2^53 tokens")]
fn percent(used: u64, window: u64) -> Option<f64> {
    (window > 0).then(|| (used as f64 / window as f64 * 1_000.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolroom::model::Usage;

    use super::*;

    fn spent(input: u64, output: u64, cost: f64) -> Spent {
        let usage = Usage { input, output, ..Usage::default() };
        Spent { usage, cost, answers: 11, runs: 8 }
    }

    #[test]
    fn the_result_has_all_fields() {
        let facts = RunFacts {
            context_tokens: Some(47_000),
            window: Some(200_000),
            compact_at: Some(140_000),
            last_prompt_tokens: Some(45_000),
            ..RunFacts::default()
        };
        let status = status(&facts, &spent(45_000, 12_000, 0.12), &spent(1, 2, 1.45));
        let expected = json!({
            "context_percent": 23.5,
            "context_tokens": 47_000,
            "total_input_tokens": 45_000,
            "total_output_tokens": 12_000,
            "total_tokens": 57_000,
            "max_tokens": 200_000,
            "buffer_active": false,
            "buffer_started": false,
            "turn_count": 8,
            "api_calls": 11,
            "last_prompt_tokens": 45_000,
            "user_cost": {"input_tokens": 45_000, "output_tokens": 12_000, "cost_usd": 0.12},
            "total_cost": 1.45,
        });
        assert_eq!(serde_json::to_value(status).unwrap(), expected);
    }

    #[test]
    fn compaction_is_reported_as_near_before_it_happens() {
        let near = |used, compact_at| {
            let facts = RunFacts { context_tokens: Some(used), compact_at, ..RunFacts::default() };
            status(&facts, &Spent::default(), &Spent::default()).buffer_active
        };
        assert!(!near(118_999, Some(140_000)));
        assert!(near(119_000, Some(140_000)) && near(140_001, Some(140_000)));
        assert!(!near(u64::MAX, None), "no threshold");
    }

    #[test]
    fn a_window_of_zero_has_no_percentage() {
        assert_eq!(percent(5, 0), None);
        assert_eq!(percent(u64::MAX, 1), Some(1_844_674_407_370_955_200_000.0));
    }
}
