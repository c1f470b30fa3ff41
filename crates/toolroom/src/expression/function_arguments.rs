//! The arguments of one function call, taken one by one from left to right.

use std::borrow::Cow;
use std::vec;

use super::error::ExpressionProblem as Problem;
use super::limits::{Budget, MAX_PRODUCED_CHARACTERS};
use super::number::Number;
use super::operand::Operand;

/// What a function gives back.
pub(super) type Answer<'a> = Result<Operand<'a>, Problem>;

pub(super) struct Arguments<'a, 'b> {
    pub(super) function: &'static str,
    values: vec::IntoIter<Operand<'a>>,
    pub(super) budget: &'b mut Budget,
}

impl<'a, 'b> Arguments<'a, 'b> {
    pub(super) fn new(function: &'static str, values: Vec<Operand<'a>>, budget: &'b mut Budget) -> Self {
        Self { function, values: values.into_iter(), budget }
    }

    /// The next argument; an optional one that was not written reads as null.
    pub(super) fn any(&mut self) -> Operand<'a> {
        self.values.next().unwrap_or(Operand::Null)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.values.as_slice().is_empty()
    }

    pub(super) fn number(&mut self) -> Result<Number, Problem> {
        match self.any() {
            Operand::Number(number) => Ok(number),
            other => Err(self.wrong("a number", &other)),
        }
    }

    pub(super) fn int(&mut self) -> Result<i64, Problem> {
        match self.any() {
            Operand::Number(Number::Int(int)) => Ok(int),
            other => Err(self.wrong("an int", &other)),
        }
    }

    /// A count or place: an int of 0 or more.
    pub(super) fn place(&mut self) -> Result<usize, Problem> {
        let int = self.int()?;
        usize::try_from(int).map_err(|_| self.wrong_value("an int of 0 or more", int.to_string()))
    }

    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, Problem> {
        match self.any() {
            Operand::Text(text) => {
                self.budget.spend_text(&text)?;
                Ok(text)
            }
            other => Err(self.wrong("a text", &other)),
        }
    }

    /// All arguments as numbers, or the items of the only argument if that is a list.
    pub(super) fn numbers(&mut self) -> Result<Vec<Number>, Problem> {
        let first = self.any();
        let Some(items) = first.items() else {
            let rest = self.values.by_ref();
            let all: Vec<_> = std::iter::once(first).chain(rest).collect();
            return all.iter().map(|value| self.as_number(value)).collect();
        };
        if let Some(extra) = self.values.next() {
            return Err(Problem::WrongKinds {
                operation: self.function,
                needs: "numbers or one list of numbers",
                left: first.kind(),
                right: extra.kind(),
            });
        }
        let mut numbers = Vec::new();
        for item in items {
            self.budget.spend(1)?;
            numbers.push(self.as_number(&item)?);
        }
        Ok(numbers)
    }

    fn as_number(&self, value: &Operand<'_>) -> Result<Number, Problem> {
        match value {
            Operand::Number(number) => Ok(*number),
            other => Err(self.wrong("numbers", other)),
        }
    }

    /// The result, or an error where it is infinite or not a number.
    pub(super) fn finite(&self, result: f64, operands: &[Number]) -> Answer<'a> {
        if result.is_finite() {
            return Ok(Operand::Number(Number::Float(result)));
        }
        let operands: Vec<String> = operands.iter().map(Number::to_string).collect();
        Err(Problem::NotFinite { operation: self.function, operands: operands.join(" and ") })
    }

    /// The text, or an error where it is too long.
    pub(super) fn produced(&mut self, text: String) -> Answer<'a> {
        self.check_length(text.chars().count())?;
        self.budget.spend_text(&text)?;
        Ok(Operand::Text(Cow::Owned(text)))
    }

    /// Asked before a text is built, so that it is not built in vain.
    pub(super) fn check_length(&self, characters: usize) -> Result<(), Problem> {
        if characters > MAX_PRODUCED_CHARACTERS {
            return Err(Problem::TextTooLong { operation: self.function });
        }
        Ok(())
    }

    pub(super) fn overflow(&self) -> Problem {
        Problem::IntOverflow { operation: self.function }
    }

    pub(super) fn wrong(&self, needs: &'static str, found: &Operand<'_>) -> Problem {
        Problem::WrongKind { operation: self.function, needs, found: found.kind() }
    }

    pub(super) fn wrong_value(&self, needs: &'static str, found: String) -> Problem {
        Problem::WrongValue { operation: self.function, needs, found }
    }
}
