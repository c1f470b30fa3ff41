//! Picking the tools a model is shown, when there are too many to show them all.

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

/// How long an index is used before what was learned meanwhile is read.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// How many tools are ranked; more never fit.
const RANKED: usize = 200;

/// The part of a model's window that definitions of tools may take: one of so many. The rest is for what is said.
const PART: u64 = 3;

/// The tool with which a model finds the others.
const FINDER: &str = "builtin:search";

/// The index over the tools that were offered last. Shared by all clones of an agent.
#[derive(Default)]
pub(super) struct Selection {
    index: Mutex<Option<Arc<Index>>>,
}

struct Index {
    project: ProjectId,
    tools: Vec<Arc<Entry>>,
    made_at: Timestamp,
    selector: Selector,
}

impl Index {
    fn is_over(&self, project: &ProjectId, tools: &[Arc<Entry>]) -> bool {
        self.project == *project
            && self.tools.len() == tools.len()
            && self.tools.iter().zip(tools).all(|(one, other)| is_same(one, other))
    }
}

/// The tools of a client come anew with each run, and are mostly those of the last one.
fn is_same(one: &Arc<Entry>, other: &Arc<Entry>) -> bool {
    Arc::ptr_eq(one, other)
        || (one.spec().id.source() == Source::Client && one.definition_hash() == other.definition_hash())
}

impl Agent {
    /// Leaves of the tools those that fit what was said, if all of them together are too long. What the conversation has
    /// used stays, and so does the tool that finds others. Says what it cost to ask the ranker.
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
        let message = last_words(messages);
        let kept = used(messages).into_iter().chain([FINDER]).filter_map(|name| tools.find(name));
        let kept: HashSet<String> = kept.map(|entry| entry.spec().id.to_string()).collect();
        // What stays anyway takes its room first; the others share what is left.
        let (staying, others): (Vec<_>, Vec<_>) = weighed.iter().partition(|tool| kept.contains(tool.id));
        let left = staying.iter().fold(budget, |left, tool: &SizedTool<'_>| left.saturating_sub(tool.tokens));
        let mut chosen: HashSet<String> = offered(&others, left, || index.selector.rank(&message, RANKED))
            .into_iter()
            .map(str::to_owned)
            .collect();
        chosen.extend(kept.iter().cloned());
        tools.narrow(&chosen);
        // A run that goes on has been shown its tools.
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

    /// Tokens that definitions may take: what is set, and no more than a part of the smallest window of the chain, as
    /// any of its models may be the one that is asked.
    fn budget(&self) -> u64 {
        let smallest = self.chain.iter().map(|candidate| candidate.facts.window / PART).min();
        smallest.map_or(self.record.limits.tool_tokens, |most| most.min(self.record.limits.tool_tokens))
    }

    async fn index(&self, tools: &[Arc<Entry>], run: &Run) -> Result<Arc<Index>, LedgerError> {
        let project = &run.scope.project;
        let now = self.room.clock.now();
        let known = self.selection.index.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let known = known.filter(|known| now.since(known.made_at) < FRESH && known.is_over(project, tools));
        if let Some(known) = known {
            return Ok(known);
        }
        let most = u32::try_from(REQUESTS).unwrap_or(u32::MAX);
        let past = self.conversations.past_requests(&run.scope, most).await?;
        let cards = cards(tools.iter().map(|entry| entry.spec()), past);
        // Thousands of tools take a while, and other runs share this thread.
        let made = tokio::task::spawn_blocking(move || Selector::new(cards)).await;
        let selector = made.map_err(|error| LedgerError::new("sort the tools", error))?;
        let index = Index { project: project.clone(), tools: tools.to_vec(), made_at: now, selector };
        let index = Arc::new(index);
        let mut kept = self.selection.index.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::clone(&index));
        Ok(index)
    }
}

/// What the person said last.
fn last_words(messages: &[Arc<Message>]) -> String {
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
