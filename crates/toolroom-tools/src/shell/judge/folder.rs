//! Where a line has gone with `cd`, as far as its words say so.

use std::rc::Rc;

use super::call::Call;
use super::paths::{is_system, normal};
use super::value::{UNKNOWN, Value};

/// A folder with a longer name is not followed: no folder that matters here has one.
const MAX_BYTES: usize = 256;

/// The folder that a command runs in: an absolute path, or one that begins with `~`. `None` is one that is not known.
#[derive(Debug, Clone, Default)]
pub(super) struct Folder(Option<Rc<str>>);

impl Folder {
    /// Where this call leads, if it is one that leads elsewhere.
    pub(super) fn after(&self, call: &Call) -> Option<Self> {
        let mut operands = call.operands();
        match (call.name(), operands.next()) {
            ("cd", None) => Some(Self(Some("~".into()))),
            ("cd" | "pushd", Some(to)) if operands.next().is_none() && !call.has_more => Some(self.at(to)),
            ("cd" | "pushd" | "popd", _) => Some(Self::default()),
            _ => None,
        }
    }

    /// The folder that a word names from here.
    fn at(&self, to: &Value) -> Self {
        let is_whole = |path: &str| path.starts_with(['/', '~']);
        let path = match to.known().filter(|_| !to.is_glob) {
            Some(text) if is_whole(text) => Some(normal(text).into_owned()),
            Some(text) => self.path(text),
            None => None,
        };
        // What lies above a home has no name here.
        Self(path.filter(|path| is_whole(path) && path.len() <= MAX_BYTES).map(Into::into))
    }

    /// Whether it is a folder of the system, or the home itself.
    pub(super) fn is_of_the_system(&self) -> bool {
        self.0.as_ref().is_some_and(|path| is_system(&Value::plain(path)) || path.as_ref() == "~")
    }

    /// A relative path as one that does not depend on the folder.
    pub(super) fn path(&self, relative: &str) -> Option<String> {
        let is_relative = !relative.is_empty() && !relative.starts_with(['/', '~', '-', UNKNOWN]);
        let folder = self.0.as_ref().filter(|_| is_relative)?;
        Some(normal(&format!("{folder}/{relative}")).into_owned())
    }

    /// The call with paths that do not depend on the folder, if that is known.
    pub(super) fn seen_from_outside(&self, call: &Call) -> Option<Call> {
        self.0.as_ref()?;
        Some(call.with_arguments(|value| {
            let text = self.path(&value.text).unwrap_or_else(|| value.text.clone());
            Value { text, ..value.clone() }
        }))
    }
}
