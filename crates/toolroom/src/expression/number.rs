//! Numbers: 64-bit ints that never wrap, and floats that are always finite.

use std::cmp::Ordering;
use std::fmt;

use super::error::ExpressionProblem as Problem;
use super::tree::Arithmetic;

/// Up to here every int is a float.
const FLOAT_DIGITS: u64 = 1 << 53;

/// 2^63 as a float, exactly: the first whole number above every int.
const INT_END: f64 = 9_223_372_036_854_775_808.0;

#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => write!(f, "{int}"),
            Self::Float(float) => write!(f, "{float:?}"),
        }
    }
}

impl Number {
    pub(super) fn float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.compare(Self::Int(0)) == Ordering::Equal
    }

    /// Exact, also where the int is too large to be a float.
    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => left.cmp(&right),
            (Self::Int(left), Self::Float(right)) => compare_int(left, right),
            (Self::Float(left), Self::Int(right)) => compare_int(right, left).reverse(),
            // Floats are finite, so there is always an order.
            (Self::Float(left), Self::Float(right)) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
        }
    }

    pub(super) fn negate(self) -> Result<Self, Problem> {
        match self {
            Self::Int(int) => int.checked_neg().map(Self::Int).ok_or(Problem::IntOverflow { operation: "-" }),
            Self::Float(float) => Ok(Self::Float(-float)),
        }
    }

    pub(super) fn combine(self, operator: Arithmetic, right: Self) -> Result<Self, Problem> {
        let divides =
            matches!(operator, Arithmetic::Divide | Arithmetic::FloorDivide | Arithmetic::Remainder);
        if divides && right.is_zero() {
            return Err(Problem::DivisionByZero);
        }
        match (self, right) {
            (Self::Int(left), Self::Int(right)) => combine_ints(left, operator, right),
            _ => combine_floats(self, operator, right),
        }
    }
}

/// The int with the value of a whole float, if it is one and fits.
pub(super) fn whole(float: f64) -> Option<i64> {
    let fits = float.trunc() == float && (-INT_END..INT_END).contains(&float);
    #[expect(clippy::cast_possible_truncation, reason = "whole and inside the range of an int")]
    fits.then_some(float as i64)
}

fn compare_int(int: i64, float: f64) -> Ordering {
    match whole(float.trunc()) {
        Some(whole) => {
            int.cmp(&whole).then_with(|| 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal))
        }
        None if float > 0.0 => Ordering::Less,
        None => Ordering::Greater,
    }
}

fn combine_ints(left: i64, operator: Arithmetic, right: i64) -> Result<Number, Problem> {
    let int = match operator {
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Subtract => left.checked_sub(right),
        Arithmetic::Multiply => left.checked_mul(right),
        // Wrapping matters for the lowest int by -1 only, where the remainder is 0.
        Arithmetic::Remainder => Some(left.wrapping_rem(right)),
        Arithmetic::Divide if left.wrapping_rem(right) == 0 => left.checked_div(right),
        Arithmetic::FloorDivide => {
            let below = left.wrapping_rem(right) != 0 && (left < 0) != (right < 0);
            left.checked_div(right).map(|quotient| quotient - i64::from(below))
        }
        Arithmetic::Power if right >= 0 => int_power(left, right),
        Arithmetic::Power if left == 0 => return Err(Problem::DivisionByZero),
        // Ints beyond 53 bits are no floats; their whole quotient nearly always is.
        Arithmetic::Divide if left.unsigned_abs().max(right.unsigned_abs()) > FLOAT_DIGITS => {
            let (quotient, rest) = (left.wrapping_div(right), left.wrapping_rem(right));
            return Ok(Number::Float(quotient as f64 + rest as f64 / right as f64));
        }
        Arithmetic::Divide | Arithmetic::Power => {
            return combine_floats(Number::Int(left), operator, Number::Int(right));
        }
    };
    int.map(Number::Int).ok_or(Problem::IntOverflow { operation: operator.symbol() })
}

fn int_power(base: i64, exponent: i64) -> Option<i64> {
    match (base, u32::try_from(exponent)) {
        (_, Ok(exponent)) => base.checked_pow(exponent),
        (0 | 1, Err(_)) => Some(base),
        (-1, Err(_)) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        (_, Err(_)) => None,
    }
}

fn combine_floats(left: Number, operator: Arithmetic, right: Number) -> Result<Number, Problem> {
    let (a, b) = (left.float(), right.float());
    let result = match operator {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::FloorDivide => (a / b).floor(),
        Arithmetic::Remainder => a % b,
        Arithmetic::Power if a == 0.0 && b < 0.0 => return Err(Problem::DivisionByZero),
        Arithmetic::Power => a.powf(b),
    };
    if result.is_finite() {
        Ok(Number::Float(result))
    } else {
        let operands = format!("{left} and {right}");
        Err(Problem::NotFinite { operation: operator.symbol(), operands })
    }
}
