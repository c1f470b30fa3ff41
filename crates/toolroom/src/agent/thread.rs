//! The conversation as it is sent, with token estimates.

use std::collections::HashSet;
use std::sync::Arc;

use super::active_run::error_value;
use super::compact::{Compaction, shown};
use super::repair::{MissingResult, repair};
use super::tokens;
use crate::conversation::{Content, ConversationEntry, Summary};
use crate::model::{Block, Message, ModelCallId, Role};

/// The entry numbers and token estimates of a request's messages.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The summary of the older part. If there is one, it is the first message.
    summary: Option<Arc<Summary>>,
    /// The entry numbers of the other messages.
    places: Vec<u64>,
    /// Token estimates of all messages, the summary included.
    sizes: Vec<u64>,
    total: u64,
    ids: HashSet<ModelCallId>,
}

impl Thread {
    /// The messages to send of a conversation: its last summary, and the entries after it. A damaged thread is repaired. Calls
    /// at its end are left open.
    pub(super) fn read(entries: &[ConversationEntry]) -> (Self, Vec<Arc<Message>>) {
        let summary = entries.iter().rev().find_map(|entry| match &entry.content {
            Content::Summary(summary) => Some(Arc::clone(summary)),
            Content::Message(_) => None,
        });
        let covered = summary.as_ref().map_or(0, |summary| summary.covers);
        let mut said: Vec<(u64, &Arc<Message>)> = (entries.iter())
            .filter(|entry| entry.seq >= covered)
            .filter_map(|entry| match &entry.content {
                Content::Message(message) => Some((entry.seq, message)),
                Content::Summary(_) => None,
            })
            .collect();
        let open = said.pop_if(|(_, message)| message.role == Role::Assistant);
        let stored: Vec<Arc<Message>> = said.iter().map(|(_, message)| Arc::clone(message)).collect();
        let repaired = repair(&stored, |_| MissingResult {
            content: Arc::new(error_value("nothing is known of this call", None)),
            is_error: true,
        });
        let mut thread = Self::default();
        let mut messages = Vec::with_capacity(entries.len() + 1);
        if let Some(summary) = summary {
            thread.head(summary, &mut messages);
        }
        let places = repaired.places.iter().map(|place| said.get(*place).map_or(covered, |(seq, _)| *seq));
        for (place, message) in places.zip(repaired.messages) {
            thread.add(place, &message);
            messages.push(message);
        }
        if let Some((place, message)) = open {
            thread.add(place, message);
            messages.push(Arc::clone(message));
        }
        (thread, messages)
    }

    fn head(&mut self, summary: Arc<Summary>, messages: &mut Vec<Arc<Message>>) {
        let message = shown(&summary);
        self.summary = Some(summary);
        self.measure(&message);
        messages.push(Arc::new(message));
    }

    /// Adds a message.
    pub(super) fn add(&mut self, place: u64, message: &Message) {
        self.places.push(place);
        self.measure(message);
        self.ids.extend(message.blocks.iter().filter_map(call_id).cloned());
    }

    fn measure(&mut self, message: &Message) {
        let size = tokens::message(message);
        self.sizes.push(size);
        self.total += size;
    }

    /// The estimate of all messages.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    pub(super) fn summary(&self) -> Option<&Summary> {
        self.summary.as_deref()
    }

    /// How many leading messages are not entries: one if there is a summary.
    pub(super) fn heading(&self) -> usize {
        usize::from(self.summary.is_some())
    }

    /// Gives every call a unique id: models reuse theirs, or leave them empty.
    pub(super) fn make_unique(&mut self, blocks: &mut [Block]) {
        for block in blocks {
            let Block::Call { id, .. } = block else { continue };
            if id.as_str().is_empty() || self.ids.contains(id) {
                *id = self.fresh_id(id);
            }
            self.ids.insert(id.clone());
        }
    }

    fn fresh_id(&self, id: &ModelCallId) -> ModelCallId {
        let stem = if id.as_str().is_empty() { "call" } else { id.as_str() };
        let mut number = self.ids.len();
        loop {
            let fresh = ModelCallId::new(&format!("{stem}_{number}"));
            if !self.ids.contains(&fresh) {
                return fresh;
            }
            number += 1;
        }
    }

    /// The number of the first entry that stays after a cut.
    pub(super) fn place_of(&self, first: usize) -> u64 {
        self.places.get(first).copied().unwrap_or_else(|| self.places.last().map_or(0, |last| last + 1))
    }

    /// Replaces everything before the cut by a summary.
    pub(super) fn compact(
        &mut self,
        cut: &Compaction,
        summary: Arc<Summary>,
        messages: &mut Vec<Arc<Message>>,
    ) {
        let kept: Vec<Arc<Message>> = messages.drain(..).skip(self.heading() + cut.first).collect();
        let places: Vec<u64> = self.places.drain(..).skip(cut.first).collect();
        self.sizes.clear();
        self.total = 0;
        self.head(summary, messages);
        for (place, message) in places.into_iter().zip(kept) {
            self.add(place, &message);
            messages.push(message);
        }
    }
}

fn call_id(block: &Block) -> Option<&ModelCallId> {
    match block {
        Block::Call { id, .. } => Some(id),
        _ => None,
    }
}
