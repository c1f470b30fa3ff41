//! The expression language of calculations, policy rules, conditions and `showIf`: text in, one value out.
//!
//! An expression sees its [`Variables`] and nothing else. The bounds are [`MAX_EXPRESSION_CHARACTERS`],
//! [`MAX_DEPTH`], [`MAX_LIST_ITEMS`], [`MAX_STEPS`] and [`MAX_PRODUCED_CHARACTERS`].
#![doc = include_str!("language.md")]

mod binding;
mod error;
mod evaluate;
mod function_arguments;
mod functions;
mod lexer;
mod limits;
mod number;
mod number_functions;
mod operand;
mod operation;
mod parser;
#[cfg(test)]
mod tests;
mod text_functions;
mod tree;
mod value;

pub use error::{ExpressionError, ExpressionProblem};
pub use evaluate::{Expression, evaluate};
pub use limits::{MAX_DEPTH, MAX_EXPRESSION_CHARACTERS, MAX_LIST_ITEMS, MAX_PRODUCED_CHARACTERS, MAX_STEPS};
pub use value::{Kind, Scalar, Value, Variables};
