//! `cost_status`: tokens used and money spent on models.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::agent::RunFacts;
use toolroom::call::CallContext;
use toolroom::conversation::{Spending, Spent};
use toolroom::ledger::LedgerError;
use toolroom::scope::{Scope, UserId};
use toolroom::tool::{Capability, Effect, ErrorKind, IdError, Tool, ToolError, Yields, tool_fn};

#[derive(Deserialize, JsonSchema)]
struct CostStatusArguments {
    /// User to look up; default: the caller
    #[schemars(length(min = 1, max = 200))]
    user_id: Option<String>,
}

#[derive(Serialize)]
struct Costs {
    /// Null for a whole project.
    user_id: Option<String>,
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    /// US dollars; models without a known price count as free.
    total_cost: f64,
    api_calls: u64,
    turns: u64,
    /// From midnight UTC on.
    daily_cost: f64,
    daily_date: String,
    /// Null if there is no limit, or the call was not made by a run.
    daily_budget_usd: Option<f64>,
}

pub(super) fn tool(kept: Option<Arc<dyn Spending>>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Return how many tokens a user has used and what they cost, in total and today";
    let tool =
        tool_fn("builtin:cost_status", description, move |context, arguments: CostStatusArguments| {
            let kept = kept.clone();
            async move { look(spending(kept.as_deref())?, &context, arguments.user_id.as_deref()).await }
        })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Cost Status")
            .effect(Effect::Read)
            .capabilities(&[Capability::ReadsPrivate])
            // Figures contain nothing that was read.
            .yields(Yields::Stated)
            .when_to_use("the user asks what they have spent, or how much of their budget is left")
            .category("usage", &["cost", "money", "budget", "tokens", "spent", "usage"])
            .usage_example("how much have I spent today?")
    })))
}

/// The record of spending; fails where none is kept.
pub(super) fn spending(kept: Option<&dyn Spending>) -> Result<&dyn Spending, ToolError> {
    kept.ok_or_else(|| ToolError::tool("spending is not recorded here"))
}

pub(super) fn failed(error: LedgerError) -> ToolError {
    ToolError::new(ErrorKind::Crashed, "the recorded spending could not be read").caused_by(error)
}

async fn look(
    spending: &dyn Spending,
    context: &CallContext,
    user: Option<&str>,
) -> Result<Costs, ToolError> {
    let scope = visible(context.scope(), user)?;
    let now = context.now();
    let ever = spending.spent(&scope, None, None).await.map_err(failed)?;
    let today = spending.spent(&scope, None, Some(now.start_of_day())).await.map_err(failed)?;
    let date = Timestamp::from_microsecond(now.as_micros())
        .map_err(|error| ToolError::new(ErrorKind::Crashed, "the clock is out of range").caused_by(error))?;
    // Only the caller's own budget is known.
    let own = scope == *context.scope();
    let budget = RunFacts::from_metadata(context.metadata()).daily_budget_usd.filter(|_| own);
    let Spent { usage, cost, answers, runs } = ever;
    Ok(Costs {
        user_id: scope.user.map(|user| user.to_string()),
        input_tokens: usage.input,
        output_tokens: usage.output,
        total_tokens: usage.input.saturating_add(usage.output),
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
        total_cost: cost,
        api_calls: answers,
        turns: runs,
        daily_cost: today.cost,
        daily_date: date.strftime("%Y-%m-%d").to_string(),
        daily_budget_usd: budget,
    })
}

/// The scope to report. A caller for the whole project may ask about each of its users, a user only about themselves.
fn visible(caller: &Scope, user: Option<&str>) -> Result<Scope, ToolError> {
    let Some(user) = user else { return Ok(caller.clone()) };
    let wanted = Scope { project: caller.project.clone(), user: Some(UserId::new(user)) };
    match caller.covers(&wanted) {
        true => Ok(wanted),
        false => {
            let text = "only the operator may see what other users have spent";
            Err(ToolError::new(ErrorKind::PermissionDenied, text)
                .with_hint("leave out `user_id` to see your own spending"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_sees_their_own_costs_and_the_operator_all_costs() {
        let (anna, project) = (Scope::user("shop", "anna"), Scope::project("shop"));
        assert_eq!(visible(&anna, None).unwrap(), anna);
        assert_eq!(visible(&anna, Some("anna")).unwrap(), anna);
        assert_eq!(visible(&anna, Some("ben")).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(visible(&project, None).unwrap(), project);
        assert_eq!(visible(&project, Some("ben")).unwrap(), Scope::user("shop", "ben"));
    }
}
