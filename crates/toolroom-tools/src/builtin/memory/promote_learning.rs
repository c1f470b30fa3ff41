//! `promote_learning`: adds a lesson that was confirmed often to the agent's own prompt.

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

use super::{MemoryPort, failed, memories, refuse_secrets, some_text, unknown, writes};

/// Promotions per agent and user. More would crowd out the agent's own prompt.
const MOST_PROMOTIONS: usize = 20;

#[derive(Deserialize, JsonSchema)]
struct PromoteLearningArguments {
    /// The exact key of the memory
    #[schemars(length(min = 1, max = 200))]
    memory_key: String,
    /// Instruction for the agent from now on, in a sentence or two
    #[schemars(length(min = 1, max = 2_000))]
    soul_addition: String,
}

pub(super) fn tool(port: MemoryPort) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Add a memory that was reinforced 5 times or more to the agent's own instructions; the memory itself is \
        removed, and the operator has to approve";
    let tool = tool_fn(
        "builtin:promote_learning",
        description,
        move |context, lesson: PromoteLearningArguments| {
            let port = port.clone();
            async move {
                let Promotion { memory, .. } = promote(&port, &context, &lesson).await?;
                let message = format!("`{}` is now part of the agent's instructions", memory.key);
                Ok(ToolOutput::new(json!({
                    "success": true, "promoted_key": memory.key, "hit_count": memory.hits, "message": message,
                })))
            }
        },
    )?
    .check(|arguments| some_text(arguments, "soul_addition"))
    // Prompt injection: nothing becomes an instruction before the operator has read it, and no rule lifts that.
    .judge(|_| {
        Judgement::AskOperator(
            "this becomes part of the agent's instructions in every conversation".to_owned(),
        )
    });
    Ok(Arc::new(tool.with(|spec| {
        writes(spec, Effect::OnceOnlyWrite)
            .risk(Risk::High)
            .single_answers()
            .title("Promote Learning")
            .when_to_use("a lesson or preference was confirmed so often that it should always apply")
            .category("memory", &["memory", "learn", "promote", "instructions", "always"])
            .usage_example("from now on always do it that way")
    })))
}

async fn promote(
    port: &MemoryPort,
    context: &CallContext,
    lesson: &PromoteLearningArguments,
) -> Result<Promotion, ToolError> {
    let (memories, scope) = (memories(port)?, context.scope());
    let key = lesson.memory_key.as_str();
    let addition = lesson.soul_addition.trim();
    refuse_secrets(context, &[("soul_addition", addition)])?;
    let agent =
        RunFacts::from_metadata(context.metadata()).agent.unwrap_or_else(|| AgentId::new(DEFAULT_AGENT));
    let Some(memory) = memories.memory(scope, key).await.map_err(failed)? else {
        return Err(unknown(memories, context, key).await?.into_error());
    };
    if memory.hits < PROMOTION_HITS {
        let text = format!("`{key}` was confirmed {} times, and {PROMOTION_HITS} are needed", memory.hits);
        let hint = "`memory_reinforce` counts when it is confirmed; do not call it only to raise the count";
        return Err(ToolError::tool(text).with_hint(hint));
    }
    if memories.promotions(scope, &agent).await.map_err(failed)?.len() >= MOST_PROMOTIONS {
        let text = format!("`{agent}` already has {MOST_PROMOTIONS} promoted lessons, which is the limit");
        return Err(
            ToolError::tool(text).with_hint("the operator can undo one with `toolroom memory undo KEY`")
        );
    }
    let promoted = memories.promote(scope, key, &agent, addition).await.map_err(failed)?;
    promoted.ok_or_else(|| ToolError::tool(format!("`{key}` changed in the meantime; nothing was promoted")))
}
