//! `memory_forget`: deletes the memory under a key.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{Effect, IdError, Tool, ToolOutput, tool_fn};

use super::{MemoryPort, failed, memories, unknown, writes};

#[derive(Deserialize, JsonSchema)]
struct MemoryForgetArguments {
    /// The exact key
    #[schemars(length(min = 1, max = 200))]
    key: String,
}

pub(super) fn tool(port: MemoryPort) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Forget the memory under a key";
    let tool =
        tool_fn("builtin:memory_forget", description, move |context, MemoryForgetArguments { key }| {
            let port = port.clone();
            async move {
                let memories = memories(&port)?;
                if memories.forget(context.scope(), &key).await.map_err(failed)? {
                    let message = format!("forgot {key}");
                    return Ok(ToolOutput::new(json!({"success": true, "key": key})).with_message(message));
                }
                let unknown = unknown(memories, &context, &key).await?;
                let message = format!("{}; {}", unknown.text, unknown.hint());
                Ok(ToolOutput::new(json!({"success": false, "key": key, "message": message})))
            }
        })?;
    Ok(Arc::new(tool.with(|spec| {
        // Not destructive: the journal still has the call that stored it.
        writes(spec, Effect::IdempotentWrite)
            .title("Forget")
            .when_to_use("the user asks to forget something, or a memory is no longer true")
            .category("memory", &["memory", "forget", "delete", "remove"])
            .usage_example("forget my old address")
    })))
}
