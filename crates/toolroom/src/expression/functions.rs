//! The functions of the language by name.

use std::fmt;

use super::error::ExpressionProblem as Problem;
use super::function_arguments::{Answer, Arguments};
use super::limits::{Budget, MAX_LIST_ITEMS};
use super::operand::Operand;
use super::{number_functions as number, text_functions as text};

pub(super) struct Function {
    pub(super) name: &'static str,
    least: usize,
    most: usize,
    body: FunctionBody,
}

enum FunctionBody {
    /// From one float to one float, such as `sin`.
    Real(fn(f64) -> f64),
    /// From two floats to one float, such as `hypot`.
    RealPair(fn(f64, f64) -> f64),
    General(for<'a, 'b> fn(&mut Arguments<'a, 'b>) -> Answer<'a>),
}

const fn real(name: &'static str, body: fn(f64) -> f64) -> Function {
    Function { name, least: 1, most: 1, body: FunctionBody::Real(body) }
}

const fn real_pair(name: &'static str, body: fn(f64, f64) -> f64) -> Function {
    Function { name, least: 2, most: 2, body: FunctionBody::RealPair(body) }
}

const fn general(
    name: &'static str,
    least: usize,
    most: usize,
    body: for<'a, 'b> fn(&mut Arguments<'a, 'b>) -> Answer<'a>,
) -> Function {
    Function { name, least, most, body: FunctionBody::General(body) }
}

/// Chooses between two values. Not in the table, because it evaluates only the chosen branch.
pub(super) const IF: &str = "if";

static FUNCTIONS: &[Function] = &[
    real("sqrt", f64::sqrt),
    real("cbrt", f64::cbrt),
    general("min", 1, MAX_LIST_ITEMS, number::min),
    general("max", 1, MAX_LIST_ITEMS, number::max),
    general("sum", 1, MAX_LIST_ITEMS, number::sum),
    general("avg", 1, MAX_LIST_ITEMS, number::avg),
    general("round", 1, 2, number::round),
    general("abs", 1, 1, number::abs),
    general("floor", 1, 1, number::floor),
    general("ceil", 1, 1, number::ceil),
    general("trunc", 1, 1, number::trunc),
    general("sign", 1, 1, number::sign),
    general("pow", 2, 2, number::pow),
    general("log", 1, 2, number::log),
    real("log2", f64::log2),
    real("ln", f64::ln),
    real("exp", f64::exp),
    real("sin", f64::sin),
    real("cos", f64::cos),
    real("tan", f64::tan),
    real("asin", f64::asin),
    real("acos", f64::acos),
    real("atan", f64::atan),
    real_pair("atan2", f64::atan2),
    real_pair("hypot", f64::hypot),
    general("gcd", 2, 2, number::gcd),
    general("lcm", 2, 2, number::lcm),
    general("factorial", 1, 1, number::factorial),
    real("deg", f64::to_degrees),
    real("rad", f64::to_radians),
    general("int", 1, 1, number::int),
    general("float", 1, 1, number::float),
    general("len", 1, 1, text::len),
    general("upper", 1, 1, text::upper),
    general("lower", 1, 1, text::lower),
    general("trim", 1, 1, text::trim),
    general("starts_with", 2, 2, text::starts_with),
    general("ends_with", 2, 2, text::ends_with),
    general("contains", 2, 2, text::contains),
    general("replace", 3, 3, text::replace),
    general("substring", 2, 3, text::substring),
    general("concat", 1, MAX_LIST_ITEMS, text::concat),
    general("text", 1, 1, text::text),
    general("type", 1, 1, text::kind),
];

pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

impl Function {
    /// Fails if the function does not take this many arguments.
    pub(super) fn accept(&self, found: usize) -> Result<(), Problem> {
        if (self.least..=self.most).contains(&found) {
            return Ok(());
        }
        Err(wrong_count(self.name, self.least, self.most, found))
    }

    pub(super) fn call<'a>(&self, values: Vec<Operand<'a>>, budget: &mut Budget) -> Answer<'a> {
        let mut arguments = Arguments::new(self.name, values, budget);
        match self.body {
            FunctionBody::General(body) => body(&mut arguments),
            FunctionBody::Real(body) => {
                let x = arguments.number()?;
                arguments.finite(body(x.float()), &[x])
            }
            FunctionBody::RealPair(body) => {
                let (x, y) = (arguments.number()?, arguments.number()?);
                arguments.finite(body(x.float(), y.float()), &[x, y])
            }
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether something of this name can be called.
pub(super) fn is_name(name: &str) -> bool {
    name == IF || find(name).is_some()
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name).chain([IF])
}

pub(super) fn wrong_count(function: &'static str, least: usize, most: usize, found: usize) -> Problem {
    let takes = match (least, most) {
        (1, 1) => "1 argument".to_owned(),
        (least, MAX_LIST_ITEMS) => format!("{least} or more arguments"),
        (least, most) if least == most => format!("{least} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    };
    Problem::ArgumentCount { function, takes, found }
}
