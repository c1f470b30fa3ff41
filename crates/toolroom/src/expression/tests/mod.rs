//! The language as its users meet it: text in, value or message out.

mod bounds;
mod functions;
mod messages;
mod operators;
mod reference;
mod variables;

use super::{Variables, evaluate};
use crate::scale::cases;

/// Each expression and the text of its value or error; the debug form of the value tells `1`, `1.0` and `'1'` apart.
fn check_all(table: &[(&str, &str)], variables: &dyn Variables) {
    for (text, expected) in table {
        let found = match evaluate(text, variables) {
            Ok(value) => written(&value),
            Err(error) => error.to_string(),
        };
        assert_eq!(&found, expected, "of `{text}`");
    }
}

fn written(value: &super::Value) -> String {
    match value {
        super::Value::Text(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}
