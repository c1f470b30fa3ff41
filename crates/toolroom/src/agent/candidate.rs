//! A model an agent may be answered by.

use std::sync::Arc;

use crate::model::{Model, ModelFacts};

/// A model, and what is known about it.
#[derive(Clone)]
pub struct Candidate {
    /// The model.
    pub model: Arc<dyn Model>,
    /// What it can take and what it costs.
    pub facts: ModelFacts,
}

impl Candidate {
    /// A model about which nothing is known.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self { model, facts: ModelFacts::UNKNOWN }
    }

    /// Says what is known about it.
    #[must_use]
    pub fn facts(mut self, facts: ModelFacts) -> Self {
        self.facts = facts;
        self
    }
}
