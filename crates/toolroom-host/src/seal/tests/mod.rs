//! Keys, sealed texts and the change of a key.

mod envelopes;
mod keys;
mod rotation;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{KeyRing, SealError};

fn load(folder: &Path) -> Result<Option<KeyRing>, SealError> {
    KeyRing::find(folder, |_| None)
}

fn loaded(folder: &Path) -> KeyRing {
    load(folder).unwrap().unwrap()
}

/// An error with everything behind it, as a person reads it.
fn whole_text(error: &SealError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}

#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
fn write(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
