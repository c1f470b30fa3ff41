//! One program with its arguments, as far as they are known.

use std::rc::Rc;

use super::feed::Feed;
use super::value::{Origin, Value};
use crate::shell::grammar::Place;

/// A command that would run. Those behind a wrapper share its words.
#[derive(Debug, Clone)]
pub(super) struct Call {
    words: Rc<[Value]>,
    from: usize,
    to: usize,
    /// Further arguments follow that are not known: those of `xargs` and `find`.
    pub(super) has_more: bool,
    /// What it reads on standard input.
    pub(super) feed: Feed,
    /// Its output goes into a file.
    pub(super) writes_file: bool,
    /// One of its redirections leads to a network address.
    pub(super) is_connected: bool,
    pub(super) place: Place,
}

impl Call {
    pub(super) fn new(words: Vec<Value>, feed: Feed, place: Place) -> Self {
        let to = words.len();
        Self {
            words: words.into(),
            from: 0,
            to,
            has_more: false,
            feed,
            writes_file: false,
            is_connected: false,
            place,
        }
    }

    /// The command that begins at the argument of that index, if there is one.
    pub(super) fn behind(&self, argument: usize) -> Option<Self> {
        self.between(argument, self.arguments().len())
    }

    /// The command made of these arguments, if there are any.
    pub(super) fn between(&self, argument: usize, end: usize) -> Option<Self> {
        let (from, to) = (self.from + 1 + argument, (self.from + 1 + end).min(self.to));
        (from < to).then(|| Self { from, to, ..self.clone() })
    }

    /// The same program with other arguments.
    pub(super) fn with_arguments(&self, change: impl Fn(&Value) -> Value) -> Self {
        let words: Vec<Value> =
            self.all().iter().take(1).cloned().chain(self.arguments().iter().map(change)).collect();
        let to = words.len();
        Self { words: words.into(), from: 0, to, ..self.clone() }
    }

    fn all(&self) -> &[Value] {
        self.words.get(self.from..self.to).unwrap_or_default()
    }

    pub(super) fn program(&self) -> &Value {
        static NOTHING: Value = Value {
            text: String::new(),
            splits: false,
            is_glob: false,
            is_fetched: false,
            origin: Origin::Listed,
            alternatives: Vec::new(),
        };
        self.all().first().unwrap_or(&NOTHING)
    }

    pub(super) fn arguments(&self) -> &[Value] {
        self.all().get(1..).unwrap_or_default()
    }

    /// The last part of the program's path.
    pub(super) fn name(&self) -> &str {
        let text = self.program().text.as_str();
        text.rsplit('/').next().unwrap_or(text)
    }

    /// The argument of that index as text.
    pub(super) fn argument(&self, index: usize) -> Option<&str> {
        self.arguments().get(index).map(|value| value.text.as_str())
    }

    /// The first argument that is no option, nor the name of a toolchain.
    pub(super) fn verb(&self) -> &str {
        self.verbs().next().map_or("", |value| value.text.as_str())
    }

    /// What may be the verb: the first argument that is no option, and the next one where that may be the value of an
    /// option.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &Value> {
        let mut is_behind_option = false;
        let mut is_found = false;
        self.arguments().iter().filter(move |value| {
            let text = value.text.as_str();
            let is_verb = !is_found && !text.starts_with(['-', '+']);
            is_found |= is_verb && !is_behind_option;
            is_behind_option = text.starts_with('-') && !text.contains('=');
            is_verb
        })
    }

    /// Whether a short option stands in a cluster, or a long one by itself or with a value.
    pub(super) fn has_option(&self, short: &str, long: &[&str]) -> bool {
        for value in self.arguments() {
            let text = value.text.as_str();
            if text == "--" {
                return false;
            }
            if let Some(name) = text.strip_prefix("--") {
                let name = name.split('=').next().unwrap_or_default();
                // Long options may be abbreviated.
                if !name.is_empty() && long.iter().any(|long| long.starts_with(name)) {
                    return true;
                }
            } else if let Some(cluster) = text.strip_prefix('-')
                && cluster.contains(|letter: char| short.contains(letter))
            {
                return true;
            }
        }
        false
    }

    /// Whether one of these words is an argument.
    pub(super) fn has_argument(&self, words: &[&str]) -> bool {
        self.arguments().iter().any(|value| words.contains(&value.text.as_str()))
    }

    /// The arguments that are no options.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Value> {
        let mut ended = false;
        self.arguments().iter().filter(move |value| {
            let is_option = !ended && value.text.starts_with('-') && value.text.len() > 1;
            ended |= value.text == "--";
            !is_option
        })
    }

    /// As it is shown to people, in one line.
    pub(super) fn shown(&self) -> String {
        let mut shown = String::new();
        for value in self.all().iter().take(50) {
            if !shown.is_empty() {
                shown.push(' ');
            }
            shown.extend(value.shown().chars().take(200));
        }
        shown
    }
}
