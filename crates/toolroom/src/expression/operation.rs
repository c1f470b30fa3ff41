//! What operators do with their operands: arithmetic, equality, order, membership, access.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value as Json};

use super::error::ExpressionProblem as Problem;
use super::limits::{Budget, MAX_DATA_DEPTH, MAX_PRODUCED_CHARACTERS};
use super::number::Number;
use super::operand::{Items, Operand};
use super::tree::{Arithmetic, Comparison, Prefix};

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

pub(super) fn compare(
    left: &Operand<'_>,
    operator: Comparison,
    right: &Operand<'_>,
    budget: &mut Budget,
) -> Result<bool, Problem> {
    match operator {
        Comparison::Equal => equal(left, right, budget),
        Comparison::NotEqual => equal(left, right, budget).map(|equal| !equal),
        Comparison::Less => order(left, operator, right, budget).map(Ordering::is_lt),
        Comparison::LessOrEqual => order(left, operator, right, budget).map(Ordering::is_le),
        Comparison::Greater => order(left, operator, right, budget).map(Ordering::is_gt),
        Comparison::GreaterOrEqual => order(left, operator, right, budget).map(Ordering::is_ge),
        Comparison::Contains => contains(left, right, operator, budget),
        Comparison::In => contains(right, left, operator, budget),
        Comparison::NotIn => contains(right, left, operator, budget).map(|contains| !contains),
    }
}

fn equal(left: &Operand<'_>, right: &Operand<'_>, budget: &mut Budget) -> Result<bool, Problem> {
    equal_at(left, right, budget, 0)
}

fn equal_at(
    left: &Operand<'_>,
    right: &Operand<'_>,
    budget: &mut Budget,
    depth: usize,
) -> Result<bool, Problem> {
    budget.spend(1)?;
    match (left, right) {
        (Operand::Null, Operand::Null) => Ok(true),
        (Operand::Bool(left), Operand::Bool(right)) => Ok(left == right),
        (Operand::Number(left), Operand::Number(right)) => Ok(left.compare(*right).is_eq()),
        (Operand::Text(left), Operand::Text(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            budget.spend_text(left)?;
            Ok(left == right)
        }
        _ if depth > MAX_DATA_DEPTH => Err(Problem::DataTooDeep),
        (Operand::Map(left), Operand::Map(right)) => equal_maps(left, right, budget, depth + 1),
        _ => match (left.items(), right.items()) {
            (Some(lefts), Some(rights)) if left.count() == right.count() => {
                equal_lists(lefts, rights, budget, depth + 1)
            }
            _ => Ok(false),
        },
    }
}

fn equal_maps(
    left: &Map<String, Json>,
    right: &Map<String, Json>,
    budget: &mut Budget,
    depth: usize,
) -> Result<bool, Problem> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (key, value) in left {
        let Some(other) = right.get(key) else {
            return Ok(false);
        };
        if !equal_at(&Operand::from(value), &Operand::from(other), budget, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_lists(
    lefts: Items<'_>,
    rights: Items<'_>,
    budget: &mut Budget,
    depth: usize,
) -> Result<bool, Problem> {
    for (left, right) in lefts.zip(rights) {
        if !equal_at(&left, &right, budget, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn order(
    left: &Operand<'_>,
    operator: Comparison,
    right: &Operand<'_>,
    budget: &mut Budget,
) -> Result<Ordering, Problem> {
    match (left, right) {
        (Operand::Number(left), Operand::Number(right)) => Ok(left.compare(*right)),
        (Operand::Text(left), Operand::Text(right)) => {
            budget.spend_text(left)?;
            Ok(left.cmp(right))
        }
        _ => Err(Problem::WrongKinds {
            operation: operator.symbol(),
            needs: "two numbers or two texts",
            left: left.kind(),
            right: right.kind(),
        }),
    }
}

/// Whether the whole has the part: text in text, item in list, key in map; null has nothing.
///
/// Null instead of an error, because a missing argument reads as null and rules ask what it contains.
pub(super) fn contains(
    whole: &Operand<'_>,
    part: &Operand<'_>,
    operator: Comparison,
    budget: &mut Budget,
) -> Result<bool, Problem> {
    match (whole, part) {
        (Operand::Null, _) => Ok(false),
        (Operand::Text(whole), Operand::Text(part)) => {
            budget.spend_text(whole)?;
            Ok(whole.contains(&**part))
        }
        (Operand::Map(map), Operand::Text(key)) => Ok(map.contains_key(&**key)),
        _ => {
            let Some(items) = whole.items() else {
                let (left, right) =
                    if operator == Comparison::Contains { (whole, part) } else { (part, whole) };
                return Err(Problem::WrongKinds {
                    operation: operator.symbol(),
                    needs: "two texts, a list and an item, or a map and a text",
                    left: left.kind(),
                    right: right.kind(),
                });
            };
            for item in items {
                if equal(&item, part, budget)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}
