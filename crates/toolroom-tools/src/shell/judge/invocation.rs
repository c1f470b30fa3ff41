//! A program with its arguments, as far as they are known.

use std::rc::Rc;

use super::stdin::StdinSource;
use super::value::{Origin, Value};
use crate::shell::grammar::Position;

/// A command that would run. The command behind a wrapper shares its words.
#[derive(Debug, Clone)]
pub(super) struct Invocation {
    words: Rc<[Value]>,
    from: usize,
    to: usize,
    /// Unknown arguments follow, as with `xargs` and `find`.
    pub(super) has_more: bool,
    /// Its standard input.
    pub(super) stdin: StdinSource,
    /// Its output is redirected to a file.
    pub(super) writes_file: bool,
    /// One of its redirections is a network connection.
    pub(super) is_connected: bool,
    pub(super) position: Position,
}

impl Invocation {
    pub(super) fn new(words: Vec<Value>, stdin: StdinSource, position: Position) -> Self {
        let to = words.len();
        Self {
            words: words.into(),
            from: 0,
            to,
            has_more: false,
            stdin,
            writes_file: false,
            is_connected: false,
            position,
        }
    }

    /// The command that begins at the argument with this index, if any.
    pub(super) fn behind(&self, argument: usize) -> Option<Self> {
        self.between(argument, self.arguments().len())
    }

    /// The command made of these arguments, if any.
    pub(super) fn between(&self, argument: usize, end: usize) -> Option<Self> {
        let (from, to) = (self.from + 1 + argument, (self.from + 1 + end).min(self.to));
        (from < to).then(|| Self { from, to, ..self.clone() })
    }

    /// The program with changed arguments.
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

    /// The file name of the program.
    pub(super) fn name(&self) -> &str {
        let text = self.program().text.as_str();
        text.rsplit('/').next().unwrap_or(text)
    }

    /// The argument with this index as text.
    pub(super) fn argument(&self, index: usize) -> Option<&str> {
        self.arguments().get(index).map(|value| value.text.as_str())
    }

    /// The first argument that is neither an option nor the name of a toolchain.
    pub(super) fn verb(&self) -> &str {
        self.verbs().next().map_or("", |value| value.text.as_str())
    }

    /// Candidates for the verb: the first argument that is not an option, and the next one if the first may be the value of
    /// an option.
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

    /// Whether a short option occurs, also in a cluster, or a long one, also with a value.
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

    /// The arguments that are not options.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Value> {
        let mut ended = false;
        self.arguments().iter().filter(move |value| {
            let is_option = !ended && value.text.starts_with('-') && value.text.len() > 1;
            ended |= value.text == "--";
            !is_option
        })
    }

    /// On one line, for display.
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
