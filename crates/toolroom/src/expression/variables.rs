//! Where the names of an expression get their values.

use serde_json::{Map, Value as Json};

/// The root names an expression may use; the evaluator walks the rest of a path such as `args.user.name`.
pub trait Variables {
    /// The value of a root name; `None` when there is no such name.
    fn get(&self, name: &str) -> Option<&Json>;

    /// All root names, for the suggestion in the message about an unknown one.
    fn names(&self) -> Vec<&str>;
}

/// No names at all, as for a plain calculation.
impl Variables for () {
    fn get(&self, _name: &str) -> Option<&Json> {
        None
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }
}

impl Variables for Map<String, Json> {
    fn get(&self, name: &str) -> Option<&Json> {
        self.get(name)
    }

    fn names(&self) -> Vec<&str> {
        self.keys().map(String::as_str).collect()
    }
}

/// The keys of an object; any other JSON has no names.
impl Variables for Json {
    fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    fn names(&self) -> Vec<&str> {
        self.as_object().map(Variables::names).unwrap_or_default()
    }
}
