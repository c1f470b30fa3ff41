//! Why a rule is rejected.

use thiserror::Error;

use super::{ConditionError, PatternError};
use crate::expression::ExpressionError;
use crate::tool::IdError;

/// Why a rule is rejected.
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
    /// Its tool pattern is invalid.
    #[error("the `tool` of rule `{rule}` cannot be used")]
    Pattern {
        /// The rule.
        rule: String,
        /// Why not.
        source: PatternError,
    },
    /// Its condition is invalid.
    #[error("the `when` of rule `{rule}` cannot be used")]
    Condition {
        /// The rule.
        rule: String,
        /// Why not.
        source: ConditionError,
    },
    /// It has a `by` but does not ask.
    #[error("rule `{rule}` has a `by` but does not ask; remove `by` or set `effect = \"ask\"`")]
    By {
        /// The rule.
        rule: String,
    },
    /// Its `by` is `client`.
    #[error("the `by` of rule `{rule}` must be `caller` or `operator`")]
    ByClient {
        /// The rule.
        rule: String,
    },
    /// Its reason is too long or not one line.
    #[error("the `reason` of rule `{rule}` {why}")]
    Reason {
        /// The rule.
        rule: String,
        /// Why not.
        why: &'static str,
    },
    /// One of its examples fails.
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

/// Why an example fails.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExampleError {
    /// It names no tool, and the rule's is a pattern.
    #[error("it needs a `tool`, because that of the rule is a pattern")]
    NoTool,
    /// Its tool id is invalid.
    #[error(transparent)]
    Tool(#[from] IdError),
    /// The rule does not match its tool.
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
