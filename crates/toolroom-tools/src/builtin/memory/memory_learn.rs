//! `memory_learn`: stores a lesson, with its category and source.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::memory::{Category, Remember};
use toolroom::policy::Provenance;
use toolroom::tool::{Effect, IdError, Tool, ToolError, ToolOutput, tool_fn};

use super::{MemoryPort, one_line, remember, some_text, writes};

#[derive(Deserialize, JsonSchema)]
struct MemoryLearnArguments {
    /// Short descriptive key, e.g. `deploy_needs_vpn`; an existing key is replaced
    #[schemars(length(min = 1, max = 200))]
    key: String,
    /// What was learned, in a sentence or two
    #[schemars(length(min = 1, max = 4_000))]
    content: String,
    /// `LEARNING` for what works, `ERROR` for what went wrong and how to fix it, `PREFERENCE` for what the user likes
    #[schemars(length(max = 50))]
    category: String,
    /// Where it came from, e.g. `user correction`
    #[schemars(length(max = 200))]
    source: Option<String>,
}

pub(super) fn tool(port: MemoryPort) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Remember a lesson beyond this conversation: what works, what went wrong and how to fix it, or what the \
        user prefers";
    let tool = tool_fn("builtin:memory_learn", description, move |context, lesson: MemoryLearnArguments| {
        let port = port.clone();
        async move {
            let category = category(&lesson.category)?;
            let MemoryLearnArguments { key, content, source, .. } = lesson;
            let what =
                Remember { key, content, category: Some(category), source, stored_under: Provenance::NONE };
            let memory = remember(&port, &context, what).await?;
            let message = format!("learned under {}", memory.key);
            let result = json!({
                "success": true, "key": memory.key, "content": memory.content, "category": memory.category,
            });
            Ok(ToolOutput::new(result).with_message(message))
        }
    })?
    .check(|arguments| {
        let mut problems = one_line(arguments, &["key", "source"]);
        problems.extend(some_text(arguments, "content"));
        problems
    });
    Ok(Arc::new(tool.with(|spec| {
        // Idempotent: storing the same lesson again changes nothing.
        writes(spec, Effect::IdempotentWrite)
            .title("Learn")
            .when_to_use("the user corrects an answer or states a preference, or a way of doing things worked or failed")
            .category("memory", &["memory", "learn", "lesson", "preference", "mistake", "correction"])
            .usage_example("no, I always want prices in euros")
            .usage_example("that did not work; next time use the other server")
    })))
}

/// Parses the category of a lesson. General facts belong to `memory_store`.
fn category(name: &str) -> Result<Category, ToolError> {
    let refused = |text: String, hint: &str| ToolError::invalid(text).with_hint(hint);
    let kinds = "use LEARNING, ERROR or PREFERENCE";
    match Category::from_name(name.trim()) {
        Some(Category::General) => Err(refused(
            format!("`GENERAL` is not a category of lessons; {kinds}"),
            "`memory_store` stores anything else",
        )),
        Some(category) => Ok(category),
        None => Err(refused(format!("there is no category `{name}`"), kinds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_has_one_of_three_categories() {
        for (name, expected) in [
            ("LEARNING", Category::Learning),
            ("error", Category::Error),
            (" Preference ", Category::Preference),
        ] {
            assert_eq!(category(name).unwrap(), expected, "{name}");
        }
        let general = category("general").unwrap_err();
        assert!(general.for_model().contains("LEARNING, ERROR or PREFERENCE"), "{general:?}");
        assert_eq!(general.hint(), Some("`memory_store` stores anything else"));
        let unknown = category("FACT").unwrap_err();
        assert_eq!(unknown.for_model(), "there is no category `FACT`");
        assert_eq!(unknown.hint(), Some("use LEARNING, ERROR or PREFERENCE"));
    }
}
