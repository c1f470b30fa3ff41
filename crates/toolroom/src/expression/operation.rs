//! What operators do with their operands.

use std::borrow::Cow;

use super::error::ExpressionProblem as Problem;
use super::limits::{Budget, MAX_PRODUCED_CHARACTERS};
use super::number::Number;
use super::operand::Operand;
use super::tree::{Arithmetic, Prefix};

/// The bool that a logical operator needs; nothing else counts as true or false.
pub(super) fn truth(operand: &Operand<'_>, operation: &'static str) -> Result<bool, Problem> {
    match operand {
        Operand::Bool(truth) => Ok(*truth),
        other => Err(Problem::WrongKind { operation, needs: "a bool", found: other.kind() }),
    }
}

pub(super) fn prefixed<'a>(operator: Prefix, operand: &Operand<'a>) -> Result<Operand<'a>, Problem> {
    let operation = match operator {
        Prefix::Not => return truth(operand, "not").map(|truth| Operand::Bool(!truth)),
        Prefix::Minus => "-",
        Prefix::Plus => "+",
    };
    match operand {
        Operand::Number(number) if operator == Prefix::Minus => number.negate().map(Operand::Number),
        Operand::Number(number) => Ok(Operand::Number(*number)),
        other => Err(Problem::WrongKind { operation, needs: "a number", found: other.kind() }),
    }
}

pub(super) fn arithmetic<'a>(
    left: Operand<'a>,
    operator: Arithmetic,
    right: &Operand<'a>,
    budget: &mut Budget,
) -> Result<Operand<'a>, Problem> {
    let (operation, adds) = (operator.symbol(), operator == Arithmetic::Add);
    match (left, right) {
        (Operand::Number(left), Operand::Number(right)) => {
            left.combine(operator, *right).map(Operand::Number)
        }
        (Operand::Text(left), Operand::Text(right)) if adds => join(left, right, operation, budget),
        (left, right) => {
            let needs = if adds { "two numbers or two texts" } else { "two numbers" };
            Err(Problem::WrongKinds { operation, needs, left: left.kind(), right: right.kind() })
        }
    }
}

fn join<'a>(
    left: Cow<'a, str>,
    right: &str,
    operation: &'static str,
    budget: &mut Budget,
) -> Result<Operand<'a>, Problem> {
    budget.spend_text(&left)?;
    budget.spend_text(right)?;
    if left.chars().count() + right.chars().count() > MAX_PRODUCED_CHARACTERS {
        return Err(Problem::TextTooLong { operation });
    }
    let mut joined = left.into_owned();
    joined.push_str(right);
    Ok(Operand::Text(Cow::Owned(joined)))
}

/// The item at an index or the value under a key; null where there is none.
pub(super) fn at_index<'a>(value: &Operand<'a>, index: &Operand<'_>) -> Result<Operand<'a>, Problem> {
    match index {
        Operand::Text(key) => Ok(value.key(key)),
        Operand::Number(Number::Int(int)) => match usize::try_from(*int) {
            Ok(index) => Ok(value.item(index)),
            Err(_) => Err(Problem::WrongIndex { found: int.to_string() }),
        },
        other => Err(Problem::WrongIndex { found: other.kind().name().to_owned() }),
    }
}
