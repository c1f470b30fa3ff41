//! The memory tools: what is remembered about a user across conversations.
//!
//! The user comes from the call, never from an argument. Memories are shown to models later, so a text with a secret is
//! rejected.

mod memory_forget;
mod memory_learn;
mod memory_reinforce;
mod memory_search;
mod memory_store;
mod promote_learning;
mod relevance;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use toolroom::call::CallContext;
use toolroom::ledger::LedgerError;
use toolroom::memory::{Memories, Memory, Remember};
use toolroom::nearest::nearest_one;
use toolroom::schema::Problem;
use toolroom::tool::{
    Arguments, Capability, Effect, ErrorKind, IdError, Pool, Tool, ToolError, ToolSpec, Yields,
};

/// The switch of all memory tools.
const FEATURE: &str = "memory";

/// Memories per user, or of a project itself. A prompt holds a fraction of them; the rest is searched.
const MOST_MEMORIES: usize = 1_000;

/// The stored memories; `None` if only tool names are needed.
pub(super) type MemoryPort = Option<Arc<dyn Memories>>;

pub(super) fn all(port: &MemoryPort) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    Ok(vec![
        memory_forget::tool(port.clone())?,
        memory_learn::tool(port.clone())?,
        memory_reinforce::tool(port.clone())?,
        memory_search::tool(port.clone())?,
        memory_store::tool(port.clone())?,
        promote_learning::tool(port.clone())?,
    ])
}

/// A tool that changes memories; serial, so that calls run in the order a model makes them. It reveals nothing the
/// caller has not said, except a key that resembles the given one.
fn writes(spec: ToolSpec, effect: Effect) -> ToolSpec {
    spec.effect(effect).capabilities(&[Capability::Writes]).yields(Yields::Stated).only_with(FEATURE).serial()
}

/// A tool that reads memories: they are private, and their content may come from untrusted sources.
fn reads(spec: ToolSpec) -> ToolSpec {
    spec.effect(Effect::Read)
        .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted])
        .yields(Yields::Memories)
        .only_with(FEATURE)
        .pool(Pool::Blocking)
}

fn memories(port: &MemoryPort) -> Result<&dyn Memories, ToolError> {
    port.as_deref().ok_or_else(|| ToolError::tool("memory is not available here"))
}

fn failed(error: LedgerError) -> ToolError {
    ToolError::new(ErrorKind::Crashed, "the stored memories could not be read or written").caused_by(error)
}

/// Keys and sources must be one line: memories are listed line by line.
fn one_line(arguments: &Arguments, names: &[&str]) -> Vec<Problem> {
    let odd = |name: &&&str| {
        let text = arguments.get(**name).and_then(Value::as_str).unwrap_or("x");
        text.trim().is_empty() || text.chars().any(char::is_control)
    };
    let problem = |name: &&str| Problem::new(format!("/{name}"), "must be one line and not blank");
    names.iter().filter(odd).map(problem).collect()
}

/// A text that is not blank.
fn some_text(arguments: &Arguments, name: &str) -> Vec<Problem> {
    let blank = arguments.get(name).and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
    blank.then(|| Problem::new(format!("/{name}"), "must not be blank")).into_iter().collect()
}

/// Rejects texts with a secret.
fn refuse_secrets(context: &CallContext, texts: &[(&str, &str)]) -> Result<(), ToolError> {
    let hidden = |text: &str| matches!(context.without_secrets(text), Cow::Owned(_));
    match texts.iter().find(|(_, text)| hidden(text)) {
        None => Ok(()),
        Some((name, _)) => {
            let text =
                format!("`{name}` contains a secret, and memories are shown to models; nothing was stored");
            Err(ToolError::invalid(text).with_hint("leave out the secret, or describe what it is for"))
        }
    }
}

/// Stores a memory for the caller.
async fn remember(port: &MemoryPort, context: &CallContext, what: Remember) -> Result<Memory, ToolError> {
    let what = Remember { stored_under: context.provenance(), ..what };
    let (memories, scope) = (memories(port)?, context.scope());
    let source = what.source.as_deref().unwrap_or_default();
    refuse_secrets(context, &[("key", &what.key), ("content", &what.content), ("source", source)])?;
    if memories.memory(scope, &what.key).await.map_err(failed)?.is_none() {
        let count = memories.memories(scope).await.map_err(failed)?.len();
        if count >= MOST_MEMORIES {
            let text = format!("{count} memories are stored, and the limit is {MOST_MEMORIES}");
            let hint = "delete one with `memory_forget`, or store under an existing key";
            return Err(ToolError::tool(text).with_hint(hint));
        }
    }
    memories.remember(scope, what).await.map_err(failed)
}

/// The error for a key without a memory, and the key that was probably meant.
async fn unknown(memories: &dyn Memories, context: &CallContext, key: &str) -> Result<UnknownKey, ToolError> {
    let known = memories.memories(context.scope()).await.map_err(failed)?;
    let meant = nearest_one(key, known.iter().map(|memory| memory.key.as_str())).map(str::to_owned);
    Ok(UnknownKey { text: format!("nothing is remembered under `{key}`"), meant })
}

struct UnknownKey {
    text: String,
    meant: Option<String>,
}

impl UnknownKey {
    fn hint(&self) -> String {
        match &self.meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`memory_search` finds memories and their keys".to_owned(),
        }
    }

    fn into_error(self) -> ToolError {
        let hint = self.hint();
        ToolError::not_found(self.text).with_hint(hint)
    }
}
