//! `memory_reinforce`: counts that something remembered proved right once more.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{Effect, IdError, Tool, ToolOutput, tool_fn};

use super::{Kept, failed, memories, unknown, writes};

#[derive(Deserialize, JsonSchema)]
struct Which {
    /// The exact key
    #[schemars(length(min = 1, max = 200))]
    key: String,
}

pub(super) fn tool(kept: Kept) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Count that something remembered has proved right or useful once more";
    let tool = tool_fn("builtin:memory_reinforce", description, move |context, Which { key }| {
        let kept = kept.clone();
        async move {
            let memories = memories(&kept)?;
            match memories.reinforce(context.scope(), &key).await.map_err(failed)? {
                Some(memory) => {
                    let message = format!("{key} has proved right {} times", memory.hits);
                    let result = json!({"success": true, "key": memory.key, "hit_count": memory.hits});
                    Ok(ToolOutput::new(result).with_message(message))
                }
                None => Err(unknown(memories, &context, &key).await?.into_error()),
            }
        }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        writes(spec, Effect::OnceOnlyWrite)
            .title("Reinforce Memory")
            .when_to_use("a remembered fact, lesson or preference was confirmed or helped again")
            .category("memory", &["memory", "reinforce", "confirm", "again"])
            .usage_example("yes, exactly as I told you last time")
    })))
}
