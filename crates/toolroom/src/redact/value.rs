//! Hides secrets in JSON.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::pattern::{Patterns, named_value};
use super::redactor::{MIN_TEXT, Redactor};

/// The smallest number with eight characters, of which one may be a sign.
const SMALLEST_NUMBER: u64 = 1_000_000;
const _: () = assert!(MIN_TEXT == 8);

/// Initial capacity, enough for most objects.
const OPEN: usize = 32;

impl Redactor {
    /// Hides secrets in every string, in the names of objects and in numbers. A number that has to be hidden becomes
    /// a string; names stay different from each other. A string under a name like `password` is judged
    /// as in the JSON text.
    pub fn redact_value(&self, value: &mut Value) {
        // Values may be nested deeper than the stack.
        let mut open = Vec::with_capacity(OPEN);
        open.push(value);
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => self.redact_string(text),
                Value::Number(number) => {
                    if let Some(text) = self.redact_number(number) {
                        *value = Value::String(text);
                    }
                }
                Value::Array(items) => open.extend(items),
                Value::Object(map) => {
                    self.redact_named_values(map);
                    self.redact_names(map);
                    open.extend(map.values_mut());
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    fn redact_string(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact_text(text) {
            *text = redacted;
        }
    }

    fn redact_number(&self, number: &Number) -> Option<String> {
        // Most numbers are too small to hold a secret.
        if number.as_i64().is_some_and(|number| number.unsigned_abs() < SMALLEST_NUMBER) {
            return None;
        }
        match self.redact_text(&number.to_string()) {
            Cow::Owned(redacted) => Some(redacted),
            Cow::Borrowed(_) => None,
        }
    }

    /// Hides strings whose name marks them as secrets.
    fn redact_named_values(&self, map: &mut Map<String, Value>) {
        if self.patterns() == Patterns::None {
            return;
        }
        for (name, value) in map.iter_mut() {
            if let Value::String(text) = value
                && let Some(format) = named_value(name, text)
            {
                *text = self.marker(self.kind_of(text, format)).to_owned();
            }
        }
    }

    fn redact_names(&self, map: &mut Map<String, Value>) {
        if map.keys().all(|name| matches!(self.redact_text(name), Cow::Borrowed(_))) {
            return;
        }
        let mut renamed = Map::with_capacity(map.len());
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (name, value) in std::mem::take(map) {
            let name = self.redact_text(&name).into_owned();
            let mut unique = name.clone();
            while renamed.contains_key(&unique) {
                let count = counts.entry(name.clone()).or_insert(1);
                *count += 1;
                unique = format!("{name} {count}");
            }
            renamed.insert(unique, value);
        }
        *map = renamed;
    }
}
