//! What can be wrong with a rule.

use thiserror::Error;

use super::{ConditionError, PatternError};
use crate::expression::ExpressionError;
use crate::tool::IdError;

/// A rule that is not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// Its id cannot be used.
    #[error("`{id}` cannot be the id of a rule: {why}")]
    Id {
        /// The id.
        id: String,
        /// Why not.
        why: &'static str,
    },
    /// Its id is taken.
    #[error("two rules have the id `{id}`; rename one of them")]
    Duplicate {
        /// The id.
        id: String,
    },
    /// It is about no tool.
    #[error("the `tool` of rule `{rule}` cannot be used")]
    Pattern {
        /// The rule.
        rule: String,
        /// Why not.
        source: PatternError,
    },
    /// Its condition is none.
    #[error("the `when` of rule `{rule}` cannot be used")]
    Condition {
        /// The rule.
        rule: String,
        /// Why not.
        source: ConditionError,
    },
    /// It says who may answer, but asks nothing.
    #[error("rule `{rule}` asks nobody and yet has a `by`; remove it, or let the rule `ask`")]
    By {
        /// The rule.
        rule: String,
    },
    /// It wants a client to answer, which is no person.
    #[error("rule `{rule}` asks people: its `by` is `caller` or `operator`")]
    ByClient {
        /// The rule.
        rule: String,
    },
    /// Its reason cannot be shown.
    #[error("the `reason` of rule `{rule}` {why}")]
    Reason {
        /// The rule.
        rule: String,
        /// Why not.
        why: &'static str,
    },
    /// One of its examples shows that it does not mean what it was meant to.
    #[error("rule `{rule}` fails example {number} of its `{list}`; change the example or the rule")]
    Example {
        /// The rule.
        rule: String,
        /// `match` or `not_match`.
        list: &'static str,
        /// Which, counted from 1.
        number: usize,
        /// Why.
        source: ExampleError,
    },
}

/// How a rule and an example of it disagree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExampleError {
    /// It could be about any of several tools.
    #[error("it needs a `tool`, because that of the rule is a pattern")]
    NoTool,
    /// What it names cannot be a tool.
    #[error(transparent)]
    Tool(#[from] IdError),
    /// The rule is not about its tool.
    #[error("the rule is not about the tool `{tool}`")]
    OtherTool {
        /// The example's tool.
        tool: String,
    },
    /// The condition is false.
    #[error("the condition is false for it")]
    ConditionFalse,
    /// The rule applies and should not.
    #[error("the rule applies to it")]
    Applies,
    /// The condition cannot be evaluated.
    #[error(transparent)]
    Unjudged(#[from] ExpressionError),
}
