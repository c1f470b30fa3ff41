//! Builds the index from cards.

use std::collections::HashMap;

use super::card::ToolCard;
use super::postings::{Draft, Postings};
use super::trigrams::TrigramIndex;
use super::vocabulary::Vocabulary;
use super::words;

/// The weight of a word by its field.
mod field {
    pub(super) const NAME: f32 = 3.0;
    pub(super) const TAG: f32 = 2.0;
    /// When to use it, or the first line.
    pub(super) const WHEN: f32 = 1.0;
    pub(super) const DESCRIPTION: f32 = 0.5;
    pub(super) const PARAMETER: f32 = 0.5;
}

/// An index over tools that ranks them by how well they fit a message.
pub struct Selector {
    pub(super) ids: Vec<String>,
    pub(super) vocabulary: Vocabulary,
    pub(super) trigrams: TrigramIndex,
    pub(super) postings: Postings,
    /// Tools by the exact terms that name them or chose them before.
    pub(super) asked: HashMap<Box<[u32]>, Vec<u32>>,
}

impl Selector {
    /// Builds the index. Of cards with the same id, keeps one independently of their order.
    pub fn new(cards: impl IntoIterator<Item = ToolCard>) -> Self {
        let mut cards: Vec<ToolCard> = cards.into_iter().collect();
        cards.sort_unstable();
        cards.dedup_by(|next, first| next.id == first.id);

        let mut vocabulary = Vocabulary::new();
        let mut drafts = Vec::with_capacity(cards.len());
        let mut asked: HashMap<Box<[u32]>, Vec<u32>> = HashMap::new();
        for (tool, card) in (0u32..).zip(&cards) {
            let mut writer = CardIndexer { vocabulary: &mut vocabulary, draft: Draft::default() };
            writer.definition(card);
            let name = writer.terms(&card.name);
            for request in card.counted_requests() {
                writer.request(request);
            }
            let draft = writer.draft;
            let exact = draft.requests.iter().filter(|request| **request != name).cloned();
            for terms in exact.chain([name.clone()]).filter(|terms| !terms.is_empty()) {
                asked.entry(terms.into_boxed_slice()).or_default().push(tool);
            }
            drafts.push(draft);
        }
        let postings = Postings::new(&vocabulary.terms, &drafts);
        let trigrams = TrigramIndex::new(&vocabulary.stems());
        let ids = cards.into_iter().map(|card| card.id).collect();
        Self { ids, vocabulary, trigrams, postings, asked }
    }

    /// How many tools it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it knows no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl std::fmt::Debug for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selector").field("tools", &self.ids.len()).finish_non_exhaustive()
    }
}

/// Converts a card to term numbers.
struct CardIndexer<'a> {
    vocabulary: &'a mut Vocabulary,
    draft: Draft,
}

impl CardIndexer<'_> {
    fn definition(&mut self, card: &ToolCard) {
        let (when, rest) = card.described();
        self.field(&card.name, field::NAME, true);
        for tag in &card.tags {
            self.field(tag, field::TAG, true);
        }
        self.field(when, field::WHEN, false);
        self.field(rest, field::DESCRIPTION, false);
        for parameter in &card.parameters {
            self.field(parameter, field::PARAMETER, false);
        }
        self.draft.close_definition(&self.vocabulary.terms);
    }

    /// Stop words count only in names.
    fn field(&mut self, text: &str, weight: f32, is_name: bool) {
        words::each(text, |word| {
            let number = self.vocabulary.number(word);
            if is_name || !self.vocabulary.is_stop(number) {
                self.draft.definition.push((number, weight));
            }
        });
    }

    fn request(&mut self, text: &str) {
        let request = self.terms(text);
        if !request.is_empty() && !self.draft.requests.contains(&request) {
            self.draft.requests.push(request);
        }
    }

    /// The different words of a text and their concepts, sorted.
    fn terms(&mut self, text: &str) -> Vec<u32> {
        let mut terms = Vec::new();
        words::each(text, |word| {
            let number = self.vocabulary.number(word);
            terms.push(number);
            terms.extend(self.vocabulary.term(number).into_iter().flat_map(|term| term.concepts));
        });
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}
