//! Selects the tools that a model is shown, when there are too many to show all.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::rerank::choose;
use super::tools::Tools;
use crate::catalog::Entry;
use crate::clock::Timestamp;
use crate::conversation::Run;
use crate::ledger::LedgerError;
use crate::model::{Block, Message, Role, Usage};
use crate::scope::ProjectId;
use crate::selector::{REQUESTS, Selector, SizedTool, cards, fits_budget, offered};
use crate::tool::Source;

/// How long an index is used before newly learned requests are read.
const MAX_INDEX_AGE: Duration = Duration::from_secs(10 * 60);

/// How many tools are ranked; more never fit.
const RANKED: usize = 200;

/// Tool definitions may take one part in this many of a model's window.
const WINDOW_DIVISOR: u64 = 3;

/// The tool with which a model searches for other tools.
const SEARCH_TOOL: &str = "builtin:search";

/// The index over the tools that were offered last. Shared by all clones of an agent.
#[derive(Default)]
pub(super) struct Selection {
    index: Mutex<Option<Arc<ToolIndex>>>,
}

struct ToolIndex {
    project: ProjectId,
    tools: Vec<Arc<Entry>>,
    made_at: Timestamp,
    selector: Selector,
}

impl ToolIndex {
    fn is_over(&self, project: &ProjectId, tools: &[Arc<Entry>]) -> bool {
        self.project == *project
            && self.tools.len() == tools.len()
            && self.tools.iter().zip(tools).all(|(one, other)| is_same(one, other))
    }
}

/// Client tools are new entries in each run, and mostly equal to those of the last one.
fn is_same(one: &Arc<Entry>, other: &Arc<Entry>) -> bool {
    Arc::ptr_eq(one, other)
        || (one.spec().id.source() == Source::Client && one.definition_hash() == other.definition_hash())
}

impl Agent {
    /// Narrows the tools to those that fit the message, if all of them are too long. Tools the conversation has used stay, and
    /// so does the search tool. Returns the usage of the ranker, if it was asked.
    pub(super) async fn select(
        &self,
        tools: &mut Tools,
        run: &Run,
        messages: &[Arc<Message>],
        cancellation: &CancellationToken,
    ) -> Result<Option<Usage>, LedgerError> {
        let budget = self.budget();
        let weighed: Vec<SizedTool<'_>> = tools.weighed().collect();
        if fits_budget(&weighed, budget) {
            return Ok(None);
        }
        let index = self.index(tools.entries(), run).await?;
        let message = last_person_text(messages);
        let kept = used(messages).into_iter().chain([SEARCH_TOOL]).filter_map(|name| tools.find(name));
        let kept: HashSet<String> = kept.map(|entry| entry.spec().id.to_string()).collect();
        // Tools that stay take their room first; the rest share what is left.
        let (staying, others): (Vec<_>, Vec<_>) = weighed.iter().partition(|tool| kept.contains(tool.id));
        let left = staying.iter().fold(budget, |left, tool: &SizedTool<'_>| left.saturating_sub(tool.tokens));
        let mut chosen: HashSet<String> = offered(&others, left, || index.selector.rank(&message, RANKED))
            .into_iter()
            .map(str::to_owned)
            .collect();
        chosen.extend(kept.iter().cloned());
        tools.narrow(&chosen);
        // A resumed run was narrowed before.
        let Some(ranker) = self.ranker.as_ref().filter(|_| run.iterations == 0) else { return Ok(None) };
        let Some(choice) = choose(ranker, &tools.shown, &message, cancellation).await else {
            return Ok(None);
        };
        if !choice.names.is_empty() {
            let fitting = choice.names.iter().filter_map(|name| tools.find(name));
            tools.narrow(&fitting.map(|entry| entry.spec().id.to_string()).chain(kept).collect());
        }
        Ok(Some(choice.usage))
    }

    /// Tokens that definitions may take: the agent's limit, and at most a part of the smallest window of the chain.
    fn budget(&self) -> u64 {
        let smallest = self.chain.iter().map(|candidate| candidate.facts.window / WINDOW_DIVISOR).min();
        smallest.map_or(self.record.limits.tool_tokens, |most| most.min(self.record.limits.tool_tokens))
    }

    async fn index(&self, tools: &[Arc<Entry>], run: &Run) -> Result<Arc<ToolIndex>, LedgerError> {
        let project = &run.scope.project;
        let now = self.room.clock.now();
        let known = self.selection.index.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let known =
            known.filter(|known| now.since(known.made_at) < MAX_INDEX_AGE && known.is_over(project, tools));
        if let Some(known) = known {
            return Ok(known);
        }
        let most = u32::try_from(REQUESTS).unwrap_or(u32::MAX);
        let past = self.conversations.past_requests(&run.scope, most).await?;
        let cards = cards(tools.iter().map(|entry| entry.spec()), past);
        // Indexing thousands of tools takes a while, and other runs share this thread.
        let made = tokio::task::spawn_blocking(move || Selector::new(cards)).await;
        let selector = made.map_err(|error| LedgerError::new("index the tools", error))?;
        let index = ToolIndex { project: project.clone(), tools: tools.to_vec(), made_at: now, selector };
        let index = Arc::new(index);
        let mut kept = self.selection.index.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::clone(&index));
        Ok(index)
    }
}

/// The text of the last message of the person.
fn last_person_text(messages: &[Arc<Message>]) -> String {
    let of_person = |message: &&Arc<Message>| {
        message.role == Role::User && message.blocks.iter().any(|block| matches!(block, Block::Text { .. }))
    };
    messages.iter().rev().find(of_person).map(|message| message.text()).unwrap_or_default()
}

/// The names of tools that were called in the conversation.
fn used(messages: &[Arc<Message>]) -> HashSet<&str> {
    let calls = messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
        Block::Call { name, .. } => Some(name.as_str()),
        _ => None,
    });
    calls.collect()
}
