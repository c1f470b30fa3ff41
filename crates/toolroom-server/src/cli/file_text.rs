//! Files that are named on the command line.

use std::path::Path;

use toolroom_host::text_file;

use super::call::read_stdin;
use super::exit::{Missing, Usage};
use crate::config::MAX_FILE_BYTES;

/// The text of a file; of standard input, if it is called `-`.
pub(super) fn text_of(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        return read_stdin().map_err(|error| Usage(format!("standard input cannot be read: {error}")).into());
    }
    file_text(path)
}

/// The text of a file that has to be there.
pub(super) fn file_text(path: &Path) -> anyhow::Result<String> {
    let read = text_file::read_bounded(path, MAX_FILE_BYTES).map_err(|error| {
        // What the system said belongs to it.
        Usage(format!("{:#}", anyhow::Error::from(error)))
    })?;
    Ok(read.ok_or_else(|| no_file(path))?)
}

/// A file was named that is not there.
pub(super) fn no_file(path: &Path) -> Missing {
    Missing(format!("there is no file `{}`; check its name, and the folder you are in", path.display()))
}
