//! `promote_learning`: makes a lesson that has proved right often part of the agent's own prompt.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::agent::{DEFAULT_AGENT, RunFacts};
use toolroom::call::CallContext;
use toolroom::conversation::AgentId;
use toolroom::memory::{PROMOTION_HITS, Promotion};
use toolroom::policy::Judgement;
use toolroom::tool::{Effect, IdError, Risk, Tool, ToolError, ToolOutput, tool_fn};

use super::{Kept, failed, memories, refuse_secrets, some_text, unknown, writes};

/// What may be added to an agent's prompt for one user, one call at a time. More would crowd out who the agent is.
const MOST_PROMOTIONS: usize = 20;

#[derive(Deserialize, JsonSchema)]
struct Lesson {
    /// The exact key of the memory
    #[schemars(length(min = 1, max = 200))]
    memory_key: String,
    /// What the agent is told from now on, in a sentence or two
    #[schemars(length(min = 1, max = 2_000))]
    soul_addition: String,
}

pub(super) fn tool(kept: Kept) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Make a memory that was reinforced to a count of 5 or more part of the agent's own instructions; \
        the memory itself is removed, and the operator has to agree";
    let tool = tool_fn("builtin:promote_learning", description, move |context, lesson: Lesson| {
        let kept = kept.clone();
        async move {
            let Promotion { memory, .. } = promote(&kept, &context, &lesson).await?;
            let message = format!("`{}` is part of the agent's instructions now", memory.key);
            Ok(ToolOutput::new(json!({
                "success": true, "promoted_key": memory.key, "hit_count": memory.hits, "message": message,
            })))
        }
    })?
    .check(|arguments| some_text(arguments, "soul_addition"))
    // Whatever a page or a mail talked the model into: nothing becomes an instruction before the operator has read it,
    // and no rule lifts that.
    .judge(|_| {
        Judgement::AskOperator("the agent would be told this in every conversation from now on".to_owned())
    });
    Ok(Arc::new(tool.with(|spec| {
        writes(spec, Effect::OnceOnlyWrite)
            .risk(Risk::High)
            .single_answers()
            .title("Promote Learning")
            .when_to_use("a lesson or preference was confirmed so often that it should always hold")
            .category("memory", &["memory", "learn", "promote", "instructions", "always"])
            .usage_example("from now on always do it that way")
    })))
}

async fn promote(kept: &Kept, context: &CallContext, lesson: &Lesson) -> Result<Promotion, ToolError> {
    let (memories, scope) = (memories(kept)?, context.scope());
    let key = lesson.memory_key.as_str();
    let addition = lesson.soul_addition.trim();
    refuse_secrets(context, &[("soul_addition", addition)])?;
    let agent =
        RunFacts::from_metadata(context.metadata()).agent.unwrap_or_else(|| AgentId::new(DEFAULT_AGENT));
    let Some(memory) = memories.memory(scope, key).await.map_err(failed)? else {
        return Err(unknown(memories, context, key).await?.into_error());
    };
    if memory.hits < PROMOTION_HITS {
        let told = format!("`{key}` has a count of {}, and {PROMOTION_HITS} are needed", memory.hits);
        let hint = "`memory_reinforce` counts when it proves right; do not call it for the count's sake";
        return Err(ToolError::tool(told).with_hint(hint));
    }
    if memories.promotions(scope, &agent).await.map_err(failed)?.len() >= MOST_PROMOTIONS {
        let told = format!(
            "{MOST_PROMOTIONS} lessons are part of the instructions of `{agent}`, and no more are taken"
        );
        return Err(
            ToolError::tool(told).with_hint("the operator can undo one with `toolroom memory undo KEY`")
        );
    }
    let promoted = memories.promote(scope, key, &agent, addition).await.map_err(failed)?;
    promoted.ok_or_else(|| ToolError::tool(format!("`{key}` was changed meanwhile; nothing was promoted")))
}
