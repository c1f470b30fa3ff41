//! The expression language of calculations, policy rules, conditions and `showIf`: text in, one value out.
//!
//! It has no loops, assignments, regular expressions, clock or any access to the outside; an expression sees its
//! [`Variables`] and nothing else, and every bound of the last table is an error, never a crash.
//!
//! # Values
//!
//! | kind | written | notes |
//! |---|---|---|
//! | null | `null` | also a missing key, an item past the end, and any step into something that has no keys |
//! | bool | `true` `false` | nothing else counts as true or false |
//! | int | `42` `1_000` `0xff` `0o17` `0b11` | 64 bits with sign; a result that does not fit is an error |
//! | float | `1.5` `.5` `1e3` | always finite; a result that is infinite or not a number is an error |
//! | text | `'it'` `"it"` | escapes `\n` `\r` `\t` `\\` `\'` `\"` `\u{1f600}` |
//! | list | `[1, 'a', x]` | |
//! | map | from variables only | JSON integers beyond 64 bits become the nearest float |
//!
//! # Names
//!
//! `args`, `args.user.name`, `args.items[0]`, `args['odd key']`: the first name must exist, every later step may be
//! missing and then is null. An index below 0 is an error. After a dot any word is a key, also `args.in`. `pi`, `e`,
//! `tau`, `true`, `false` and `null` are fixed and cannot be variables. Names are case-sensitive.
//!
//! # Operators, loosest first
//!
//! | operators | meaning |
//! |---|---|
//! | `or` `\|\|` | the right side is evaluated only if the left one is false |
//! | `and` `&&` | the right side is evaluated only if the left one is true |
//! | `not` `!` | `not a == b` is `not (a == b)` |
//! | `==` `=` `!=` `≠` | equality of any two values; different kinds are unequal, but `1 == 1.0` |
//! | `<` `<=` `≤` `>` `>=` `≥` | order of two numbers (exact) or two texts (by code point), of others an error |
//! | `in` `not in` `contains` | text in text, item in list, key in map; null contains nothing |
//! | `+` `-` `−` | `+` also joins two texts |
//! | `*` `×` `/` `÷` `//` `%` | see below |
//! | `-x` `+x` | `-2^2` is -4 |
//! | `^` `**` | power, groups to the right: `2^3^2` is `2^9`, `2^-1` is 0.5 |
//! | `.key` `[index]` `f(x)` | |
//!
//! Comparisons do not chain: write `1 < x and x < 5`. A choice is written `if(condition, a, b)`; only the branch
//! that is taken is evaluated.
//!
//! # Arithmetic
//!
//! Two ints give an int, an int and a float give a float. `/` of two ints is an int when it is exact and a float
//! otherwise (`6/2` is 3, `7/2` is 3.5). `//` rounds the quotient down (`-7 // 2` is -4). `%` has the sign of the
//! left side (`-7 % 3` is -1). `^` of two ints is an int when the exponent is 0 or more and a float otherwise.
//! Division by zero is an error for ints and floats.
//!
//! # Functions
//!
//! | function | result |
//! |---|---|
//! | `abs(x)` `sign(x)` | size without sign; -1, 0 or 1 |
//! | `floor(x)` `ceil(x)` `trunc(x)` `round(x)` | an int (a float too large for one stays a float); halves round away from 0 |
//! | `round(x, digits)` | same kind as `x`, rounded in decimal: `round(1.005, 2)` is 1.01, `round(1234, -2)` is 1200 |
//! | `min(..)` `max(..)` `sum(..)` `avg(..)` | of numbers or of one list of numbers; `sum([])` is 0 |
//! | `sqrt(x)` `cbrt(x)` `exp(x)` `ln(x)` `log2(x)` `log(x)` `log(x, base)` | a float; `log(x)` has base 10 |
//! | `pow(x, y)` `hypot(x, y)` | `x^y`; length of the diagonal |
//! | `sin(x)` `cos(x)` `tan(x)` `asin(x)` `acos(x)` `atan(x)` `atan2(y, x)` | angles in radians |
//! | `deg(x)` `rad(x)` | radians to degrees; degrees to radians |
//! | `gcd(a, b)` `lcm(a, b)` `factorial(n)` | of ints; `factorial(25.0)` gives an approximate float |
//! | `len(x)` | characters of a text, items of a list, keys of a map |
//! | `upper(t)` `lower(t)` `trim(t)` | |
//! | `starts_with(t, part)` `ends_with(t, part)` `contains(whole, part)` | false if the first is null |
//! | `replace(t, from, to)` | every occurrence |
//! | `substring(t, from)` `substring(t, from, to)` | characters counted from 0, without the one at `to` |
//! | `concat(..)` `text(x)` | texts, numbers, bools and null as one text |
//! | `int(x)` `float(x)` | from a number or the digits in a text; `int` drops the fraction |
//! | `type(x)` | `'null'`, `'bool'`, `'int'`, `'float'`, `'text'`, `'list'` or `'map'` |
//! | `if(condition, a, b)` | |
//!
//! # Bounds
//!
//! | what | most |
//! |---|---|
//! | expression text | [`MAX_EXPRESSION_CHARACTERS`] |
//! | brackets and pending operators around one value | [`MAX_DEPTH`] |
//! | items of a list or call | [`MAX_LIST_ITEMS`] |
//! | steps of an evaluation | [`MAX_STEPS`] |
//! | characters of a text that is built | [`MAX_PRODUCED_CHARACTERS`] |

mod advice;
mod arguments;
mod comparison;
mod error;
mod evaluate;
mod functions;
mod lexer;
mod limits;
mod number;
mod number_functions;
mod number_literal;
mod operand;
mod operation;
mod operators;
mod parser;
#[cfg(test)]
mod tests;
mod text_functions;
mod tree;
mod value;
mod variables;

pub use error::{ExpressionError, ExpressionProblem};
pub use evaluate::{Expression, evaluate};
pub use limits::{MAX_DEPTH, MAX_EXPRESSION_CHARACTERS, MAX_LIST_ITEMS, MAX_PRODUCED_CHARACTERS, MAX_STEPS};
pub use value::{Kind, Value};
pub use variables::Variables;
