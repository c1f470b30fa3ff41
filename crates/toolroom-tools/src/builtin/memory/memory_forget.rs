//! `memory_forget`: forgets what is remembered under a key.

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
    let description = "Forget what is remembered under a key";
    let tool = tool_fn("builtin:memory_forget", description, move |context, Which { key }| {
        let kept = kept.clone();
        async move {
            let memories = memories(&kept)?;
            if memories.forget(context.scope(), &key).await.map_err(failed)? {
                let message = format!("forgot {key}");
                return Ok(ToolOutput::new(json!({"success": true, "key": key})).with_message(message));
            }
            let unknown = unknown(memories, &context, &key).await?;
            let message = format!("{}; {}", unknown.told, unknown.hint());
            Ok(ToolOutput::new(json!({"success": false, "key": key, "message": message})))
        }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        // Not destructive: what it said is still in the record of the call that stored it.
        writes(spec, Effect::IdempotentWrite)
            .title("Forget")
            .when_to_use("the user asks to forget something, or what is remembered is no longer true")
            .category("memory", &["memory", "forget", "delete", "remove"])
            .usage_example("forget my old address")
    })))
}
