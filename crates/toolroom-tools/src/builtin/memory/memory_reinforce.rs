//! `memory_reinforce`: counts that a memory was right or useful again.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::tool::{Effect, IdError, Tool, ToolOutput, tool_fn};

use super::{MemoryPort, failed, memories, unknown, writes};

#[derive(Deserialize, JsonSchema)]
struct MemoryReinforceArguments {
    /// The exact key
    #[schemars(length(min = 1, max = 200))]
    key: String,
}

pub(super) fn tool(port: MemoryPort) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Count that a memory was right or useful once more";
    let tool = tool_fn(
        "builtin:memory_reinforce",
        description,
        move |context, MemoryReinforceArguments { key }| {
            let port = port.clone();
            async move {
                let memories = memories(&port)?;
                match memories.reinforce(context.scope(), &key).await.map_err(failed)? {
                    Some(memory) => {
                        let message = format!("{key} was confirmed {} times", memory.hits);
                        let result = json!({"success": true, "key": memory.key, "hit_count": memory.hits});
                        Ok(ToolOutput::new(result).with_message(message))
                    }
                    None => Err(unknown(memories, &context, &key).await?.into_error()),
                }
            }
        },
    )?;
    Ok(Arc::new(tool.with(|spec| {
        writes(spec, Effect::OnceOnlyWrite)
            .title("Reinforce Memory")
            .when_to_use("a remembered fact, lesson or preference was confirmed or helped again")
            .category("memory", &["memory", "reinforce", "confirm", "again"])
            .usage_example("yes, exactly as I told you last time")
    })))
}
