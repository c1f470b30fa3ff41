//! The functions that give numbers.

use std::cmp::Ordering;

use super::error::ExpressionProblem as Problem;
use super::function_arguments::{Answer, Arguments};
use super::number::{Number, whole};
use super::operand::Operand;
use super::tree::Arithmetic;

/// Digits `round` may be asked for, on either side of the point: an int has at most 19.
const MAX_ROUND_DIGITS: i64 = 18;

/// The factorial of the next number is larger than any float.
const MAX_FLOAT_FACTORIAL: f64 = 170.0;

pub(super) fn min<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    extreme(arguments, Ordering::Less)
}

pub(super) fn max<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    extreme(arguments, Ordering::Greater)
}

/// The first of the numbers that stands to all others in the wanted order or is equal.
fn extreme<'a>(arguments: &mut Arguments<'a, '_>, wanted: Ordering) -> Answer<'a> {
    let numbers = arguments.numbers()?;
    let best =
        numbers.into_iter().reduce(|best, next| if next.compare(best) == wanted { next } else { best });
    best.map(Operand::Number).ok_or_else(|| nothing(arguments))
}

pub(super) fn sum<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let numbers = arguments.numbers()?;
    total(arguments, &numbers).map(Operand::Number)
}

pub(super) fn avg<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let numbers = arguments.numbers()?;
    if numbers.is_empty() {
        return Err(nothing(arguments));
    }
    let count = i64::try_from(numbers.len()).map_err(|_| arguments.overflow())?;
    let total = total(arguments, &numbers)?;
    total.combine(Arithmetic::Divide, Number::Int(count)).map(Operand::Number)
}

fn total(arguments: &Arguments<'_, '_>, numbers: &[Number]) -> Result<Number, Problem> {
    numbers.iter().try_fold(Number::Int(0), |total, next| {
        total.combine(Arithmetic::Add, *next).map_err(|problem| match problem {
            Problem::IntOverflow { .. } => arguments.overflow(),
            other => other,
        })
    })
}

fn nothing(arguments: &Arguments<'_, '_>) -> Problem {
    arguments.wrong_value("at least one number", "an empty list".to_owned())
}

pub(super) fn round<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let number = arguments.number()?;
    if arguments.is_finished() {
        return Ok(Operand::Number(to_whole(number, f64::round)));
    }
    let digits = arguments.int()?;
    if !(-MAX_ROUND_DIGITS..=MAX_ROUND_DIGITS).contains(&digits) {
        return Err(arguments.wrong_value("digits from -18 to 18", digits.to_string()));
    }
    match number {
        Number::Int(int) => round_int(int, digits).map(Operand::int).ok_or_else(|| arguments.overflow()),
        Number::Float(float) => {
            let rounded = round_float(float, digits).unwrap_or(float);
            arguments.finite(rounded, &[number, Number::Int(digits)])
        }
    }
}

fn round_int(int: i64, digits: i64) -> Option<i64> {
    let Ok(dropped) = u32::try_from(-digits) else {
        return Some(int);
    };
    let unit = 10_i128.pow(dropped);
    let half = if int < 0 { -unit / 2 } else { unit / 2 };
    i64::try_from((i128::from(int) + half) / unit * unit).ok()
}

/// Rounds the shortest decimal form of a float, so that 1.005 to two digits is 1.01 as on paper.
fn round_float(float: f64, digits: i64) -> Option<f64> {
    let scientific = format!("{:e}", float.abs());
    let (mantissa, exponent) = scientific.split_once('e')?;
    let (ones, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let significant: u64 = format!("{ones}{fraction}").parse().ok()?;
    let last_place = exponent.parse::<i64>().ok()? - i64::try_from(fraction.len()).ok()?;
    let dropped = -last_place - digits;
    if dropped <= 0 {
        return Some(float);
    }
    // Beyond the 17 digits a float can have there is nothing left to round up.
    let unit = u32::try_from(dropped).ok().and_then(|dropped| 10_u64.checked_pow(dropped));
    let kept = unit.map_or(0, |unit| (significant + unit / 2) / unit);
    let rounded: f64 = format!("{kept}e{}", -digits).parse().ok()?;
    Some(rounded.copysign(float))
}

pub(super) fn floor<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    Ok(Operand::Number(to_whole(arguments.number()?, f64::floor)))
}

pub(super) fn ceil<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    Ok(Operand::Number(to_whole(arguments.number()?, f64::ceil)))
}

pub(super) fn trunc<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    Ok(Operand::Number(to_whole(arguments.number()?, f64::trunc)))
}

/// An int; a float that is too large for one has no fraction and stays as it is.
fn to_whole(number: Number, rounding: fn(f64) -> f64) -> Number {
    match number {
        Number::Int(_) => number,
        Number::Float(float) => whole(rounding(float)).map_or(number, Number::Int),
    }
}

pub(super) fn abs<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let absolute = match arguments.number()? {
        Number::Int(int) => Number::Int(int.checked_abs().ok_or_else(|| arguments.overflow())?),
        Number::Float(float) => Number::Float(float.abs()),
    };
    Ok(Operand::Number(absolute))
}

pub(super) fn sign<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    Ok(Operand::int(match arguments.number()?.compare(Number::Int(0)) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}

pub(super) fn pow<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let (base, exponent) = (arguments.number()?, arguments.number()?);
    base.combine(Arithmetic::Power, exponent).map(Operand::Number)
}

pub(super) fn log<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let x = arguments.number()?;
    if arguments.is_finished() {
        return arguments.finite(x.float().log10(), &[x]);
    }
    let base = arguments.number()?;
    if base.compare(Number::Int(0)).is_le() {
        return Err(arguments.wrong_value("a base above 0", base.to_string()));
    }
    // The special forms are exact for powers of their base, the quotient of logarithms is not.
    let result = match base.float() {
        10.0 => x.float().log10(),
        2.0 => x.float().log2(),
        other => x.float().log(other),
    };
    arguments.finite(result, &[x, base])
}

pub(super) fn gcd<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let (a, b) = (arguments.int()?.unsigned_abs(), arguments.int()?.unsigned_abs());
    i64::try_from(common_divisor(a, b)).map(Operand::int).map_err(|_| arguments.overflow())
}

pub(super) fn lcm<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let (a, b) = (arguments.int()?.unsigned_abs(), arguments.int()?.unsigned_abs());
    let multiple = match common_divisor(a, b) {
        0 => Some(0),
        divisor => (a / divisor).checked_mul(b),
    };
    let int = multiple.and_then(|multiple| i64::try_from(multiple).ok());
    int.map(Operand::int).ok_or_else(|| arguments.overflow())
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Of an int exact, of a whole float approximate.
pub(super) fn factorial<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let number = arguments.number()?;
    let needs = "a whole number of 0 or more";
    match number {
        Number::Int(int) if int >= 0 => {
            let product = (1..=int).try_fold(1_i64, i64::checked_mul);
            product.map(Operand::int).ok_or_else(|| arguments.overflow())
        }
        Number::Float(float) if float >= 0.0 && float.fract() == 0.0 => {
            if float > MAX_FLOAT_FACTORIAL {
                return arguments.finite(f64::INFINITY, &[number]);
            }
            let factors = std::iter::successors(Some(1.0), |factor| Some(factor + 1.0));
            let product = factors.take_while(|factor| *factor <= float).product();
            arguments.finite(product, &[number])
        }
        Number::Int(_) | Number::Float(_) => Err(arguments.wrong_value(needs, number.to_string())),
    }
}

/// A float loses its fraction, a text is read as decimal digits.
pub(super) fn int<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let int = match arguments.any() {
        Operand::Number(Number::Int(int)) => int,
        Operand::Number(Number::Float(float)) => whole(float.trunc()).ok_or_else(|| arguments.overflow())?,
        Operand::Text(text) => {
            let trimmed = text.trim();
            trimmed.parse().map_err(|_| not_written(arguments, "the digits of an int", trimmed))?
        }
        other => return Err(arguments.wrong("a number or text", &other)),
    };
    Ok(Operand::int(int))
}

pub(super) fn float<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let float = match arguments.any() {
        Operand::Number(number) => number.float(),
        Operand::Text(text) => {
            let trimmed = text.trim();
            // The standard reading also knows `inf` and `nan`, which are no values here.
            let read = trimmed.parse::<f64>().ok().filter(|float| float.is_finite());
            read.ok_or_else(|| not_written(arguments, "the digits of a number", trimmed))?
        }
        other => return Err(arguments.wrong("a number or text", &other)),
    };
    Ok(Operand::Number(Number::Float(float)))
}

fn not_written(arguments: &Arguments<'_, '_>, needs: &'static str, text: &str) -> Problem {
    arguments.wrong_value(needs, format!("`{}`", super::lexer::quoted(text)))
}
