//! The memory tools: what is remembered of whoever calls, from one conversation to the next.
//!
//! Whose memories they are comes from the call and never from an argument. What is remembered is shown to models later,
//! so a text that holds a secret is refused before it is kept.

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

/// The switch of all of them.
const FEATURE: &str = "memory";

/// What one user, or a project itself, may have. A prompt holds a fraction of it; the rest is searched.
const MOST_MEMORIES: usize = 1_000;

/// Where memories are kept; nowhere, where only names of tools are wanted.
pub(super) type Kept = Option<Arc<dyn Memories>>;

/// Every memory tool, by name.
pub(super) fn all(kept: &Kept) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    Ok(vec![
        memory_forget::tool(kept.clone())?,
        memory_learn::tool(kept.clone())?,
        memory_reinforce::tool(kept.clone())?,
        memory_search::tool(kept.clone())?,
        memory_store::tool(kept.clone())?,
        promote_learning::tool(kept.clone())?,
    ])
}

/// A tool that changes what is remembered, in the order in which a model asks for it. It brings nothing to light that
/// the caller has not said in the call, but a key that resembles the one it named.
fn writes(spec: ToolSpec, effect: Effect) -> ToolSpec {
    spec.effect(effect).capabilities(&[Capability::Writes]).yields(Yields::Stated).only_with(FEATURE).serial()
}

/// A tool that brings up what is remembered: it is the user's own, and what was remembered may have been read anywhere.
fn reads(spec: ToolSpec) -> ToolSpec {
    spec.effect(Effect::Read)
        .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted])
        .yields(Yields::Memories)
        .only_with(FEATURE)
        .pool(Pool::Blocking)
}

fn memories(kept: &Kept) -> Result<&dyn Memories, ToolError> {
    kept.as_deref().ok_or_else(|| ToolError::tool("there is no memory here"))
}

fn failed(error: LedgerError) -> ToolError {
    ToolError::new(ErrorKind::Crashed, "what is remembered could not be reached").caused_by(error)
}

/// Keys and sources stand in lines of their own wherever memories are listed.
fn one_line(arguments: &Arguments, names: &[&str]) -> Vec<Problem> {
    let odd = |name: &&&str| {
        let text = arguments.get(**name).and_then(Value::as_str).unwrap_or("x");
        text.trim().is_empty() || text.chars().any(char::is_control)
    };
    let told =
        |name: &&str| Problem::new(format!("/{name}"), "must be one line with something to read in it");
    names.iter().filter(odd).map(told).collect()
}

/// A text with something to read in it.
fn some_text(arguments: &Arguments, name: &str) -> Vec<Problem> {
    let blank = arguments.get(name).and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
    blank.then(|| Problem::new(format!("/{name}"), "must not be blank")).into_iter().collect()
}

/// Refuses what holds a secret.
fn refuse_secrets(context: &CallContext, texts: &[(&str, &str)]) -> Result<(), ToolError> {
    let hidden = |text: &str| matches!(context.without_secrets(text), Cow::Owned(_));
    match texts.iter().find(|(_, text)| hidden(text)) {
        None => Ok(()),
        Some((name, _)) => {
            let told = format!(
                "`{name}` holds a secret, and what is remembered is shown to models; nothing was kept"
            );
            Err(ToolError::invalid(told).with_hint("leave the secret out, or say what it is for instead"))
        }
    }
}

/// Remembers something for whoever calls.
async fn remember(kept: &Kept, context: &CallContext, what: Remember) -> Result<Memory, ToolError> {
    let what = Remember { stored_under: context.provenance(), ..what };
    let (memories, scope) = (memories(kept)?, context.scope());
    let source = what.source.as_deref().unwrap_or_default();
    refuse_secrets(context, &[("key", &what.key), ("content", &what.content), ("source", source)])?;
    if memories.memory(scope, &what.key).await.map_err(failed)?.is_none() {
        let count = memories.memories(scope).await.map_err(failed)?.len();
        if count >= MOST_MEMORIES {
            let told = format!("{count} things are remembered, and no more than {MOST_MEMORIES} are kept");
            let hint = "forget something with `memory_forget`, or store under a key that exists";
            return Err(ToolError::tool(told).with_hint(hint));
        }
    }
    memories.remember(scope, what).await.map_err(failed)
}

/// What to say about a key under which there is nothing, and the key that was probably meant.
async fn unknown(memories: &dyn Memories, context: &CallContext, key: &str) -> Result<Unknown, ToolError> {
    let known = memories.memories(context.scope()).await.map_err(failed)?;
    let meant = nearest_one(key, known.iter().map(|memory| memory.key.as_str())).map(str::to_owned);
    Ok(Unknown { told: format!("nothing is remembered under `{key}`"), meant })
}

struct Unknown {
    told: String,
    meant: Option<String>,
}

impl Unknown {
    fn hint(&self) -> String {
        match &self.meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`memory_search` finds what is remembered, with its key".to_owned(),
        }
    }

    fn into_error(self) -> ToolError {
        let hint = self.hint();
        ToolError::not_found(self.told).with_hint(hint)
    }
}
