//! Repairs a stored thread so that every vendor accepts it.
//!
//! A process may have died between a call and its result, a run may have been stopped, a model may have used an id twice.
//! Vendors refuse such a thread. After repair
//!
//! - every turn of a model with calls is followed at once by a message that begins with exactly one result for each of
//!   them, in their order; a call that was never answered gets the answer the journal has for it;
//! - there are no other results;
//! - no two calls have the same id, and none is empty. A second one is renamed together with its result, by what stands
//!   before it alone, so that a thread that grows keeps its names;
//! - no turn is empty: blank text is gone, and turns of nothing but reasoning.
//!
//! Everything else stays verbatim, and so does a sound thread.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::model::{Block, Message, ModelCallId, Role};

/// A call without a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OrphanedCall<'a> {
    /// The index of its turn in the given messages.
    pub place: usize,
    /// Its id as it is stored.
    pub id: &'a ModelCallId,
    /// The tool's name on the wire.
    pub name: &'a str,
    /// The arguments as the model wrote them.
    pub arguments: &'a str,
}

/// The result for a call that had none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MissingResult {
    /// What the model reads.
    pub content: Arc<Value>,
    /// Whether it is an error.
    pub is_error: bool,
}

/// A thread that can be sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Repaired {
    /// The messages. Those that were sound are the very same ones.
    pub messages: Vec<Arc<Message>>,
    /// For each message the index of the one it came from; for moved or new results, that of their calls.
    pub places: Vec<usize>,
}

impl Repaired {
    fn push(&mut self, place: usize, message: Arc<Message>) {
        self.messages.push(message);
        self.places.push(place);
    }
}

/// Repairs a thread. `answer` is asked for each call that has no result, in their order.
pub(super) fn repair(
    messages: &[Arc<Message>],
    mut answer: impl FnMut(OrphanedCall<'_>) -> MissingResult,
) -> Repaired {
    if is_sound(messages) {
        return Repaired { messages: messages.to_vec(), places: (0..messages.len()).collect() };
    }
    let mut results = pair(messages);
    let mut ids = HashSet::new();
    let mut repaired = Repaired::default();
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        let mut blocks = Vec::new();
        let mut answers = Vec::new();
        for block in message.blocks.iter().filter(|block| stays(message.role, block)) {
            let Block::Call { id, name, arguments, opaque } = block else {
                blocks.push(block.clone());
                continue;
            };
            let call = answers.len();
            let (content, is_error) = match results.remove(&(at, call)) {
                Some(Block::Result { content, is_error, .. }) => (Arc::clone(content), *is_error),
                _ => {
                    let late = answer(OrphanedCall { place: at, id, name, arguments });
                    (late.content, late.is_error)
                }
            };
            let id = unused(id, &mut ids);
            answers.push(Block::Result { id: id.clone(), name: name.clone(), content, is_error });
            blocks.push(Block::Call {
                id,
                name: name.clone(),
                arguments: Arc::clone(arguments),
                opaque: opaque.clone(),
            });
        }
        if has_content(&blocks) {
            repaired.push(at, same_or(message, blocks));
        }
        if !answers.is_empty() {
            // Words that stand with the results stay with them.
            let next = messages.get(at + 1).filter(|next| next.role == Role::User && has_result(next));
            match next {
                Some(next) => {
                    at += 1;
                    answers.extend(next.blocks.iter().filter(|block| stays(Role::User, block)).cloned());
                    repaired.push(at, same_or(next, answers));
                }
                None => repaired.push(at, Arc::new(Message { role: Role::User, blocks: answers })),
            }
        }
        at += 1;
    }
    repaired
}

/// Whether a thread can be sent as it is.
fn is_sound(messages: &[Arc<Message>]) -> bool {
    let mut ids = HashSet::new();
    let mut wanted: Vec<(&ModelCallId, &str)> = Vec::new();
    for message in messages {
        let mut blocks = message.blocks.iter();
        for (id, name) in wanted.drain(..) {
            let fits = |block: &Block| matches!(block, Block::Result { id: answered, name: tool, .. } if answered == id && tool == name);
            if message.role != Role::User || !blocks.next().is_some_and(fits) {
                return false;
            }
        }
        if !blocks.all(|block| stays(message.role, block)) || !has_content(&message.blocks) {
            return false;
        }
        for block in &message.blocks {
            if let Block::Call { id, name, .. } = block {
                if id.as_str().is_empty() || !ids.insert(id) {
                    return false;
                }
                wanted.push((id, name));
            }
        }
    }
    wanted.is_empty()
}

/// The first result of each call, by the place of its turn and which of its calls it is. An id belongs to the newest
/// turn that used it; where one turn used it several times, the results are taken in their order.
fn pair(messages: &[Arc<Message>]) -> HashMap<(usize, usize), &Block> {
    let mut open: HashMap<&ModelCallId, VecDeque<(usize, usize)>> = HashMap::new();
    let mut paired = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        let mut calls = 0;
        for block in &message.blocks {
            match block {
                Block::Call { id, .. } if message.role == Role::Assistant => {
                    let waiting = open.entry(id).or_default();
                    waiting.retain(|(turn, _)| *turn == at);
                    waiting.push_back((at, calls));
                    calls += 1;
                }
                Block::Result { id, .. } => {
                    if let Some(call) = open.get_mut(id).and_then(VecDeque::pop_front) {
                        paired.insert(call, block);
                    }
                }
                _ => {}
            }
        }
    }
    paired
}

/// Whether a block has a place where it stands. Results get theirs from their calls.
fn stays(role: Role, block: &Block) -> bool {
    match block {
        Block::Text { text, opaque } => opaque.is_some() || !text.trim().is_empty(),
        Block::Call { .. } => role == Role::Assistant,
        Block::Result { .. } => false,
        Block::Image(_) | Block::Reasoning { .. } | Block::Opaque(_) => true,
    }
}

/// Whether there is more than reasoning.
fn has_content(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| !matches!(block, Block::Reasoning { .. }))
}

fn has_result(message: &Message) -> bool {
    message.blocks.iter().any(|block| matches!(block, Block::Result { .. }))
}

fn same_or(message: &Arc<Message>, blocks: Vec<Block>) -> Arc<Message> {
    if message.blocks == blocks {
        return Arc::clone(message);
    }
    Arc::new(Message { role: message.role, blocks })
}

/// The id itself, or with the next number if it was used before.
fn unused(id: &ModelCallId, used: &mut HashSet<ModelCallId>) -> ModelCallId {
    let stem = if id.as_str().is_empty() { "call" } else { id.as_str() };
    let mut candidate = ModelCallId::new(stem);
    let mut number = 2_usize;
    while !used.insert(candidate.clone()) {
        candidate = ModelCallId::new(&format!("{stem}_{number}"));
        number += 1;
    }
    candidate
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
