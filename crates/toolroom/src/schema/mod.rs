//! JSON Schema validation of tool arguments.
//!
//! A [`Schema`] is validated when its tool is registered and compiled on first use; [`parse_object`] parses the argument
//! text of a model. Nothing here fetches a document, coerces a value, fills in a default or asserts `format`, which the
//! specification defines as an annotation.
//!
//! Edge cases of argument text:
//!
//! | text | outcome |
//! |---|---|
//! | empty, blank or `null` | the empty object |
//! | any other value that is not an object | rejected |
//! | a key twice in one object, at any depth | rejected, naming the key |
//! | whole numbers up to 64 bits, also beyond 2^53 | kept digit for digit |
//! | whole numbers beyond 64 bits | rejected: they would lose digits |
//! | `null` for a property that does not allow it | rejected, never treated as absent |
//! | nesting beyond 64 levels, more than 4 MiB | rejected |

mod argument_text;
mod argument_words;
mod check;
mod cost;
mod error;
mod keyword;
mod message;
mod pattern;
mod plain_pattern;
mod pointer;
mod reference;
mod text;
mod wellformed;

#[cfg(test)]
mod tests;

pub use argument_text::{ArgumentTextError, MAX_DEPTH, MAX_TEXT_BYTES, bounds, parse_object, parse_value};
pub use argument_words::{ArgumentWordError, ArgumentWords, argument_pair, choices, parameter_allows, plain};
pub use check::{PatternRule, Schema};
pub use error::SchemaError;
pub use message::{MAX_PROBLEMS, Problem};
