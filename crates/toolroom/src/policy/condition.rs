//! Conditions of rules and standing answers.

use std::collections::BTreeSet;

use super::facts::{ARGUMENTS, EvaluationContext, Facts, ROOTS};
use crate::expression::{Expression, ExpressionError};
use crate::nearest::{nearest_one, quoted};

/// A condition on a call: an expression over `args`, `caller`, `provenance` and `tool` that is true or false.
#[derive(Debug, Clone)]
pub struct Condition(Expression);

impl Condition {
    /// Parses a condition. Callers validate a user's condition with this before storing it.
    ///
    /// # Errors
    /// When the text is no expression, mentions an unknown name, or is a constant other than true or false.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let expression = Expression::parse(text)?;
        if let Some(unknown) = expression.roots().find(|root| !ROOTS.contains(root)) {
            let nearest = nearest_one(unknown, ROOTS);
            return Err(ConditionError::UnknownName { name: unknown.to_owned(), nearest });
        }
        if expression.roots().next().is_none() {
            expression.holds(&())?;
        }
        Ok(Self(expression))
    }

    /// Whether it holds for this call.
    ///
    /// # Errors
    /// When it cannot be evaluated. Guards then deny.
    pub fn holds(&self, facts: &Facts<'_>) -> Result<bool, ExpressionError> {
        self.holds_in(&EvaluationContext::new(facts))
    }

    pub(super) fn holds_in(&self, context: &EvaluationContext<'_>) -> Result<bool, ExpressionError> {
        self.0.holds_within(context, &context.steps)
    }

    /// The arguments it names, sorted, so that a command can warn about those no tool takes.
    #[must_use]
    pub fn arguments(&self) -> BTreeSet<&str> {
        self.0.keys_of(ARGUMENTS)
    }

    pub(super) fn mentions(&self, root: &str) -> bool {
        self.0.roots().any(|mentioned| mentioned == root)
    }
}

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// It cannot be parsed, or is neither true nor false.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// It mentions a name that conditions do not have.
    #[error("unknown name `{name}`{}", advice(*nearest))]
    UnknownName {
        /// The name.
        name: String,
        /// The nearest known name.
        nearest: Option<&'static str>,
    },
}

fn advice(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean `{nearest}`?"),
        None => format!("; known names: {}", quoted(&ROOTS.map(str::to_owned))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_condition_is_refused_with_advice() {
        let check = |text: &str, expected: &str| {
            let error = Condition::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("", "the expression is empty");
        check("args.x ==", "expected a value after `==`");
        check("arg.x == 1", "unknown name `arg`, did you mean `args`?");
        check("weather == 1", "known names: `args`, `caller`, `provenance`, `tool`");
        check("1 + 1", "the condition gave int, expected a bool");
        check("1 / 0 == 1", "division by zero");
        assert!(Condition::parse("true").is_ok());
        assert!(Condition::parse("tool.risk == 'high' and args.x > 1").unwrap().mentions("tool"));
    }

    #[test]
    fn arguments_are_those_asked_for_by_name_wherever_they_stand() {
        let check = |text: &str, expected: &[&str]| {
            let condition = Condition::parse(text).unwrap();
            assert_eq!(condition.arguments().into_iter().collect::<Vec<_>>(), expected, "{text}");
        };
        check("true", &[]);
        check("args.to == 'x' and not (args['odd key'].deep[args.at] > 1)", &["at", "odd key", "to"]);
        check("if(args.a, len([args.b]) > 1, 'tool' in args.c)", &["a", "b", "c"]);
        check("args == args and len(args) > 1 and args[caller.user] == tool.name", &[]);
    }
}
