//! `memory_store`: stores a fact, or replaces the memory under a key.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::memory::Remember;
use toolroom::policy::Provenance;
use toolroom::tool::{Effect, IdError, Tool, ToolOutput, tool_fn};

use super::{MemoryPort, one_line, remember, some_text, writes};

#[derive(Deserialize, JsonSchema)]
struct MemoryStoreArguments {
    /// Short descriptive key, e.g. `user_birthday`; an existing key is replaced
    #[schemars(length(min = 1, max = 200))]
    key: String,
    /// What to remember, in a sentence or two
    #[schemars(length(min = 1, max = 4_000))]
    content: String,
}

pub(super) fn tool(port: MemoryPort) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Remember something about the user beyond this conversation, or update what is remembered under a key";
    let tool = tool_fn(
        "builtin:memory_store",
        description,
        move |context, MemoryStoreArguments { key, content }| {
            let port = port.clone();
            async move {
                // Category, count and source of an existing lesson stay.
                let what =
                    Remember { key, content, category: None, source: None, stored_under: Provenance::NONE };
                let memory = remember(&port, &context, what).await?;
                let message = format!("remembered under {}", memory.key);
                let result = json!({"success": true, "key": memory.key, "content": memory.content});
                Ok(ToolOutput::new(result).with_message(message))
            }
        },
    )?
    .check(|arguments| {
        let mut problems = one_line(arguments, &["key"]);
        problems.extend(some_text(arguments, "content"));
        problems
    });
    Ok(Arc::new(tool.with(|spec| {
        // Idempotent: storing the same content again changes nothing.
        writes(spec, Effect::IdempotentWrite)
            .title("Remember")
            .when_to_use(
                "the user tells something worth knowing in later conversations, or asks to remember it",
            )
            .category("memory", &["memory", "remember", "note", "save", "keep", "fact"])
            .usage_example("remember that my daughter's name is Aziza")
            .usage_example("keep in mind that I work from Tashkent")
    })))
}
