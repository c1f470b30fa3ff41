//! Standing answers, ready to be asked.

use crate::ledger::StandingAnswer;

/// The standing answers of a project.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    answers: Vec<StandingAnswer>,
}

impl Answers {
    /// Reads their conditions once.
    #[must_use]
    pub fn new(answers: Vec<StandingAnswer>) -> Self {
        Self { answers }
    }

    /// The answers as they are kept.
    pub fn iter(&self) -> impl Iterator<Item = &StandingAnswer> {
        self.answers.iter()
    }
}
