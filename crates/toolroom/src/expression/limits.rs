//! The bounds of one expression, and the budget an evaluation spends.

use super::error::ExpressionProblem;

/// Longest expression text in characters.
pub const MAX_EXPRESSION_CHARACTERS: usize = 10_000;

/// Most parentheses, calls, lists, indexes and pending operators that may be open around one value.
///
/// Parsing, evaluating and dropping recurse once per level, so this is what keeps them inside a small stack.
pub const MAX_DEPTH: usize = 64;

/// Most items of a list literal, and most arguments of a call.
pub const MAX_LIST_ITEMS: usize = 1_000;

/// Longest text that an operator or function may build, in characters.
pub const MAX_PRODUCED_CHARACTERS: usize = 100_000;

/// Most steps of one evaluation: a step is one part of the expression, one list item looked at, or 128 bytes of text.
pub const MAX_STEPS: usize = 100_000;

/// Text read or built costs a step for each of these, so that scanning it takes about as long as other steps do.
const BYTES_PER_STEP: usize = 128;

/// Deepest JSON that is compared or returned; JSON read from text is at most 128 deep.
pub(super) const MAX_DATA_DEPTH: usize = 128;

/// The remaining budget of one evaluation.
#[derive(Debug)]
pub(super) struct Budget {
    steps: usize,
    /// The error if more is spent.
    overspent: ExpressionProblem,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { steps: MAX_STEPS, overspent: ExpressionProblem::TooManySteps }
    }

    /// The budget of one of several evaluations, which have `left` together.
    pub(super) fn of_shared(left: usize) -> Self {
        if left < MAX_STEPS {
            Self { steps: left, overspent: ExpressionProblem::NoStepsLeft }
        } else {
            Self::new()
        }
    }

    /// The steps left for the other evaluations, after this one began with `left`.
    pub(super) fn left_of(&self, left: usize) -> usize {
        left.saturating_sub(left.min(MAX_STEPS).saturating_sub(self.steps))
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), ExpressionProblem> {
        match self.steps.checked_sub(steps) {
            Some(left) => self.steps = left,
            None => {
                // The failed request counts as spent.
                self.steps = 0;
                return Err(self.overspent.clone());
            }
        }
        Ok(())
    }

    pub(super) fn spend_text(&mut self, text: &str) -> Result<(), ExpressionProblem> {
        self.spend(text.len().div_ceil(BYTES_PER_STEP))
    }
}
