//! Values during evaluation: like [`Value`], but borrowed from the variables and the expression where possible.

use std::borrow::Cow;
use std::rc::Rc;
use std::slice;

use serde_json::{Map, Value as Json};

use super::error::ExpressionProblem as Problem;
use super::limits::{Budget, MAX_DATA_DEPTH};
use super::number::Number;
use super::value::{Kind, Scalar, Value};

#[derive(Clone, Debug)]
pub(super) enum Operand<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    /// A list literal; shared, so that looking at an item of a list does not copy the lists inside it.
    List(Rc<Vec<Operand<'a>>>),
    /// A list inside a variable.
    Array(&'a [Json]),
    Map(&'a Map<String, Json>),
}

impl<'a> Operand<'a> {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(Number::Int(_)) => Kind::Int,
            Self::Number(Number::Float(_)) => Kind::Float,
            Self::Text(_) => Kind::Text,
            Self::List(_) | Self::Array(_) => Kind::List,
            Self::Map(_) => Kind::Map,
        }
    }

    pub(super) fn int(int: i64) -> Self {
        Self::Number(Number::Int(int))
    }

    /// The length of a text or list or the number of keys of a map.
    pub(super) fn count(&self) -> Option<usize> {
        match self {
            Self::Text(text) => Some(text.chars().count()),
            Self::List(items) => Some(items.len()),
            Self::Array(items) => Some(items.len()),
            Self::Map(map) => Some(map.len()),
            Self::Null | Self::Bool(_) | Self::Number(_) => None,
        }
    }

    pub(super) fn items(&self) -> Option<Items<'_>> {
        match self {
            Self::List(items) => Some(Items::List(items.iter())),
            Self::Array(items) => Some(Items::Array(items.iter())),
            _ => None,
        }
    }

    /// The value under a key of a map; null where there is none.
    pub(super) fn key(&self, key: &str) -> Self {
        match self {
            Self::Map(map) => map.get(key).map_or(Self::Null, Self::from),
            _ => Self::Null,
        }
    }

    /// The item of a list, counted from 0; null where there is none.
    pub(super) fn item(&self, index: usize) -> Self {
        match self {
            Self::List(items) => items.get(index).cloned().unwrap_or(Self::Null),
            Self::Array(items) => items.get(index).map_or(Self::Null, Self::from),
            _ => Self::Null,
        }
    }

    pub(super) fn into_value(self, budget: &mut Budget) -> Result<Value, Problem> {
        budget.spend(1)?;
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(truth),
            Self::Number(Number::Int(int)) => Value::Int(int),
            Self::Number(Number::Float(float)) => Value::Float(float),
            Self::Text(text) => {
                budget.spend_text(&text)?;
                Value::Text(text.into_owned())
            }
            Self::List(items) => {
                let items = Rc::unwrap_or_clone(items).into_iter();
                let values = items.map(|item| item.into_value(budget));
                Value::List(values.collect::<Result<_, _>>()?)
            }
            Self::Array(items) => {
                items.iter().try_for_each(|item| spend_json(item, budget, 1))?;
                Value::List(items.iter().map(Value::from).collect())
            }
            Self::Map(map) => {
                map.values().try_for_each(|item| spend_json(item, budget, 1))?;
                Value::Map(map.clone())
            }
        })
    }
}

/// Pays for a copy of JSON before it is made, so that a list of large variables cannot fill the memory.
fn spend_json(json: &Json, budget: &mut Budget, depth: usize) -> Result<(), Problem> {
    if depth > MAX_DATA_DEPTH {
        return Err(Problem::DataTooDeep);
    }
    budget.spend(1)?;
    match json {
        Json::String(text) => budget.spend_text(text),
        Json::Array(items) => items.iter().try_for_each(|item| spend_json(item, budget, depth + 1)),
        Json::Object(map) => map.iter().try_for_each(|(key, item)| {
            budget.spend_text(key)?;
            spend_json(item, budget, depth + 1)
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
    }
}

impl<'a> From<&'a Json> for Operand<'a> {
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(*truth),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Self::int(int),
                None => number.as_f64().map_or(Self::Null, |float| Self::Number(Number::Float(float))),
            },
            Json::String(text) => Self::Text(Cow::Borrowed(text)),
            Json::Array(items) => Self::Array(items),
            Json::Object(map) => Self::Map(map),
        }
    }
}

impl<'a> From<Scalar<'a>> for Operand<'a> {
    fn from(scalar: Scalar<'a>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(truth) => Self::Bool(truth),
            Scalar::Text(text) => Self::Text(Cow::Borrowed(text)),
        }
    }
}

/// The items of either kind of list.
pub(super) enum Items<'s> {
    List(slice::Iter<'s, Operand<'s>>),
    Array(slice::Iter<'s, Json>),
}

impl<'s> Iterator for Items<'s> {
    type Item = Operand<'s>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::List(items) => items.next().map(|item| match item {
                Operand::Text(text) => Operand::Text(Cow::Borrowed(text)),
                other => other.clone(),
            }),
            Self::Array(items) => items.next().map(Operand::from),
        }
    }
}
