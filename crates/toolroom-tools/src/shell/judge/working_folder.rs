//! Tracks `cd` through a line, as far as its arguments are known.

use std::rc::Rc;

use super::invocation::Invocation;
use super::paths::{is_system, normal};
use super::value::{UNKNOWN, Value};

/// Longer paths are not tracked: no folder that matters here is that long.
const MAX_BYTES: usize = 256;

/// The working folder of a command: an absolute path, or one that begins with `~`. `None` if unknown.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkingFolder(Option<Rc<str>>);

impl WorkingFolder {
    /// The folder after this invocation, if it changes the folder.
    pub(super) fn after(&self, invocation: &Invocation) -> Option<Self> {
        let mut operands = invocation.operands();
        match (invocation.name(), operands.next()) {
            ("cd", None) => Some(Self(Some("~".into()))),
            ("cd" | "pushd", Some(to)) if operands.next().is_none() && !invocation.has_more => {
                Some(self.at(to))
            }
            ("cd" | "pushd" | "popd", _) => Some(Self::default()),
            _ => None,
        }
    }

    /// The folder that a word names, relative to this one.
    fn at(&self, to: &Value) -> Self {
        let is_whole = |path: &str| path.starts_with(['/', '~']);
        let path = match to.known().filter(|_| !to.is_glob) {
            Some(text) if is_whole(text) => Some(normal(text).into_owned()),
            Some(text) => self.path(text),
            None => None,
        };
        // Paths above a home folder are unknown.
        Self(path.filter(|path| is_whole(path) && path.len() <= MAX_BYTES).map(Into::into))
    }

    /// Whether it is a system folder, or the home folder itself.
    pub(super) fn is_of_the_system(&self) -> bool {
        self.0.as_ref().is_some_and(|path| is_system(&Value::plain(path)) || path.as_ref() == "~")
    }

    /// Resolves a relative path.
    pub(super) fn path(&self, relative: &str) -> Option<String> {
        let is_relative = !relative.is_empty() && !relative.starts_with(['/', '~', '-', UNKNOWN]);
        let folder = self.0.as_ref().filter(|_| is_relative)?;
        Some(normal(&format!("{folder}/{relative}")).into_owned())
    }

    /// The invocation with resolved paths, if the folder is known.
    pub(super) fn seen_from_outside(&self, invocation: &Invocation) -> Option<Invocation> {
        self.0.as_ref()?;
        Some(invocation.with_arguments(|value| {
            let text = self.path(&value.text).unwrap_or_else(|| value.text.clone());
            Value { text, ..value.clone() }
        }))
    }
}
